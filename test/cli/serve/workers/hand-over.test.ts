import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { type ConnectionTarget, HandOver } from '../../../../src/server/workers/hand-over.ts';
import type { WorkerCommand } from '../../../../src/server/workers/messages.ts';
import { spawnWorker } from '../../../../src/server/workers/spawn-worker.ts';
import { chatAnswer } from '../../../kit/answers.ts';
import { askAlone, type Gateway, host, serve, withHost } from './serving.ts';

// What limits these is a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const loopback = { host: '127.0.0.1', port: 0 };

/**
 * The status of an answer, or the code of what ended the connection. One that no worker takes for a second is reset, as on
 * a machine that is busy enough, and its client asks again.
 */
async function answered(gateway: Gateway): Promise<number | string> {
  for (;;) {
    const ended = await askAlone(gateway).then(
      ({ status }) => status,
      ({ cause }) => String(cause?.code),
    );
    if (ended !== 'ECONNRESET') return ended;
  }
}

const all = (count: number, gateway: Gateway) =>
  Promise.all(Array.from({ length: count }, () => answered(gateway)));

const serving: ConnectionTarget = { isServing: true, accept: (socket) => socket.end('served') };

test('a connection that its target returns is served by the next one', async () => {
  const returning = { isServing: true, accept: vi.fn<ConnectionTarget['accept']>((_, done) => done(false)) };
  const handOver = new HandOver([returning, serving]);
  const port = await handOver.listen(loopback);

  expect(await text(connect(port))).toBe('served');
  expect(returning.accept).toHaveBeenCalledOnce();
  handOver.close();
});

test('one that finds no target waits for the first that serves', async () => {
  let noteAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    noteAsked = resolve;
  });
  let isServing = false;
  const later: ConnectionTarget = {
    get isServing() {
      noteAsked();
      return isServing;
    },
    accept: serving.accept,
  };
  const handOver = new HandOver([later]);
  const port = await handOver.listen(loopback);
  const answer = text(connect(port));
  await asked;

  isServing = true;
  handOver.assignWaiting();

  expect(await answer).toBe('served');
  handOver.close();
});

test('a process gives back what it got too late, and leaves it open', async () => {
  const server = createServer({ pauseOnConnect: true }).listen(loopback);
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port);
  const [accepted] = (await once(server, 'connection')) as [Socket];
  const worker = spawnWorker(1);
  await once(worker, 'message'); // it receives commands
  const command: WorkerCommand = { kind: 'connection', id: 7, untilMs: 0 };

  worker.send(command, accepted, { keepOpen: true });
  const [message] = await once(worker, 'message');
  const gone = once(worker, 'exit');
  worker.kill('SIGKILL');
  await gone;
  accepted.end('still open');

  expect(message).toEqual({ kind: 'taken', id: 7, isLate: true });
  expect(await text(client)).toBe('still open');
  server.close();
});

test('connections on their way to a worker that dies are answered by another', async () => {
  const provider = await host((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer),
  );
  const gateway = await serve(withHost(provider));
  const [first = 0] = gateway.workers;
  process.kill(first, 'SIGSTOP'); // it confirms nothing
  const answers = all(20, gateway);
  await expect.poll(() => provider.requests.length).toBeGreaterThanOrEqual(10); // the other worker's half

  process.kill(first, 'SIGKILL');

  expect(await answers).toEqual(Array(20).fill(200));
  expect(provider.requests).toHaveLength(20);
});

test('a worker that hangs gets no more connections, and takes none that another has', async () => {
  const provider = await host((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer),
  );
  const gateway = await serve(withHost(provider));
  const [first = 0, second = 0] = gateway.workers;
  process.kill(first, 'SIGSTOP');

  expect(await all(20, gateway)).toEqual(Array(20).fill(200));
  process.kill(first, 'SIGCONT');
  expect(await answered(gateway)).toBe(200);
  process.kill(second, 'SIGSTOP');
  // Its turn comes again, and it answers all by itself.
  expect(await all(4, gateway)).toEqual(Array(4).fill(200));
  expect(provider.requests).toHaveLength(25);
  process.kill(second, 'SIGCONT'); // or it outlives its gateway
});

test('without any worker a connection is reset in about a second, and served again afterwards', async () => {
  const provider = await host((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer),
  );
  const gateway = await serve(withHost(provider));
  for (const pid of gateway.workers) process.kill(pid, 'SIGSTOP');
  const waiting = Promise.allSettled(Array.from({ length: 4 }, () => askAlone(gateway)));

  for (const pid of gateway.workers) process.kill(pid, 'SIGKILL');
  const ended = await waiting;

  expect(ended).toHaveLength(4);
  expect(await answered(gateway)).toBe(200);
});
