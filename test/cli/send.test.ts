import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { promptDialects } from '../../src/client/conversation.ts';
import { chatEvents, json, openStream, speakAll } from '../kit/answers.ts';
import { command, startCommand } from '../kit/command.ts';
import { twoHosts } from '../kit/config.ts';
import { secrets } from '../kit/gateway.ts';
import { useGateway, useHosts } from '../kit/lifecycle.ts';

const sandbox = useGateway();
const guarded = useGateway(`
policies:
  house:
    apply: all
    rules:
      - { id: answers, action: block, apply_to: [response], when: { text: { phrases: ["works offline"] } } }
      - { id: codename, action: block, when: { text: { phrases: ["nightfall"] } }, reason: content.codename }
`);
const hosts = useHosts(speakAll, (urls) =>
  twoHosts({ ...urls, provider: 'retries: { attempts: 1 }, breaker: { failures: 1000 }' }),
);

const reply = 'The sandbox read: "hello". It works offline and always replies the same way.';

function here(extra: Readonly<Record<string, string>> = {}) {
  const { url, key } = sandbox();
  return { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'sandbox-mini', ...extra };
}

describe('send', () => {
  test.each([
    ['as it comes', []],
    ['in one piece', ['--no-stream']],
    ['in the messages dialect', ['--dialect', 'messages']],
    ['in the messages dialect in one piece', ['--dialect', 'messages', '--no-stream']],
    ['in the gemini dialect', ['--dialect', 'gemini']],
    ['in the gemini dialect in one piece', ['--dialect', 'gemini', '--no-stream']],
    ['in the responses dialect', ['--dialect', 'responses']],
    ['in the responses dialect in one piece', ['--dialect', 'responses', '--no-stream']],
  ])('prints the answer and nothing else %s', async (_name, options) => {
    expect(await command(['send', 'hello', ...options], { env: here() })).toEqual({
      exit: 0,
      stdout: `${reply}\n`,
      stderr: '',
    });
  });

  test('-o json is one document with the documented fields', async () => {
    const { exit, stdout, stderr } = await command(['send', 'hello', '-o', 'json'], { env: here() });

    expect(stdout.split('\n')).toHaveLength(2);
    expect(JSON.parse(stdout)).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      model: 'sandbox-mini',
      text: reply,
      finish_reason: 'stop',
      usage: {
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        reasoning_tokens: 0,
      },
      latency_ms: expect.any(Number),
      decision: 'allow',
      request_id: expect.stringMatching(/^req_/),
    });
    expect([exit, stderr]).toEqual([0, '']);
  });

  test('-o ndjson is one line, -o yaml a document', async () => {
    const ndjson = await command(['send', 'hello', '-o', 'ndjson'], { env: here() });
    const yaml = await command(['-o', 'yaml', 'send', 'hello'], { env: here() });

    expect(JSON.parse(ndjson.stdout).text).toBe(reply);
    expect(parse(yaml.stdout).text).toBe(reply);
  });

  test('-o table is refused before anything is sent', async () => {
    const before = sandbox().records.length;

    const { exit, stderr } = await command(['send', 'hello', '-o', 'table'], { env: here() });

    expect(exit).toBe(2);
    expect(stderr).toContain('table');
    expect(sandbox().records.length).toBe(before);
  });

  test('--usage goes to stderr', async () => {
    const { stdout, stderr } = await command(['send', 'hello', '--usage'], { env: here() });

    expect(stdout).toBe(`${reply}\n`);
    expect(stderr).toMatch(/^in \d+ out \d+ · sandbox-mini · \d+ ms\n$/);
  });

  test('takes standard input, a blank line, the argument', async () => {
    const { openai, gateway } = hosts();
    const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key };

    const { exit } = await command(['send', 'summarise', '-m', 'gpt-test'], {
      env,
      stdin: 'a text 東京 👋\n\n',
    });

    expect(exit).toBe(0);
    expect(JSON.parse(openai.requests.at(-1)?.body.toString() ?? '').messages).toEqual([
      { role: 'user', content: 'a text 東京 👋\n\nsummarise' },
    ]);
  });

  test('passes the system prompt and the cap on', async () => {
    const { anthropic, gateway } = hosts();
    const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key };

    await command(['send', 'hello', '-m', 'claude-test', '-s', 'be brief', '--max-tokens', '7'], { env });

    expect(JSON.parse(anthropic.requests.at(-1)?.body.toString() ?? '')).toEqual({
      model: 'claude-test',
      max_tokens: 7,
      system: 'be brief',
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
    });
  });

  test.each([
    ['no prompt at a terminal', ['send'], undefined],
    ['empty standard input', ['send'], ''],
    ['an empty argument', ['send', ''], undefined],
    ['two prompts', ['send', 'a', 'b'], undefined],
    ['an unknown dialect', ['send', 'a', '--dialect', 'latin'], undefined],
    ['a cap of 0', ['send', 'a', '--max-tokens', '0'], undefined],
  ])('%s is a usage error: exit 2', async (_name, argv, stdin) => {
    const environment = stdin === undefined ? {} : { stdin };

    const { exit, stdout, stderr } = await command(argv, { env: here(), ...environment });

    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^gateway: /);
  });

  test('one scripted host of each family takes the same command', async () => {
    const { anthropic, openai, gateway } = hosts();
    const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key };

    const claude = await command(['send', 'hello', '-m', 'claude-test'], { env });
    const gpt = await command(['send', 'hello', '-m', 'gpt-test'], { env });
    const plain = await command(['send', 'hello', '-m', 'gpt-test', '--no-stream'], { env });
    const renamed = await command(
      ['send', 'hello', '-m', 'renamed-gpt', '--dialect', 'responses', '--no-stream'],
      { env },
    );

    expect(claude).toEqual({ exit: 0, stdout: 'Grüße 👋 東京\n', stderr: '' });
    expect(gpt).toEqual({ exit: 0, stdout: 'Grüße 👋 東京\n', stderr: '' });
    expect(plain.stdout).toBe('Hello from chat\n');
    expect(renamed.stdout).toBe('Hello from responses\n');
    expect(anthropic.requests.at(-1)?.target).toBe('/v1/messages');
    expect(openai.requests.at(-1)?.target).toBe('/v1/responses');
  });
});

describe('exit codes', () => {
  test.each([
    ['a wrong key', ['send', 'x'], { GATEWAY_KEY: 'not-a-key-that-is-known' }, 4, 'key.invalid'],
    ['an unknown model', ['send', 'x', '-m', 'sandbox-nobody'], {}, 5, 'model.unknown'],
    ['an unknown model of models', ['models', 'nobody'], {}, 5, 'model.unknown'],
    ['a provider that is broken', ['send', 'x', '-m', 'sandbox-error-500'], {}, 7, undefined],
    [
      'a provider that refuses our key',
      ['send', 'x', '-m', 'sandbox-error-401'],
      {},
      7,
      'provider.credentials_rejected',
    ],
    ['a stream that breaks off', ['send', 'x', '-m', 'sandbox-cut'], {}, 7, 'provider.broken_response'],
    ['a time-out', ['send', 'x', '-m', 'sandbox-slow', '--timeout', '0.3'], {}, 7, 'provider.timeout'],
    ['nobody at the address', ['send', 'x'], { GATEWAY_URL: 'http://127.0.0.1:1' }, 8, 'gateway.unreachable'],
    ['an address that is none', ['send', 'x'], { GATEWAY_URL: 'localhost:4100' }, 2, 'usage.invalid'],
    ['no key for an address', ['send', 'x'], { GATEWAY_KEY: '' }, 4, 'key.missing'],
  ])('%s', async (_name, argv, env, exit, reason) => {
    const text = await command(argv, { env: here(env) });
    const asJson = await command([...argv, '-o', 'json'], { env: here(env) });

    expect([text.exit, asJson.exit]).toEqual([exit, exit]);
    expect(text.stderr).toMatch(/^gateway: \S.*\n$/);
    const error = JSON.parse(asJson.stderr);
    expect(asJson.stdout).toBe('');
    expect(error).toEqual({
      error: {
        type: expect.any(String),
        reason: reason ?? expect.any(String),
        message: expect.any(String),
        param: error.error.param,
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
      const argv = ['send', 'x', '-m', 'sandbox-cut', '--dialect', dialect];

      const { exit, stdout, stderr } = await command(argv, { env: here() });

      expect(exit).toBe(7);
      expect(stdout).toContain('The sa');
      expect(stderr).toBe('gateway: the provider cut its answer short, or sent what is no HTTP answer\n');
    },
  );

  test.each([
    ['chat', []],
    ['messages', []],
    ['responses', []],
    ['gemini', []],
    ['chat', ['--no-stream']],
    ['gemini', ['--no-stream']],
  ])('3 for an answer of %s that a rule blocks %j', async (dialect, options) => {
    const { exit, stderr } = await command(
      ['send', 'x', '-m', 'sandbox-mini', '--dialect', dialect, ...options],
      { env: { GATEWAY_URL: guarded().url, GATEWAY_KEY: guarded().key } },
    );

    expect(exit).toBe(3);
    expect(stderr).toBe('gateway: the answer was blocked by rule answers\n');
  });

  test('3 for a request that a rule blocks, and why', async () => {
    const env = { GATEWAY_URL: guarded().url, GATEWAY_KEY: guarded().key };

    const { exit, stdout, stderr } = await command(['send', 'nightfall', '-m', 'm', '-o', 'json'], { env });

    expect([exit, stdout]).toEqual([3, '']);
    expect(JSON.parse(stderr).error.reason).toBe('content.codename');
  });

  test('6 for a limit of the provider', async () => {
    const { openai, gateway } = hosts();
    openai.script(json('{"error":{"message":"slow down"}}', 429, { 'retry-after': '100' }));

    const { exit, stderr } = await command(['send', 'x', '-m', 'gpt-test'], {
      env: { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key },
    });

    openai.script(speakAll);
    expect(exit).toBe(6);
    expect(stderr).toBe('gateway: the provider answered 429: slow down\n');
  });

  test('8 where no gateway runs, and what to start', async () => {
    const { exit, stderr } = await command(['send', 'x']);

    expect(exit).toBe(8);
    expect(stderr).toContain('gateway serve');
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
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    const sent = await command(['send', 'x'], { env: here({ GATEWAY_URL: url }) });
    const listed = await command(['models'], { env: here({ GATEWAY_URL: url }) });

    server.close();
    expect([sent.exit, listed.exit]).toEqual([8, 8]);
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
      const running = startCommand(['send', 'x', '-m', 'gpt-test'], {
        env: { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key },
        isTerminal: true,
      });
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

  test('SIGINT before the first byte, and while input is read, ends it too', async () => {
    const { openai, gateway } = hosts();
    openai.script(() => undefined);
    const arrived = openai.next();
    const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key };
    const waiting = startCommand(['send', 'x', '-m', 'gpt-test'], { env });
    const received = await arrived;
    const { PassThrough } = await import('node:stream');
    const reading = startCommand(['send', '-m', 'gpt-test'], { env, stdin: new PassThrough() });
    await new Promise((resolve) => setImmediate(resolve));

    waiting.signal('SIGINT');
    reading.signal('SIGINT');

    expect((await waiting.ended).exit).toBe(130);
    expect((await reading.ended).exit).toBe(130);
    expect(await received.ended).toBe('gone');
    openai.script(speakAll);
  });
});

describe('models', () => {
  test('is a table on a terminal, tab-separated in a pipe', async () => {
    const terminal = await command(['models'], { env: here(), isTerminal: true });
    const pipe = await command(['models'], { env: here() });

    expect(terminal.stdout).toMatch(/^MODEL +PROVIDER +STATUS +ENDPOINTS\n/);
    expect(pipe.stdout).toMatch(/^sandbox-mini\tsandbox\tready\t.*\/v1\/messages/m);
    expect(pipe.stdout).not.toContain('MODEL');
  });

  test('one by its name, and lists for programs', async () => {
    const one = await command(['models', 'sandbox-embed', '-o', 'json'], { env: here() });
    const lines = await command(['models', '-o', 'ndjson'], { env: here() });

    expect(JSON.parse(one.stdout)).toMatchObject({
      id: 'sandbox-embed',
      provider: 'sandbox',
      status: 'ready',
    });
    expect(
      lines.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toContain('sandbox-mini');
  });
});

test.each([
  ['on a terminal', [], true, true],
  ['in a pipe', [], false, false],
  ['with --no-color', ['--no-color'], true, false],
])('an error has colours %s: %j', async (_name, options, isTerminal, isColoured) => {
  const argv = ['send', 'x', '-m', 'sandbox-nobody', ...options];

  const { stderr } = await command(argv, { env: here(), isTerminal });

  expect(stderr.includes('\u001b[')).toBe(isColoured);
});

test('keys are never taken from the state of another address', async () => {
  const { exit, stderr } = await command(['models'], { env: { GATEWAY_URL: sandbox().url } });

  expect(exit).toBe(4);
  expect(stderr).toContain('GATEWAY_KEY');
});

test('what the commands print holds no secret of the configuration', async () => {
  const { gateway } = hosts();
  const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key };

  const outputs = await Promise.all([
    command(['models', '-o', 'json'], { env }),
    command(['models', '-v'], { env }),
    command(['send', 'x', '-m', 'gpt-test', '-o', 'json', '-v'], { env }),
    command(['send', 'x', '-m', 'nobody', '-v'], { env }),
  ]);

  for (const { stdout, stderr } of outputs) {
    for (const secret of Object.values(secrets)) expect(stdout + stderr).not.toContain(secret);
  }
});

test('-v says what led to a failure', async () => {
  const env = { GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_KEY: 'some-key-0123456789' };

  const plain = await command(['send', '-m', 'x', 'hi'], { env });
  const verbose = await command(['send', '-v', '-m', 'x', 'hi'], { env });

  expect(plain.stderr).not.toContain('because:');
  expect(verbose.stderr).toContain('because: ECONNREFUSED');
});
