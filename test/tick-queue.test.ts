import { once } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TickQueue } from '../src/tick-queue.ts';

test('waits where more than four exchanges are open, and no longer when they are over', () => {
  const ticks = new TickQueue();

  for (let i = 0; i < 4; i += 1) ticks.enter();
  const isBusyWithFour = ticks.isBusy;
  ticks.enter();
  const isBusyWithFive = ticks.isBusy;
  ticks.leave();

  expect([isBusyWithFour, isBusyWithFive, ticks.isBusy]).toEqual([false, true, false]);
});

test('runs all steps of a tick in order, and those that they queue in the next one', async () => {
  const ticks = new TickQueue();
  const taken: string[] = [];
  for (const name of ['a', 'b']) {
    ticks.later(() => {
      taken.push(name);
      ticks.later(() => taken.push(`${name} again`));
    });
  }
  taken.push('before');

  await nextTick();
  await nextTick();

  expect(taken).toEqual(['before', 'a', 'b', 'a again', 'b again']);
});

test('a step that throws leaves the others to the next tick', async () => {
  const ticks = new TickQueue();
  const taken: string[] = [];
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const thrown = once(process, 'uncaughtException');
  ticks.later(() => taken.push('a'));
  ticks.later(() => {
    throw new Error('broken');
  });
  ticks.later(() => taken.push('c'));

  const [error] = await thrown;
  await nextTick();
  await nextTick();
  for (const listener of listeners) process.on('uncaughtException', listener);

  expect(taken).toEqual(['a', 'c']);
  expect(error).toMatchObject({ message: 'broken' });
});
