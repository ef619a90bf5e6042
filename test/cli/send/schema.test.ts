import { describe, expect, test } from 'vitest';
import { chatAnswer, json, speakAll } from '../../kit/answers.ts';
import { command, failure } from '../../kit/command.ts';
import { twoHosts } from '../../kit/config.ts';
import { useGateway, useHosts } from '../../kit/lifecycle.ts';

const sandbox = useGateway();
const hosts = useHosts(speakAll, (urls) => twoHosts(urls));
const closed = {
  type: 'object',
  properties: { price: { type: 'number' } },
  required: ['price'],
  additionalProperties: false,
};

const schema = { 's.json': closed };

describe('an answer that follows a schema', () => {
  test.each(['chat', 'messages', 'responses'])(
    'is asked for in the %s dialect and printed',
    async (dialect) => {
      const line = `send x -m sandbox-mini --schema s.json --dialect ${dialect}`;

      const ended = await command(line, { gateway: sandbox(), files: schema });

      expect(ended).toMatchObject({ exit: 0, stderr: '' });
      expect(ended.json).toEqual({ price: expect.any(Number) });
    },
  );

  test.each(
    // biome-ignore format: a case a line
    [
      ['messages', { output_config: { format: { type: 'json_schema', schema: closed } } }],
      ['chat', { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: closed, strict: true } } }],
      ['responses', { text: { format: { type: 'json_schema', name: 'answer', schema: closed, strict: true } } }],
    ],
  )('is asked for as the %s dialect has it', async (dialect, expected) => {
    const line = `send x -m sandbox-mini --schema s.json --dialect ${dialect} --dry-run -o json`;

    expect((await command(line, { files: schema })).json.body).toMatchObject(expected);
  });

  test('an open schema is not said to be strict', async () => {
    const files = { 's.json': { type: 'object', properties: { a: { type: 'string' } } } };

    const { json } = await command('send x -m sandbox-mini --schema s.json --dry-run -o json', { files });

    expect(json.body.response_format.json_schema).not.toHaveProperty('strict');
  });
});

describe('an answer that does not', () => {
  test.each([
    ['has another type somewhere', '{"price":"ten"}', '  /price: must be number'],
    [
      'has a field too many',
      '{"price":1,"more":2}',
      '  (the whole): must NOT have additional properties ("more")',
    ],
    ['is no JSON', 'ten', 'the answer is not JSON'],
  ])('%s: exit 1 with the place, and the answer is printed', async (_name, answer, expected) => {
    const { openai, gateway } = hosts();
    openai.script(json(chatAnswer.replace('"Hello from chat"', JSON.stringify(answer))));

    const ended = await command('send x -m gpt-test --no-stream --schema s.json', { gateway, files: schema });

    openai.script(speakAll);
    expect(ended).toEqual({ exit: 1, stdout: `${answer}\n`, stderr: expect.stringContaining(expected) });
  });
});

describe('a schema with a mistake is refused with its place', () => {
  test.each(
    // biome-ignore format: a case a line
    [
      ['in its JSON', '{"type":\n "object"', /s\.json:2:\d+ /],
      ['in its words', '{"type":"object",\n "properties":{"a":{"type":"intger"}}}', /s\.json:2:28 {2}properties\.a\.type: expected/],
      ['in a reference', '{"$ref":"#/none"}', /s\.json:1:9 {2}\$ref: can't resolve reference/],
      ['as a whole', '[1]', /expected a JSON Schema: an object/],
    ],
  )('%s', async (_name, text, expected) => {
    expect(await command('send x --schema s.json --dry-run', { files: { 's.json': text } })).toEqual(
      failure(2, expected),
    );
  });
});
