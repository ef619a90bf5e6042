import { expect, test, vi } from 'vitest';
import { chatAnswer } from '../../../kit/answers.ts';
import { askAlone, type Gateway, host, serve, withHost } from './serving.ts';

// Connections of a gateway whose workers are stopped or killed. What limits these is a busy machine.
vi.setConfig({ testTimeout: 120_000 });

async function start() {
  const provider = await host((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer),
  );
  return { provider, gateway: await serve(withHost(provider)) };
}

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

test('connections on their way to a worker that dies are answered by another', async () => {
  const { gateway, provider } = await start();
  const [first = 0] = gateway.workers;
  process.kill(first, 'SIGSTOP'); // it confirms nothing
  const answers = all(20, gateway);
  await expect.poll(() => provider.requests.length).toBeGreaterThanOrEqual(10); // the other worker's half

  process.kill(first, 'SIGKILL');

  expect(await answers).toEqual(Array(20).fill(200));
  expect(provider.requests).toHaveLength(20);
});

test('a worker that hangs gets no more connections, and takes none that another has', async () => {
  const { gateway, provider } = await start();
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
  const { gateway } = await start();
  for (const pid of gateway.workers) process.kill(pid, 'SIGSTOP');
  const waiting = Promise.allSettled(Array.from({ length: 4 }, () => askAlone(gateway)));

  for (const pid of gateway.workers) process.kill(pid, 'SIGKILL');
  const ended = await waiting;

  expect(ended).toHaveLength(4);
  expect(await answered(gateway)).toBe(200);
});
