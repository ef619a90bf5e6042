import { expect, test } from 'vitest';
import { MinuteWindow } from '../../src/limits/memory-counters.ts';
import { createRandom } from '../kit/random.ts';

test('names the wait until so much is left', () => {
  const window = new MinuteWindow();
  window.add(5, 0);
  window.add(5, 10_000);

  const waits = [window.waitMs(10, 20_000), window.waitMs(5, 20_000), window.waitMs(0, 20_000)];

  expect(waits).toEqual([0, 41_000, 51_000]);
});

test('a late release has no effect once its second has left the window', () => {
  const window = new MinuteWindow();
  window.add(100, 0);

  window.add(-90, 0);
  const within = window.used(5_000);
  const after = window.used(120_000);
  window.add(-10, 0);

  expect([within, after, window.used(120_000)]).toEqual([10, 0, 0]);
});

test('agrees with a list of all additions, whatever their order and gaps', () => {
  const random = createRandom(7).below;
  const window = new MinuteWindow();
  const added: { at: number; amount: number }[] = [];
  let now = 0;

  for (let step = 0; step < 5_000; step += 1) {
    now += random(10) === 0 ? random(90_000) : random(2_000);
    const at = Math.max(0, now - (random(5) === 0 ? random(70_000) : 0));
    const amount = random(100);
    window.add(amount, at);
    if (Math.floor(at / 1_000) > Math.floor(now / 1_000) - 61) added.push({ at, amount });
    const seconds = Math.floor(now / 1_000);
    const sum = added.reduce(
      (all, each) => (Math.floor(each.at / 1_000) > seconds - 61 ? all + each.amount : all),
      0,
    );
    expect(window.used(now)).toBe(sum);
  }
});
