import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { takeTurns } from '../../../src/gateway/answer/take-turns.ts';
import { PieceBudget } from '../../../src/lib/tick-queue.ts';
import { WrittenAnswer } from '../relaying.ts';

/** A reader that uses up a tick's time with each slice. */
function slowReader(name: string, budget: PieceBudget, read: string[]) {
  const answer = new WrittenAnswer();
  const shared = takeTurns(answer, { budget, sliceBytes: 16_384 });
  shared.pipe({
    data: (slice) => {
      budget.spend(1_000);
      read.push(`${name} ${slice.length}`);
      return true;
    },
    end: () => read.push(`${name} end`),
    fail: () => read.push(`${name} failed`),
  });
  return { answer, shared };
}

test('answers that cost much are read in slices and in turns, each to its end', async () => {
  const budget = new PieceBudget();
  const read: string[] = [];
  const answers = ['a', 'b'].map((name) => slowReader(name, budget, read).answer);

  for (const answer of answers) {
    answer.write('x'.repeat(40_000));
    answer.sink.end();
  }
  const atOnce = [...read];
  for (let tick = 0; tick < 20; tick += 1) await nextTick();

  expect(atOnce).toEqual(['a 16384']);
  expect(read).toEqual(['a 16384', 'a 16384', 'b 16384', 'a 7232', 'a end', 'b 16384', 'b 7232', 'b end']);
});

test('the host is paused until all that came is read', async () => {
  const budget = new PieceBudget();
  const { answer } = slowReader('a', budget, []);

  const goesOn = [answer.write('x'.repeat(20_000)), answer.write('more')];
  const before = answer.timesResumed;
  for (let tick = 0; tick < 10; tick += 1) await nextTick();

  expect(goesOn).toEqual([false, false]);
  expect([before, answer.timesResumed]).toEqual([0, 1]);
});

test('a reader that waits gets nothing until it asks for more', () => {
  const answer = new WrittenAnswer();
  const slices: number[] = [];
  const shared = takeTurns(answer, { budget: new PieceBudget(), sliceBytes: 16_384 });
  shared.pipe({
    data: (slice) => slices.push(slice.length) > 1,
    end: () => slices.push(0),
    fail: () => undefined,
  });

  const goesOn = answer.write('x'.repeat(20_000));
  answer.sink.end();
  const before = [...slices];
  shared.resume();

  expect(goesOn).toBe(false);
  expect(before).toEqual([16_384]);
  expect(slices).toEqual([16_384, 3_616, 0]);
});

test('what was not read of an abandoned answer never is', async () => {
  const read: string[] = [];
  const { answer, shared } = slowReader('a', new PieceBudget(), read);

  answer.write('x'.repeat(40_000));
  answer.sink.end();
  shared.abort();
  for (let tick = 0; tick < 10; tick += 1) await nextTick();

  expect(read).toEqual(['a 16384']);
  expect(answer.wasAborted).toBe(true);
});
