import { afterEach, expect, test, vi } from 'vitest';
import { PageThreads } from '../../../../src/inspector/tasks/page-threads.ts';

const broken = new URL('data:text/javascript,throw new Error("the file is gone")');
const query = { place: { kind: 'file', path: '' }, by: 'hour', sinceMs: 0, nowMs: 0 } as never;

afterEach(() => {
  vi.useRealTimers();
});

/** A thread that says when it has its task, and then sends an answer if there is one. */
function answering(answer: string): URL {
  const source = `import { parentPort } from 'node:worker_threads';
    parentPort.once('message', () => {
      parentPort.postMessage({ isBegun: true });
      ${answer}
    });
    setInterval(() => undefined, 1000);`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

test('a thread that fails ends nothing but itself', async () => {
  const threads = new PageThreads(broken);

  await expect(threads.run({ kind: 'history', query })).rejects.toMatchObject({ code: 'inspector.too_long' });
});

test('two tasks run at a time, and a third is not even begun', async () => {
  const threads = new PageThreads(answering('setTimeout(() => parentPort.postMessage({ value: 7 }), 100);'));
  const run = () => threads.run({ kind: 'history', query });

  const running = [run(), run()];

  await expect(run()).rejects.toMatchObject({ code: 'inspector.busy' });
  expect(await Promise.all(running)).toEqual([7, 7]);
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
