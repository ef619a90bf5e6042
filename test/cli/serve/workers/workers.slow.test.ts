import { mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chatAnswer, chatEvents, openStream, requestFor } from '../../../kit/answers.ts';
import { startProgram } from '../../../kit/child.ts';
import { emptyDirectory } from '../../../kit/command.ts';
import { ask, askAlone, type Gateway, host, isAlive, serve, withHost } from './serving.ts';

/** Resolves when the stream has begun. */
async function openStreamAt(gateway: Gateway): Promise<{ readonly text: Promise<string> }> {
  const answer = await ask(gateway, requestFor('chat', 'gpt-test', { stream: true }));
  return { text: answer.text().catch(() => 'cut') };
}

/** A provider whose streams stay open after two events, until all are finished. */
async function hostOfOpenStreams() {
  const open: (() => void)[] = [];
  const provider = await host((response) => {
    openStream(chatEvents.slice(0, 2))(response, provider.requests[0] as never);
    open.push(() => response.end(chatEvents.slice(2).join('')));
  });
  const finish = () => {
    for (const end of open) end();
  };
  return { provider, finish };
}

test('connections are dealt out, and a worker that dies takes only its own exchanges', async () => {
  const { provider, finish } = await hostOfOpenStreams();
  const gateway = await serve(withHost(provider));
  const streams = [await openStreamAt(gateway), await openStreamAt(gateway)];

  process.kill(gateway.workers[0] as number, 'SIGKILL');
  await gateway.child.wrote('serves in its place');
  finish();
  const texts = await Promise.all(streams.map(({ text }) => text));
  provider.script((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer),
  );
  const after = await Promise.all([1, 2, 3, 4].map(() => askAlone(gateway)));

  expect(texts.toSorted()).toEqual(['cut', chatEvents.join('')]);
  expect(after.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(gateway.child.text('stderr')).toContain(
    `worker ${gateway.workers[0]} ended (SIGKILL) and its open exchanges with it; it is restarted in 100 ms`,
  );
});

test('without the first process there are no workers either', async () => {
  const gateway = await serve('server: { workers: 2 }');

  gateway.child.process.kill('SIGKILL');

  await expect.poll(() => gateway.workers.filter(isAlive), { timeout: 10_000 }).toEqual([]);
});

test('records and log lines stay whole, each request has one', async () => {
  const gateway = await serve('server: { workers: 3 }');
  const requests = 300;
  const path = 'x'.repeat(6_000); // longer than a pipe takes in one piece

  let next = 0;
  const ask = async (): Promise<void> => {
    while (next < requests) {
      next += 1;
      await (await fetch(`${gateway.url}/${next}-${path}`, { headers: { connection: 'close' } })).text();
    }
  };
  await Promise.all(Array.from({ length: 20 }, ask));
  gateway.child.process.kill('SIGTERM');
  const { stderr } = await gateway.child.ended;

  const written = readFileSync(join(gateway.home, '.local/state/gateway/records.jsonl'), 'utf8');
  for (const text of [written, stderr]) {
    const records = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter((line) => line.path);
    expect(new Set(records.map((record) => record.request_id)).size).toBe(requests);
    expect(records).toHaveLength(requests);
  }
});

test('the limit of connections holds for all workers together', async () => {
  const gateway = await serve('server: { workers: 2, limits: { connections: 4 } }');
  const { port } = new URL(gateway.url);
  let closed = 0;

  const sockets: Socket[] = [];
  for (let i = 0; i < 7; i += 1) {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    sockets.push(socket.on('close', () => (closed += 1)));
  }
  // Each worker keeps two, and a busy one may be handed fewer: of seven, two to four stay open.
  await expect.poll(() => closed, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
  expect(closed).toBeLessThanOrEqual(5);

  for (const socket of sockets) socket.destroy();
});

test.each([
  ['1', undefined],
  ['3', 3],
])('--workers %s beats the file: there are %s beside the first process', async (workers, count) => {
  const gateway = await serve('server: { workers: 2 }', ['--workers', workers]);

  expect(gateway.workers?.length).toBe(count);
});

test('a port that is taken: exit 1 with who holds it', async () => {
  const gateway = await serve('server: { workers: 2 }');
  const { port } = new URL(gateway.url);

  const second = await startProgram(['serve', '-p', port, '--workers', '2'], emptyDirectory()).ended;

  expect(second.exit).toBe(1);
  expect(second.stderr).toContain(`port ${port} is taken`);
  if (process.platform === 'linux') expect(second.stderr).toContain(`(pid ${gateway.child.process.pid})`);
});

test('a worker that cannot start is tried again, and said so', async () => {
  const gateway = await serve('server: { workers: 2 }');
  const records = join(gateway.home, '.local/state/gateway/records.jsonl');
  rmSync(records, { force: true });
  mkdirSync(records); // a new process can't open it

  process.kill(gateway.workers[0] as number, 'SIGKILL');
  await gateway.child.wrote('could not start');
  const whileOneIsGone = (await fetch(`${gateway.url}/healthz`)).status;
  rmdirSync(records);
  await gateway.child.wrote('serves in its place');

  expect(whileOneIsGone).toBe(200);
  expect(gateway.child.text('stderr')).toMatch(/could not start: .*EISDIR.*; retrying in 200 ms/);
});

test('status counts what is open in all workers', async () => {
  const provider = await host(openStream(chatEvents.slice(0, 2)));
  const gateway = await serve(withHost(provider));
  const streams = await Promise.all(
    [1, 2, 3].map(() =>
      ask(gateway, requestFor('chat', 'gpt-test', { stream: true }), { connection: 'close' }),
    ),
  );

  const { stdout } = await startProgram(['status', '-o', 'json'], gateway.home).ended;
  const lines = await startProgram(['status'], gateway.home).ended;

  expect(JSON.parse(stdout).open).toEqual({ exchanges: 3, streams: 3 });
  expect(lines.stdout).toContain('open    3 exchanges, 3 of them streams');
  for (const stream of streams) await stream.body?.cancel();
});
