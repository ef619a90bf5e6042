import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, emptyDirectory, failure } from '../kit/command.ts';
import { startHost } from '../kit/host.ts';
import { useGateway } from '../kit/lifecycle.ts';

const gateway = useGateway();
const cwd = emptyDirectory();
writeFileSync(join(cwd, 'notes.txt'), 'one\n\ntwo\n');
writeFileSync(join(cwd, 'latin.txt'), Buffer.from([0xe9, 0x0a]));

type Environment = NonNullable<Parameters<typeof command>[1]>;

function embed(argv: readonly string[], environment: Environment = {}) {
  const { url, key } = gateway();
  const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'sandbox-embed', ...environment.env };
  return command(['embed', ...argv], { cwd, ...environment, env });
}

describe('inputs', () => {
  test.each([
    ['an argument', ['hello'], {}, ['argument 1']],
    ['several', ['hello', 'world'], {}, ['argument 1', 'argument 2']],
    ['a file', ['-f', 'notes.txt'], {}, ['notes.txt']],
    ['its lines, but for blank ones', ['--lines', '-f', 'notes.txt'], {}, ['notes.txt:1', 'notes.txt:3']],
    ['standard input first', ['b', '-f', 'notes.txt'], { stdin: 'a' }, ['-', 'notes.txt', 'argument 1']],
    ['its lines', ['--lines'], { stdin: 'a\nb\n' }, ['-:1', '-:2']],
    ['- for it', ['-'], { stdin: 'a' }, ['-']],
    ['an empty pipe beside an argument', ['hello'], { stdin: '' }, ['argument 1']],
  ] as const)('%s', async (_name, argv, environment, sources) => {
    const { exit, stdout, stderr } = await embed([...argv, '-o', 'json'], environment);

    expect([exit, stderr]).toEqual([0, '']);
    const { embeddings } = JSON.parse(stdout) as { embeddings: { source: string; embedding: number[] }[] };
    expect(embeddings.map(({ source }) => source)).toEqual(sources);
    for (const { embedding } of embeddings) expect(embedding.length).toBeGreaterThan(2);
  });

  test('without a model: the only one for embeddings', async () => {
    const { stdout } = await embed(['hello', '-o', 'json'], { env: { GATEWAY_MODEL: '' } });

    expect(JSON.parse(stdout)).toMatchObject({ model: 'sandbox-embed' });
  });

  test('more than fit into a request come back in their order', async () => {
    const host = await startHost((response, { body }) => {
      const { input } = JSON.parse(body.toString()) as { input: string[] };
      const data = input.map((text, index) => ({ index, embedding: [Number(text), 0.5] })).reverse();
      response
        .setHeader('x-request-id', 'req_x')
        .end(JSON.stringify({ data, usage: { prompt_tokens: input.length } }));
    });
    const numbers = Array.from({ length: 300 }, (_, i) => String(i));

    const { stdout } = await embed(['--lines', '-o', 'json'], {
      stdin: numbers.join('\n'),
      env: { GATEWAY_URL: host.url, GATEWAY_KEY: 'k' },
    });
    await host.close();

    const { embeddings, usage } = JSON.parse(stdout) as {
      embeddings: { embedding: number[] }[];
      usage: object;
    };
    expect(embeddings.map(({ embedding }) => String(embedding[0]))).toEqual(numbers);
    expect(usage).toEqual({ input_tokens: 300 });
    expect(host.requests).toHaveLength(3);
  });
});

describe('output', () => {
  test('in a pipe a line of numbers for each input', async () => {
    expect(await embed(['hello', 'world'])).toMatchObject({
      stdout: expect.stringMatching(/^(?:-?[\d.e-]+(?: -?[\d.e-]+)+\n){2}$/),
    });
  });

  test('--csv begins each row with its input', async () => {
    expect(await embed(['hello', '--csv'])).toMatchObject({
      stdout: expect.stringMatching(/^argument 1(?:,-?[\d.e-]+)+\r\n$/),
    });
  });

  test('-o ndjson has a line for each', async () => {
    const { stdout } = await embed(['a', 'b', '-o', 'ndjson']);

    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).index),
    ).toEqual([0, 1]);
  });

  test('on a terminal how long each is and how it begins', async () => {
    expect(await embed(['hello'], { isTerminal: true })).toMatchObject({
      stdout: expect.stringMatching(/^INPUT {7}DIMENSIONS {2}BEGINS\nargument 1 {2}\d+ .* …\n$/),
    });
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
    const host = await startHost((response) =>
      response.setHeader('x-request-id', 'req_x').end(JSON.stringify({ data })),
    );
    const env = { GATEWAY_URL: host.url, GATEWAY_KEY: 'k', GATEWAY_MODEL: '' };

    const { exit, stderr } = await embed(['x'], { env });
    await host.close();

    expect(exit).toBe(2);
    expect(stderr).toContain(words);
  });

  test.each([
    ['no JSON', 'rubbish', 'lacks a vector'],
    ['too few', '{"data":[]}', 'lacks a vector'],
    ['words', '{"data":[{"index":0,"embedding":["x"]}]}', 'has no numbers'],
  ])('an answer with %s: exit 7', async (_name, body, words) => {
    const host = await startHost((response) => response.setHeader('x-request-id', 'req_x').end(body));

    const { exit, stderr } = await embed(['x'], { env: { GATEWAY_URL: host.url, GATEWAY_KEY: 'k' } });
    await host.close();

    expect(exit).toBe(7);
    expect(stderr).toContain(words);
  });
});
