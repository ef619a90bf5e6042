import { chownSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openHistory } from '../../../src/history/history.ts';
import { speakAll } from '../../kit/answers.ts';
import { startProgram } from '../../kit/child.ts';
import { command, emptyDirectory, failure, homeWith } from '../../kit/command.ts';
import { twoHosts } from '../../kit/config.ts';
import { lastBody } from '../../kit/host.ts';
import { useGateway, useHosts } from '../../kit/lifecycle.ts';
import type { Files } from '../../kit/own-configuration.ts';
import { scale } from '../../kit/scale.ts';

const sandbox = useGateway();
const hosts = useHosts(speakAll, (urls) => twoHosts(urls));

function user(extra: Readonly<Record<string, string>> = {}, files: Files = {}) {
  const { openai, gateway } = hosts();
  const cwd = homeWith(files);
  const env = { GATEWAY_MODEL: 'gpt-test', XDG_STATE_HOME: cwd, ...extra };
  return {
    cwd,
    history: join(cwd, 'gateway', 'history.sqlite'),
    run: (...argv: string[]) => command(argv, { cwd, gateway, env, stdin: '' }),
    lastMessages: () => lastBody(openai).messages,
  };
}

describe('a conversation', () => {
  test('goes on by its name, and as the last one', async () => {
    const { run, lastMessages } = user();
    await run('send', '--in', 'trip', '-s', 'be brief', 'one');
    await run('send', '--in', 'trip', 'two');
    const { exit } = await run('send', '--continue', 'three');

    expect(exit).toBe(0);
    expect(lastMessages()).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'Grüße 👋 東京' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: 'Grüße 👋 東京' },
      { role: 'user', content: 'three' },
    ]);
  });

  test('stays with its model, and speaks every dialect', async () => {
    const { run } = user();
    await run('send', '--in', 'trip', '-m', 'claude-test', 'one');
    await run('send', '--in', 'trip', 'two');
    await run('send', '--in', 'trip', '-m', 'gpt-test', '--dialect', 'responses', 'three');

    expect(lastBody(hosts().anthropic).messages).toHaveLength(3);
    expect(lastBody(hosts().openai).input).toHaveLength(5);
  });

  test('has its attachments when it goes on', async () => {
    const { run, lastMessages } = user({}, { 'a.png': Buffer.from('\x89PNG\r\n\x1a\n', 'latin1') });
    await run('send', '--in', 'trip', '-f', 'a.png', 'what?');
    await run('send', '--in', 'trip', 'and?');

    expect(lastMessages()[0].content).toEqual([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      { type: 'text', text: 'what?' },
    ]);
  });

  test('of an answer that failed, nothing is kept', async () => {
    const { run } = user();

    await run('send', '--in', 'trip', '-m', 'nobody', 'one');

    expect((await run('logs', 'show', 'trip')).exit).toBe(5);
  });

  test('none is kept of a plain send, nor of a dry run', async () => {
    const { run, history } = user();

    await run('send', 'hello');
    await run('send', 'hello', '--dry-run');

    expect(existsSync(history)).toBe(false);
  });

  test('GATEWAY_HISTORY=all keeps every prompt, off none', async () => {
    const all = user({ GATEWAY_HISTORY: 'all' });
    const off = user({ GATEWAY_HISTORY: 'off' });

    await all.run('send', 'one');
    await all.run('send', 'two');
    const refused = await off.run('send', '--in', 'trip', 'one');

    expect((await all.run('logs', '--conversations')).stdout.split('\n')).toHaveLength(3);
    expect([refused.exit, existsSync(off.history)]).toEqual([2, false]);
  });

  test.each([
    ['--continue without one', ['--continue'], 'there is no conversation to continue'],
    ['a name that is an id', ['--in', 'c7'], "can't name a conversation"],
    ['a name with a path', ['--in', '../x'], "can't name a conversation"],
    ['both', ['--in', 'x', '--continue'], 'cannot be used with'],
  ])('%s is a usage error', async (_name, argv, expected) => {
    expect(await user().run('send', 'hello', ...argv)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(expected),
    });
  });
});

describe('where nothing can be kept, nothing is sent', () => {
  const expectRefusal = async ({ run }: ReturnType<typeof user>, words: RegExp) => {
    const before = hosts().openai.requests.length;

    expect(await run('send', '--in', 'trip', 'hello')).toEqual(failure(2, words));
    expect(hosts().openai.requests.length).toBe(before);
  };

  test('a file is in the way', () =>
    expectRefusal(user({}, { gateway: '' }), /gateway can't be used \(EEXIST\); set XDG_STATE_HOME/));

  // Only root can give a directory to somebody else.
  test.skipIf(process.getuid?.() !== 0)("it is another user's directory", async () => {
    const somebody = user({}, { 'gateway/file': '' });
    chownSync(join(somebody.cwd, 'gateway'), 12_345, 12_345);

    await expectRefusal(somebody, /belongs to another user.*XDG_STATE_HOME/);
  });
});

test('two who write at once both succeed; kill -9 while they write loses nothing that was acknowledged', {
  timeout: 120_000,
}, async () => {
  const { url, key } = sandbox();
  const home = emptyDirectory();
  const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'sandbox-mini', XDG_STATE_HOME: home };
  const send = (n: number) => startProgram(['send', '--in', 'trip', `prompt ${n}`, '--no-stdin'], home, env);

  const written = scale([0, 1], [0, 1, 2, 3]);
  const kept = written.map(send);
  const killed = scale([4, 6], [4, 5, 6, 7]).map((n) => {
    const child = send(n);
    setTimeout(() => child.process.kill('SIGKILL'), 150 * (n - 3));
    return child;
  });
  const exits = await Promise.all(kept.map(async (child) => (await child.ended).exit));
  await Promise.all(killed.map(({ ended }) => ended));

  expect(exits).toEqual(written.map(() => 0));
  const history = await openHistory(join(home, 'gateway', 'history.sqlite'));
  const conversation = history.named('trip');
  const turns = history.turns(conversation?.id ?? 0);
  history.close();
  for (const n of written) expect(turns.map(({ text }) => text)).toContain(`prompt ${n}`);
  // A question and its answer, or neither.
  expect(turns.map(({ role }) => role)).toEqual(turns.map((_, i) => (i % 2 === 0 ? 'user' : 'assistant')));
});

test.each([
  ['is something else', 'not a database'],
  ['was damaged', `SQLite format 3\0${'x'.repeat(5_000)}`],
])('a history that %s is left alone, and the error says what to do', async (_name, content) => {
  const { run, history } = user({}, { 'gateway/history.sqlite': content });

  for (const line of ['send x --in trip --no-stdin', 'logs search x']) {
    expect(await run(...line.split(' '))).toEqual(failure(2, `move ${history} away to begin a new history`));
  }
  expect((await run('send', 'x', '--no-stdin')).exit).toBe(0);
  expect(readFileSync(history, 'utf8')).toBe(content);
});
