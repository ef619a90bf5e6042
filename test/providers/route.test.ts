import { expect, test } from 'vitest';
import type { ModelEntry } from '../../src/config/build/models.ts';
import { createModelRouter } from '../../src/providers/route.ts';
import { makeProvider } from './make-provider.ts';

const one = makeProvider('http://one.example');
const providers = new Map([['one', [one]]]);

function entry(targets: ModelEntry['targets']): ModelEntry {
  return { match: 'm*', isPattern: true, targets } as ModelEntry; // the router reads the targets alone
}

test('returns the targets in order, with the name at each provider, without those that have no provider', () => {
  const found = entry([{ provider: 'gone' }, { provider: 'one', model: 'other' }, { provider: 'one' }]);
  const router = createModelRouter({
    models: [found],
    findModel: (name) => (name.startsWith('m') ? found : undefined),
    findKnown: () => undefined,
    providers,
  });

  expect(router.resolve('m1')).toEqual({
    entry: found,
    targets: [
      { provider: one, model: 'other', entry: found, choice: found.targets[1] },
      { provider: one, model: 'm1', entry: found, choice: found.targets[2] },
    ],
  });
  expect(router.resolve('x')).toBeUndefined();
});

test('remembers names, found or not, but not without end', () => {
  let lookups = 0;
  const router = createModelRouter({
    models: [],
    findModel: (name) => {
      lookups += 1;
      return name === 'm' ? entry([{ provider: 'one' }]) : undefined;
    },
    findKnown: () => undefined,
    providers,
  });

  for (let i = 0; i < 3; i += 1) for (const name of ['m', 'x']) router.resolve(name);
  expect(lookups).toBe(2);

  for (let i = 0; i < 3_000; i += 1) router.resolve(`x${i}`);
  expect(router.resolve('m')?.targets).toHaveLength(1);
  expect(lookups).toBe(3_003);
});
