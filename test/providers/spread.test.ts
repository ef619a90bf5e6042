import { describe, expect, test } from 'vitest';
import { shareOf, spread } from '../../src/providers/route.ts';

interface Host {
  readonly provider: string;
  readonly weight?: number;
  readonly keys?: readonly string[];
}

/** The targets of an entry, named by provider and key; what has no weight is a fallback. */
function targetsOf(hosts: readonly Host[]) {
  const entry = { targets: hosts.map(({ provider, weight }) => ({ provider, ...(weight && { weight }) })) };
  return hosts.flatMap(({ provider, keys = [undefined] }, index) =>
    keys.map((keyName) => ({
      name: keyName === undefined ? provider : `${provider}/${keyName}`,
      share: shareOf(entry, { entry: 0, index, provider, model: 'm', keyName }),
    })),
  );
}

const sessions = Array.from({ length: 20_000 }, (_, i) => `key\nsession-${i.toString(16)}`);
const firstOf = (targets: ReturnType<typeof targetsOf>, session: string | undefined) =>
  spread(targets, session)[0]?.name ?? '';

function sharesOf(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].map(([name, count]) => [name, count / names.length]));
}

const three = targetsOf([
  { provider: 'a', weight: 1 },
  { provider: 'b', weight: 2 },
  { provider: 'c', weight: 3 },
]);

describe('a session', () => {
  test('has one target, and as many sessions as its weight says each target', () => {
    const shares = sharesOf(sessions.map((session) => firstOf(three, session)));

    expect(shares.a).toBeCloseTo(1 / 6, 1.7);
    expect(shares.b).toBeCloseTo(2 / 6, 1.7);
    expect(shares.c).toBeCloseTo(3 / 6, 1.7);
    expect(firstOf(three, sessions[0])).toBe(firstOf(three, sessions[0]));
  });

  test('moves to a target that is added, or stays where it is', () => {
    const four = targetsOf([
      ...['a', 'b', 'c'].map((provider, i) => ({ provider, weight: i + 1 })),
      { provider: 'd', weight: 2 },
    ]);

    const moved = sessions.filter((session) => firstOf(three, session) !== firstOf(four, session));

    expect(moved.every((session) => firstOf(four, session) === 'd')).toBe(true);
    expect(moved.length / sessions.length).toBeCloseTo(2 / 8, 1.7);
  });

  test('goes, where its target is taken away, to the one that it would have tried next', () => {
    const left = three.filter(({ name }) => name !== 'c');

    for (const session of sessions.slice(0, 500)) {
      const before = spread(three, session).map(({ name }) => name);
      expect(spread(left, session).map(({ name }) => name)).toEqual(before.filter((name) => name !== 'c'));
    }
  });

  test('tries the other keys of its target before another one, and a new key moves sessions of its target alone', () => {
    const hosts = (keys: readonly string[]) =>
      targetsOf([
        { provider: 'a', weight: 1, keys },
        { provider: 'b', weight: 1, keys: ['one', 'two'] },
      ]);
    const before = hosts(['one', 'two']);
    const after = hosts(['one', 'two', 'three']);

    for (const session of sessions.slice(0, 500)) {
      const order = spread(before, session).map(({ name }) => name.split('/')[0]);
      expect(order[0] === order[1] && order[2] === order[3]).toBe(true);
    }
    const moved = sessions.filter((session) => firstOf(before, session) !== firstOf(after, session));
    expect(moved.every((session) => firstOf(after, session) === 'a/three')).toBe(true);
    expect(moved.length / sessions.length).toBeCloseTo(1 / 6, 1.7);
  });
});

test('without a session requests are spread by weight', () => {
  const shares = sharesOf(sessions.map(() => firstOf(three, undefined)));

  expect(shares.a).toBeCloseTo(1 / 6, 1.5);
  expect(shares.c).toBeCloseTo(3 / 6, 1.5);
});

test('fallbacks stay behind, each with its own keys', () => {
  const all = targetsOf([
    { provider: 'a', weight: 1 },
    { provider: 'b', weight: 1 },
    { provider: 'c', keys: ['one', 'two'] },
    { provider: 'd' },
  ]);
  const orders = new Set(
    sessions.slice(0, 500).map((session) =>
      spread(all, session)
        .map(({ name }) => name)
        .join(),
    ),
  );

  expect([...orders].toSorted()).toEqual([
    'a,b,c/one,c/two,d',
    'a,b,c/two,c/one,d',
    'b,a,c/one,c/two,d',
    'b,a,c/two,c/one,d',
  ]);
});

test('what is alone is left as it is', () => {
  const alone = targetsOf([{ provider: 'a' }, { provider: 'b' }]);

  expect(spread(alone, 'key\nsession')).toBe(alone);
});
