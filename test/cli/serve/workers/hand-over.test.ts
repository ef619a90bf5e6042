import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { type ConnectionTarget, HandOver } from '../../../../src/server/workers/hand-over.ts';
import type { WorkerCommand } from '../../../../src/server/workers/messages.ts';
import { spawnWorker } from '../../../../src/server/workers/spawn-worker.ts';

// What limits these is a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const loopback = { host: '127.0.0.1', port: 0 };

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
  const worker = spawnWorker(1, {});
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
