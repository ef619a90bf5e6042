import { expect, test } from 'vitest';
import { PageThreads } from '../../../../src/inspector/tasks/page-threads.ts';

test('a thread that fails ends nothing but itself', async () => {
  const threads = new PageThreads(new URL('data:text/javascript,throw new Error("the file is gone")'));

  await expect(threads.run({ kind: 'history', query })).rejects.toMatchObject({ code: 'inspector.too_long' });
});

test('the time of a task begins when a thread has it, however long the thread took to start', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const threads = new PageThreads(answering('parentPort.postMessage({ value: 7 });'));

  const running = threads.run({ kind: 'history', query });
  vi.advanceTimersByTime(20_000);

  expect(await running).toBe(7);
});

test('a task that takes longer than five seconds is ended', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const threads = new PageThreads(answering(''));

  const running = threads.run({ kind: 'history', query });
  const refused = expect(running).rejects.toThrow('this took longer than 5 s');
  const advancing = setInterval(() => vi.advanceTimersByTime(1_000), 100);
  await refused;
  clearInterval(advancing);
});
