import { expect, test } from 'vitest';
import { chatAnswer } from '../../../kit/answers.ts';
import { askAlone, host, serve, withHost } from './serving.ts';

test('connections on their way to a worker that dies are answered by another', async () => {
  const provider = await host((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer),
  );
  const gateway = await serve(withHost(provider));
  const [first = 0] = gateway.workers;
  process.kill(first, 'SIGSTOP'); // it confirms nothing
  const answers = Array.from({ length: 20 }, () => askAlone(gateway));
  await expect.poll(() => provider.requests.length).toBeGreaterThanOrEqual(10); // the other worker's half

  process.kill(first, 'SIGKILL');

  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test('a worker that hangs gets no more connections, and takes none that another has', async () => {
  const provider = await host((response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer),
  );
  const gateway = await serve(withHost(provider));
  const [first = 0, second = 0] = gateway.workers;
  process.kill(first, 'SIGSTOP');

  const answers = await Promise.all(Array.from({ length: 20 }, () => askAlone(gateway)));

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  process.kill(first, 'SIGCONT');
  await askAlone(gateway);
  process.kill(second, 'SIGSTOP');
  // Its turn comes again, and it answers all by itself.
  const later = await Promise.all(Array.from({ length: 4 }, () => askAlone(gateway)));
  expect(later.map(({ status }) => status)).toEqual(later.map(() => 200));
  expect(provider.requests).toHaveLength(25);
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
  await expect
    .poll(() =>
      askAlone(gateway).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
});
