import { describe, expect, test } from 'vitest';
import { command, type Environment, failure } from '../kit/command.ts';
import { type Script, startHost } from '../kit/host.ts';
import { useGateway } from '../kit/lifecycle.ts';

const gateway = useGateway();
const files = { 'notes.txt': 'one\n\ntwo\n', 'latin.txt': Buffer.from([0xe9, 0x0a]) };

function embed(argv: readonly string[], { env, ...environment }: Environment = {}) {
  return command(['embed', ...argv], {
    gateway: gateway(),
    files,
    env: { GATEWAY_MODEL: 'sandbox-embed', ...env },
    ...environment,
  });
}

/** A gateway that answers so. */
async function hostOf(script: Script) {
  const host = await startHost((response, request) =>
    script(response.setHeader('x-request-id', 'req_x'), request),
  );
  return { ...host, key: 'k' };
}

describe('inputs', () => {
  test.each([
    ['an argument', ['hello'], {}, ['argument 1']],
    ['a file', ['-f', 'notes.txt'], {}, ['notes.txt']],
    ['its lines, but for blank ones', ['--lines', '-f', 'notes.txt'], {}, ['notes.txt:1', 'notes.txt:3']],
    ['standard input first', ['b', '-', '-f', 'notes.txt'], { stdin: 'a' }, ['-', 'notes.txt', 'argument 1']],
    [
      'no standard input beside others',
      ['b', '-f', 'notes.txt'],
      { stdin: 'a' },
      ['notes.txt', 'argument 1'],
    ],
    ['its lines', ['--lines'], { stdin: 'a\nb\n' }, ['-:1', '-:2']],
    ['an empty pipe beside an argument', ['hello'], { stdin: '' }, ['argument 1']],
  ] as const)('%s', async (_name, argv, environment, sources) => {
    const ended = await embed([...argv, '-o', 'json'], environment);

    expect(ended).toMatchObject({ exit: 0, stderr: '' });
    const embeddings: { source: string; embedding: number[] }[] = ended.json.embeddings;
    expect(embeddings.map(({ source }) => source)).toEqual(sources);
    for (const { embedding } of embeddings) expect(embedding.length).toBeGreaterThan(2);
  });

  test('without a model: the only one for embeddings', async () => {
    const { json } = await embed(['hello', '-o', 'json'], { env: { GATEWAY_MODEL: '' } });

    expect(json.model).toBe('sandbox-embed');
  });

  test('more than fit into a request come back in their order', async () => {
    const host = await hostOf((response, { body }) => {
      const { input } = JSON.parse(body.toString()) as { input: string[] };
      const data = input.map((text, index) => ({ index, embedding: [Number(text), 0.5] })).reverse();
      response.end(JSON.stringify({ data, usage: { prompt_tokens: input.length } }));
    });
    const numbers = Array.from({ length: 300 }, (_, i) => String(i));

    const { json } = await embed(['--lines', '-o', 'json'], { stdin: numbers.join('\n'), gateway: host });

    const embeddings: { embedding: number[] }[] = json.embeddings;
    expect(embeddings.map(({ embedding }) => String(embedding[0]))).toEqual(numbers);
    expect(json.usage).toEqual({ input_tokens: 300 });
    expect(host.requests).toHaveLength(3);
  });
});

describe('output', () => {
  test.each<[string, string[], Environment, RegExp]>([
    ['in a pipe a line of numbers for each input', ['a', 'b'], {}, /^(?:-?[\d.e-]+(?: -?[\d.e-]+)+\n){2}$/],
    ['--csv begins each row with its input', ['a', '--csv'], {}, /^argument 1(?:,-?[\d.e-]+)+\r\n$/],
    [
      'on a terminal how long each is and how it begins',
      ['a'],
      { isTerminal: true },
      /^INPUT {7}DIMENSIONS {2}BEGINS\nargument 1 +\d+ .* …\n$/,
    ],
  ])('%s', async (_name, argv, environment, expected) => {
    expect((await embed(argv, environment)).stdout).toMatch(expected);
  });
});

describe('refuses', () => {
  test.each([
    ['nothing', [], {}, 'there is nothing to embed'],
    ['an empty input', ['a', ''], {}, 'argument 2 is empty'],
    ['- twice', ['-', '-f', '-'], { stdin: 'x' }, 'is given twice'],
    ['a terminal for -', ['-'], {}, 'is a terminal'],
    ['a file that is not there', ['-f', 'none.txt'], {}, 'none.txt: there is no such file'],
    ['what is not text', ['-f', 'latin.txt'], {}, 'is not text in UTF-8'],
    ['--csv with -o', ['x', '--csv', '-o', 'json'], {}, 'exclude each other'],
  ] as const)('%s: exit 2', async (_name, argv, environment, words) => {
    expect(await embed(argv, environment)).toEqual(failure(2, words));
  });

  test.each([
    ['without one for embeddings', [{ id: 'gpt-5' }], 'name an embedding model with -m or GATEWAY_MODEL\n'],
    ['with two', [{ id: 'embed-a' }, { id: 'embed-b' }], 'served are embed-a, embed-b'],
  ])('no model, at a gateway %s: exit 2', async (_name, data, words) => {
    const host = await hostOf((response) => response.end(JSON.stringify({ data })));

    expect(await embed(['x'], { gateway: host, env: { GATEWAY_MODEL: '' } })).toEqual(failure(2, words));
  });

  test.each([
    ['no JSON', 'rubbish', 'lacks a vector'],
    ['words', '{"data":[{"index":0,"embedding":["x"]}]}', 'has no numbers'],
  ])('an answer with %s: exit 7', async (_name, body, words) => {
    const host = await hostOf((response) => response.end(body));

    expect(await embed(['x'], { gateway: host })).toEqual(failure(7, words));
  });
});
