import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { bin } from '../../kit/build.ts';
import { command, directoryWith, emptyDirectory, failure } from '../../kit/command.ts';
import { type Script, startHost } from '../../kit/host.ts';
import { useGateway } from '../../kit/lifecycle.ts';

const sandbox = useGateway();

/** A command line in a real shell, as scripts write it; `gateway` is the program. */
async function shell(line: string) {
  const { url, key } = sandbox();
  const home = emptyDirectory();
  const child = spawn('sh', ['-c', line.replaceAll('gateway', '"$NODE" "$BIN"')], {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      NODE: process.execPath,
      BIN: bin,
      GATEWAY_URL: url,
      GATEWAY_KEY: key,
      GATEWAY_MODEL: 'sandbox-mini',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, exit] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on('close', resolve)),
  ]);
  return { exit, stdout, stderr };
}

describe('in a shell', () => {
  test.each(
    // biome-ignore format: a case a line
    [
      ['standard input closed', 'gateway send hello <&-', 0, '"hello"', ''],
      ['standard input empty', 'gateway send hello < /dev/null', 0, '"hello"', ''],
      ['nothing asked', 'gateway send < /dev/null', 2, '', 'there is no prompt'],
      ['binary standard input', "printf '\\377\\376' | gateway send hello", 2, '', 'not text in UTF-8; -f - attaches'],
      ['standard input without an end', 'yes | gateway send hello', 2, '', 'larger than 64 MiB'],
      ['a full disk', 'gateway send hello > /dev/full', 1, '', 'no space is left'],
      ['a full disk for the version', 'gateway --version > /dev/full', 1, '', 'could not be written: ENOSPC'],
      ['standard output closed', 'gateway send hello >&-', 0, '', ''],
      ['a reader that leaves', 'gateway send hello -m sandbox-long | head -c 1', 0, '', ''],
      ['no HOME', 'unset HOME; XDG_STATE_HOME="$PWD" gateway send --in trip hello', 0, '"hello"', ''],
      ['no locale', 'LC_ALL= LANG= gateway send "Grüße 👋"', 0, 'Grüße 👋', ''],
    ],
  )('%s', { timeout: 90_000 }, async (_name, line, exit, stdout, stderr) => {
    const ended = await shell(line);

    expect([ended.exit, ended.stderr]).toEqual([exit, expect.stringContaining(stderr)]);
    expect(ended.stdout).toContain(stdout);
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });
});

/** `send` at a gateway that answers so. */
async function sendTo(script: Script, argv = ['send', 'x', '-m', 'm'], cwd = emptyDirectory()) {
  const { url } = await startHost((response, request) => {
    response.setHeader('x-request-id', 'req_1');
    return script(response, request);
  });
  return command(argv, { cwd, gateway: { url, key: 'gw_key' } });
}

describe('a gateway that answers rubbish', () => {
  const events = { 'content-type': 'text/event-stream' };
  test.each<[string, Record<string, string>, string]>([
    ['no JSON', { 'content-type': 'application/json' }, '<html>'],
    ['JSON that is no answer', { 'content-type': 'application/json' }, '[1]'],
    ['a stream of nothing', events, ''],
    ['a stream without events', events, 'hello\nworld\n'],
    ['events that are no JSON', events, 'data: {"a":\n\ndata: nope\n\n'],
  ])('%s: exit 7, one line on stderr', async (_name, headers, body) => {
    expect(await sendTo((response) => response.writeHead(200, headers).end(body))).toEqual(
      failure(7, /^gateway: [^\n]+\n$/),
    );
  });

  test('a stream whose one event never ends is given up', { timeout: 60_000 }, async () => {
    const piece = 'x'.repeat(1024 * 1024);

    const { exit } = await sendTo((response) => {
      response.writeHead(200, events).write('data: ');
      const more = () => {
        while (!response.destroyed && response.write(piece));
        response.once('drain', more);
      };
      more();
    });

    expect(exit).toBe(7);
  });

  test('which has no default model: it names some', async () => {
    const data = ['a', 'b', 'c', 'd'].map((id) => ({ id }));
    const host = '{ dialect: openai, base_url: "http://127.0.0.1:9/v1" }';
    const cwd = directoryWith(`providers: { a: ${host} }\nmodels: [{ match: "*", provider: a }]\n`);

    const list: Script = (response) => response.end(JSON.stringify({ data }));
    expect(await sendTo(list, ['send', 'x'], cwd)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(', such as a, b or c; "gateway models"'),
    });
  });

  test('whose provider can not be reached: it says which command finds out why', async () => {
    const error = { reason: 'provider.unreachable', message: "the provider can't be reached" };

    const ended = await sendTo((response) =>
      response.writeHead(502, { 'x-gateway-error': 'true' }).end(JSON.stringify({ error })),
    );

    expect(ended).toEqual({
      exit: 7,
      stdout: '',
      stderr: 'gateway: the provider can\'t be reached ("gateway doctor" says why)\n',
    });
  });
});
