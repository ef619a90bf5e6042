import { describe, expect, test } from 'vitest';
import { chat } from '../../src/dialects/chat/chat.ts';
import { dialects } from '../../src/dialects/registry.ts';
import { GatewayError } from '../../src/errors.ts';
import { endpoints, type ModelEndpoint } from '../../src/gateway/endpoints.ts';
import { parseRequest, type RequestFields, readFields } from '../../src/gateway/request.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';

function endpoint(path: string): ModelEndpoint {
  return endpoints.get(path) as ModelEndpoint; // those asked for here are all of models
}

test.each(['/v1/embeddings', '/v1/messages/count_tokens'])('there is nothing to stream at %s', (path) => {
  const parse = (stream: boolean) =>
    parseRequest(Buffer.from(`{"model":"m","messages":[],"input":"x","stream":${stream}}`), endpoint(path));

  expect(() => parse(true)).toThrow(expect.objectContaining({ code: 'request.field', param: '/stream' }));
  expect(parse(false).stream).toBe(false);
});

type Name = keyof typeof dialects;

function read(body: string, dialect: Name = 'chat'): RequestFields {
  return readFields(parseStrictJson(Buffer.from(body)), dialects[dialect]);
}

/** The pointer of a refused body. */
function refused(body: string, dialect: Name = 'chat'): string | undefined {
  try {
    read(body, dialect);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.code).toBe('request.field');
    return error.param;
  }
  throw new Error('it was accepted');
}

const withFields = (fields: string) => `{"model":"m","messages":[]${fields}}`;

describe('model', () => {
  test.each([
    'm',
    'gpt-4o',
    'claude-3.5_sonnet',
    'org/model:free',
    'a@b+c',
    'Qwen 3 (high)',
    'opus[1m]',
    'a#2',
    `${'x'.repeat(200)}`,
  ])('%s', (model) => {
    expect(read(`{"model":"${model}","messages":[]}`).model).toBe(model);
  });

  test('is read by its decoded text, and its entry leads to its bytes', () => {
    const body = Buffer.from('{"messages":[],"mode\\u006c":"gp\\u0074-4"}');
    const document = parseStrictJson(body);

    const {
      model,
      modelEntries: [modelEntry = 0],
    } = readFields(document, chat);

    expect(model).toBe('gpt-4');
    expect(body.subarray(document.start(modelEntry), document.end(modelEntry)).toString()).toBe(
      'gp\\u0074-4',
    );
  });

  test.each([
    ['empty', '""'],
    ['too long', `"${'x'.repeat(201)}"`],
    ['with a blank at its end', '"gpt-4 "'],
    ['with a line end', '"gpt\\n4"'],
    ['with a NUL', '"gpt-4\\u0000"'],
    ['with a letter that looks the same', '"gрt-4"'],
    ['with a full-width letter', '"ｇpt"'],
    ['a number', '4'],
    ['a list', '["gpt-4"]'],
  ])('%s is refused', (_name, model) => {
    expect(refused(`{"model":${model},"messages":[]}`)).toBe('/model');
  });

  test('must be there', () => {
    expect(refused('{"messages":[]}')).toBe('/model');
    expect(refused('{"messages":[{"model":"m"}]}')).toBe('/model');
  });
});

describe('required fields', () => {
  test.each([
    ['messages', '/messages'],
    ['chat', '/messages'],
    ['embeddings', '/input'],
  ] as const)('%s wants %s', (dialect, param) => {
    expect(refused('{"model":"m"}', dialect)).toBe(param);
  });

  test('responses requires none, because a stored prompt may replace the input', () => {
    expect(read('{"model":"m","prompt":{"id":"p"}}', 'responses').model).toBe('m');
  });
});

describe('stream', () => {
  test.each([
    ['', false],
    [',"stream":true', true],
    [',"stream":false', false],
    [',"stream":null', false],
    [',"str\\u0065am":true', true],
  ])('%s', (field, isStream) => {
    expect(read(withFields(field)).stream).toBe(isStream);
  });

  test.each(['"true"', '"false"', '1', '0', '[]', '{}', '""'])('%s is refused', (value) => {
    expect(refused(withFields(`,"stream":${value}`))).toBe('/stream');
  });
});

describe('caps', () => {
  // Which numbers are integers, json/json-document knows.
  test.each(['0', '1e3', 'null', '-1'])('%s', (value) => {
    expect(read(withFields(`,"max_tokens":${value},"max_completion_tokens":${value}`)).model).toBe('m');
  });

  test.each(['-2', '1.5', '9007199254740993', '"1000"', 'true', '[1]', '{}', '""'])(
    '%s is refused',
    (value) => {
      expect(refused(withFields(`,"max_tokens":${value}`))).toBe('/max_tokens');
      expect(refused(withFields(`,"max_completion_tokens":${value}`))).toBe('/max_completion_tokens');
    },
  );

  test('each dialect checks its own', () => {
    expect(refused('{"model":"m","input":"x","max_output_tokens":-2}', 'responses')).toBe(
      '/max_output_tokens',
    );
    expect(refused('{"model":"m","messages":[],"max_tokens":-1}', 'messages')).toBe('/max_tokens');
  });
});

test('an answer in the background is refused, since nobody could fetch it', () => {
  expect(() => read('{"model":"m","input":"x","background":true}', 'responses')).toThrow(/fetched later/);
  expect(read('{"model":"m","input":"x","background":false}', 'responses').model).toBe('m');
});

describe('look-alikes of a field that is read', () => {
  // Some hosts (in Go, for one) read keys without regard to case: there a turn has another role or another text.
  // biome-ignore format: a case a line
  const cases: readonly (readonly [name: string, dialect: Name, body: string, param: string])[] = [
    ['in another case', 'chat', '{"model":"m","Model":"n","messages":[]}', '/Model'],
    ['in its place', 'chat', '{"MODEL":"m","messages":[]}', '/MODEL'],
    ['escaped', 'chat', '{"model":"m","\\u004dodel":"n","messages":[]}', '/Model'],
    ['stream with a long s', 'chat', '{"model":"m","messages":[],"ſtream":true}', '/ſtream'],
    ['a cap with a Kelvin sign', 'chat', '{"model":"m","messages":[],"max_to\u212aens":1}', '/max_to\u212aens'],
    ['a cap with a long s at its end', 'chat', '{"model":"m","messages":[],"max_tokenſ":1}', '/max_tokenſ'],
    ['the conversation', 'chat', '{"model":"m","messages":[],"Messages":[]}', '/Messages'],
    ['the tools', 'chat', '{"model":"m","messages":[],"tOols":[]}', '/tOols'],
    ['the input', 'responses', '{"model":"m","input":"x","Input":"y"}', '/Input'],
    ['the instructions', 'responses', '{"model":"m","input":"x","instruction\u017f":"y"}', '/instruction\u017f'],
    ['the system text', 'messages', '{"model":"m","messages":[],"System":"y"}', '/System'],
    ['what is embedded', 'embeddings', '{"model":"m","input":"x","INPUT":"y"}', '/INPUT'],
    ['a role beside its own', 'chat', '{"model":"m","messages":[{"role":"system","Role":"user","content":"x"}]}', '/messages/0/Role'],
    ['a role', 'messages', '{"model":"m","messages":[{"ROLE":"user","content":"x"}]}', '/messages/0/ROLE'],
    ['a content, escaped', 'chat', '{"model":"m","messages":[{},{"role":"user","\\u0043ontent":"x"}]}', '/messages/1/Content'],
    ['the type of a block', 'messages', '{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","Type":"text","text":"x"}]}]}', '/messages/0/content/0/Type'],
    ['the type of an item', 'responses', '{"model":"m","input":[{"type":"message","Type":"function_call_output"}]}', '/input/0/Type'],
  ];

  test.each(cases)('%s is refused', (_name, dialect, body, param) => {
    expect(refused(body, dialect)).toBe(param);
  });

  test('other fields may be called what they like', () => {
    const body = withFields(',"models":1,"Temperature":1,"mode":2,"messages_":3,"métadata":{"Model":"x"}');

    expect(read(body).model).toBe('m');
  });

  test('what a tool is called with may be called what it likes', () => {
    const body =
      '{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"Role":1,"Type":2,"Content":3}}]}],' +
      '"tools":[{"name":"n","input_schema":{"properties":{"Role":{},"Type":{}}}}]}';

    expect(read(body, 'messages').model).toBe('m');
  });
});
