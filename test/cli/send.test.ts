import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { promptDialects } from '../../src/client/conversation.ts';
import { chatEvents, json, openStream, speakAll } from '../kit/answers.ts';
import { command, type Environment, failure, printed, startCommand } from '../kit/command.ts';
import { twoHosts } from '../kit/config.ts';
import { secrets } from '../kit/gateway.ts';
import { useGateway, useHosts } from '../kit/lifecycle.ts';
import { listening } from '../kit/listening.ts';

const sandbox = useGateway();
const guarded = useGateway(`
policies:
  house:
    apply: all
    rules:
      - { id: answers, action: block, apply_to: [response], when: { text: { phrases: ["works offline"] } } }
`);
const hosts = useHosts(speakAll, (urls) =>
  twoHosts({ ...urls, provider: 'retries: { attempts: 1 }, breaker: { failures: 1000 }' }),
);

const reply = 'The sandbox read: "hello". It works offline and always replies the same way.';

/** A command at the sandbox. */
function run(argv: string | readonly string[], { env, ...environment }: Environment = {}) {
  return command(argv, {
    gateway: sandbox(),
    env: { GATEWAY_MODEL: 'sandbox-mini', ...env },
    ...environment,
  });
}

describe('send', () => {
  test.each(['', ...promptDialects.map((dialect) => ` --dialect ${dialect}`)])(
    'prints the answer and nothing else, as it comes and in one piece:%s',
    async (options) => {
      expect(await run(`send hello${options}`)).toEqual(printed(`${reply}\n`));
      expect(await run(`send hello${options} --no-stream`)).toEqual(printed(`${reply}\n`));
    },
  );

  test('-o ndjson is one line, -o yaml a document', async () => {
    expect((await run('send hello -o ndjson')).json.text).toBe(reply);
    expect(parse((await run('-o yaml send hello')).stdout).text).toBe(reply);
  });

  test('--usage goes to stderr', async () => {
    expect(await run('send hello --usage')).toMatchObject({
      stdout: `${reply}\n`,
      stderr: expect.stringMatching(/^in \d+ out \d+ · sandbox-mini · \d+ ms\n$/),
    });
  });

  test.each<[string, string, Environment]>([
    ['no prompt at a terminal', 'send', {}],
    ['empty standard input', 'send', { stdin: '' }],
    ['an empty argument', 'send ', {}],
    ['two prompts', 'send a b', {}],
    ['an unknown dialect', 'send a --dialect latin', {}],
    ['a cap of 0', 'send a --max-tokens 0', {}],
  ])('%s is a usage error: exit 2', async (_name, line, environment) => {
    expect(await run(line, environment)).toEqual(failure(2, /^gateway: /));
  });
});

describe('exit codes', () => {
  const unanswered = ['provider.timeout', 'gateway.unreachable', 'usage.invalid', 'key.missing'];

  test.each<[string, string, Record<string, string>, number, string | undefined]>(
    // biome-ignore format: a case a line
    [
      ['a wrong key', 'send x', { GATEWAY_KEY: 'not-a-key-that-is-known' }, 4, 'key.invalid'],
      ['an unknown model', 'send x -m sandbox-nobody', {}, 5, 'model.unknown'],
      ['an unknown model of models', 'models nobody', {}, 5, 'model.unknown'],
      ['a provider that is broken', 'send x -m sandbox-error-500', {}, 7, undefined],
      ['a provider that refuses our key', 'send x -m sandbox-error-401', {}, 7, 'provider.credentials_rejected'],
      ['a stream that breaks off', 'send x -m sandbox-cut', {}, 7, 'provider.broken_response'],
      ['a time-out', 'send x -m sandbox-slow --timeout 0.3', {}, 7, 'provider.timeout'],
      ['nobody at the address', 'send x', { GATEWAY_URL: 'http://127.0.0.1:1' }, 8, 'gateway.unreachable'],
      ['an address that is none', 'send x', { GATEWAY_URL: 'localhost:4100' }, 2, 'usage.invalid'],
      ['no key for an address', 'send x', { GATEWAY_KEY: '' }, 4, 'key.missing'],
    ],
  )('%s', async (_name, line, env, exit, reason) => {
    const text = await run(line, { env });
    const asJson = await run(`${line} -o json`, { env });

    expect([text.exit, asJson.exit]).toEqual([exit, exit]);
    expect(text.stderr).toMatch(/^gateway: \S.*\n$/);
    expect(asJson.stdout).toBe('');
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: {
        type: expect.any(String),
        reason: reason ?? expect.any(String),
        message: expect.any(String),
        param: asJson.error.param,
        ...(unanswered.includes(reason ?? '') || line.startsWith('models')
          ? {}
          : { request_id: expect.stringMatching(/^req_/) }),
      },
    });
    const everything = text.stderr + asJson.stderr;
    expect(everything).not.toContain(sandbox().key);
    expect(everything).not.toContain('not-a-key-that-is-known');
    expect(everything).not.toMatch(/\n\s+at /);
  });

  test.each(promptDialects)(
    'a stream of %s that breaks off leaves what had come, and says why it ended',
    async (dialect) => {
      expect(await run(`send x -m sandbox-cut --dialect ${dialect}`)).toEqual({
        exit: 7,
        stdout: expect.stringContaining('The sa'),
        stderr: 'gateway: the provider cut its answer short, or sent what is no HTTP answer\n',
      });
    },
  );

  test.each(['chat', 'messages', 'responses', 'gemini', 'chat --no-stream', 'gemini --no-stream'])(
    '3 for an answer of %s that a rule blocks',
    async (dialect) => {
      const line = `send x -m sandbox-mini --dialect ${dialect}`;

      expect(await command(line, { gateway: guarded() })).toMatchObject({
        exit: 3,
        stderr: 'gateway: the answer was blocked by rule answers\n',
      });
    },
  );

  test('6 for a limit of the provider', async () => {
    const { openai, gateway } = hosts();
    openai.script(json('{"error":{"message":"slow down"}}', 429, { 'retry-after': '100' }));

    const ended = await command('send x -m gpt-test', { gateway });

    openai.script(speakAll);
    expect(ended).toEqual(failure(6, /^gateway: the provider answered 429: slow down\n$/));
  });

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['a web server', 'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>'],
    ['a web server without the page', 'HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno'],
  ])('8 where something else than a gateway listens: %s', async (_name, bytes) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(bytes));
    });
    const url = `http://127.0.0.1:${(await listening(server)).port}`;
    const env = { GATEWAY_URL: url };

    const sent = await run('send x', { env });

    expect([sent.exit, (await run('models', { env })).exit]).toEqual([8, 8]);
    expect(sent.stderr).toContain(url);
    expect(sent.stderr.split('\n')).toHaveLength(2);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s keeps what was printed, closes the call at the provider and exits %d',
    async (name, exit) => {
      const { openai, gateway } = hosts();
      openai.script(openStream(chatEvents.slice(0, 2)));
      const arrived = openai.next();
      const running = startCommand('send x -m gpt-test', { gateway, isTerminal: true });
      await running.wrote('stdout', 'Grüße 👋');

      running.signal(name);
      const ended = await running.ended;

      expect(await (await arrived).ended).toBe('gone');
      openai.script(speakAll);
      expect(ended.exit).toBe(exit);
      // What the terminal prints next is on a line of its own.
      expect(ended.stdout).toBe('Grüße 👋 \n');
    },
  );
});

describe('models', () => {
  test('is a table on a terminal, tab-separated in a pipe', async () => {
    const terminal = await run('models', { isTerminal: true });
    const pipe = await run('models');

    expect(terminal.stdout).toMatch(/^MODEL +PROVIDER +STATUS +ENDPOINTS\n/);
    expect(pipe.stdout).toMatch(/^sandbox-mini\tsandbox\tready\t.*\/v1\/messages/m);
    expect(pipe.stdout).not.toContain('MODEL');
  });
});

test.each([
  ['on a terminal', '', true, true],
  ['in a pipe', '', false, false],
  ['with --no-color', ' --no-color', true, false],
])('an error has colours %s:%s', async (_name, options, isTerminal, isColoured) => {
  const { stderr } = await run(`send x -m sandbox-nobody${options}`, { isTerminal });

  expect(stderr.includes('\u001b[')).toBe(isColoured);
});

test('what the commands print holds no secret of the configuration', async () => {
  const { gateway } = hosts();

  for (const line of [
    'models -o json',
    'models -v',
    'send x -m gpt-test -o json -v',
    'send x -m nobody -v',
  ]) {
    const { stdout, stderr } = await command(line, { gateway });
    for (const secret of Object.values(secrets)) expect(stdout + stderr).not.toContain(secret);
  }
});

test('-v says what led to a failure', async () => {
  const gateway = { url: 'http://127.0.0.1:9', key: 'some-key-0123456789' };

  const plain = await command('send -m x hi', { gateway });
  const verbose = await command('send -v -m x hi', { gateway });

  expect(plain.stderr).not.toContain('because:');
  expect(verbose.stderr).toContain('because: ECONNREFUSED');
});
