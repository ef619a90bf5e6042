import { expect, test } from 'vitest';
import type { Claim, Grant } from '../../src/limits/counters.ts';
import { CounterService, type RemoteCounters } from '../../src/limits/shared-counters.ts';
import { connect } from './remote-counters.ts';

const budget: Claim = {
  counter: 'b',
  kind: 'period',
  max: 50,
  amount: 1,
  endsMs: Date.now() + 1e9,
  isEnforced: true,
};
const level: Claim = { ...budget, counter: 'l', kind: 'level', max: 2 };

function granted(grants: readonly Grant[]): number {
  return grants.filter(({ isGranted }) => isGranted).length;
}

test('workers share a budget exactly', async () => {
  const service = new CounterService();
  const workers = [connect(service, 1), connect(service, 2)];

  const grants = await Promise.all(
    Array.from({ length: 400 }, (_, i) => (workers[i % 2] as RemoteCounters).reserve([budget], Date.now())),
  );

  expect(granted(grants)).toBe(50);
});

test('what a worker releases on settling is available to the others', async () => {
  const service = new CounterService();
  const [one, two] = [connect(service, 1), connect(service, 2)];
  const first = await one.reserve([{ ...budget, amount: 50 }], Date.now());
  const before = await two.reserve([budget], Date.now());

  if (first.isGranted) one.settle(first.ticket, [10]);
  const after = await two.reserve([budget], Date.now());

  expect([before.isGranted, after.isGranted]).toEqual([false, true]);
});

test('the places of a worker that dies are free again, and its worst case stays counted', async () => {
  const service = new CounterService();
  const [one, two] = [connect(service, 1), connect(service, 2)];
  await one.reserve([level, { ...budget, amount: 49 }], Date.now());
  await one.reserve([level], Date.now());

  service.release(1);
  const grants = [
    await two.reserve([level], Date.now()),
    await two.reserve([level], Date.now()),
    await two.reserve([{ ...budget, amount: 2 }], Date.now()),
  ];

  expect(grants.map(({ isGranted }) => isGranted)).toEqual([true, true, false]);
});
