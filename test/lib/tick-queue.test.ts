import { once } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PieceBudget, TickQueue } from '../../src/lib/tick-queue.ts';

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

test('runs a step soon: among many open exchanges at the end of the tick, else before other callbacks', async () => {
  const ticks = new TickQueue();
  const taken: string[] = [];
  ticks.soon(() => taken.push('few'));
  for (let open = 0; open < 5; open += 1) ticks.enter();
  ticks.soon(() => taken.push('many'));
  ticks.later(() => taken.push('later'));

  await new Promise((resolve) => process.nextTick(resolve));
  const before = [...taken];
  await nextTick();

  expect([before, taken]).toEqual([['few'], ['few', 'many', 'later']]);
});

test('a step that throws leaves the others to the next tick', async () => {
  const ticks = new TickQueue();
  const taken: string[] = [];
  const thrown = nextUncaught();
  ticks.later(() => taken.push('a'));
  ticks.later(() => {
    throw new Error('broken');
  });
  ticks.later(() => taken.push('c'));

  const error = await thrown;
  await nextTick();
  await nextTick();

  expect(taken).toEqual(['a', 'c']);
  expect(error).toMatchObject({ message: 'broken' });
});

/** The next error that nothing catches, of which the test runner hears nothing. */
async function nextUncaught(): Promise<unknown> {
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const [error] = await once(process, 'uncaughtException');
  for (const listener of listeners) process.on('uncaughtException', listener);
  return error;
}

/** Takes pieces until there is to be a pause; goes on where that ends, until there are no more. */
function reader(budget: PieceBudget, name: string, pieces: number, taken: string[]) {
  let left = pieces;
  const go = () => {
    while (left > 0) {
      left -= 1;
      taken.push(name);
      if (!budget.take(0, { goOn: go })) return;
    }
  };
  return go;
}

test('many pieces are shared out over ticks, in turns, and all of them are taken', async () => {
  const budget = new PieceBudget(10);
  const taken: string[] = [];
  const perTick: number[] = [];

  for (const name of ['a', 'b', 'c']) reader(budget, name, 40, taken)();
  while (taken.length < 120 && perTick.length < 100) {
    const before = taken.length;
    await nextTick();
    perTick.push(taken.length - before);
  }

  expect(taken).toHaveLength(120);
  expect(Math.max(...perTick)).toBeLessThanOrEqual(10);
  // Nobody waits until another is done.
  expect(new Set(taken.slice(12, 42))).toEqual(new Set(['a', 'b', 'c']));
});

test('a paused answer that throws when it goes on does not hold up those behind it', async () => {
  const budget = new PieceBudget(10);
  const thrown = nextUncaught();
  const goneOn: string[] = [];
  const broken = () => {
    throw new Error('broken');
  };
  budget.take(2_000, { goOn: broken });
  budget.take(0, { goOn: () => goneOn.push('next') });

  const error = await thrown;
  await nextTick();
  await nextTick();

  expect(error).toMatchObject({ message: 'broken' });
  expect(goneOn).toEqual(['next']);
});

const unpaused = { goOn: () => expect.unreachable() };
const paused = { goOn: () => undefined };

test('few pieces never wait', () => {
  const budget = new PieceBudget(10);

  const mayGoOn = Array.from({ length: 9 }, () => budget.take(0, unpaused));

  expect(mayGoOn).not.toContain(false);
});

test('what earlier ticks used does not count', async () => {
  const budget = new PieceBudget(10);
  const mayGoOn: boolean[] = [];

  for (let tick = 0; tick < 20; tick += 1) {
    for (let piece = 0; piece < 5; piece += 1) mayGoOn.push(budget.take(0, unpaused));
    await nextTick();
  }

  expect(mayGoOn).not.toContain(false);
});

test('nor does the time that other work took in earlier ticks', async () => {
  const budget = new PieceBudget(10);

  budget.spend(1);
  await nextTick();

  expect(budget.hasLeft(unpaused)).toBe(true);
});

test('a long piece counts as several', () => {
  const budget = new PieceBudget(10);

  expect(budget.take(1_024, unpaused)).toBe(true);
  expect(budget.take(1_024, paused)).toBe(false);
});

test('other work counts by its time', () => {
  const budget = new PieceBudget(10);
  budget.spend(1);

  expect(budget.hasLeft(paused)).toBe(false);
});
