import { describe, expect, test } from 'vitest';
import { Health } from '../../src/providers/health.ts';

const options = { failures: 3, openMs: 1_000 };
const newHealth = (trustsAnswers = false) => new Health(options, { trustsAnswers });
const times = (count: number, act: () => void) => {
  for (let i = 0; i < count; i += 1) act();
};

describe('outcomes that are not answers', () => {
  test('keeps requests for every model away', () => {
    const health = newHealth();
    times(3, () => health.failed('one', 0));

    expect([health.waitMs('one', 400), health.waitMs('other', 400)]).toEqual([600, 600]);
  });

  test('counts across the models of a host, and an answer resets the count', () => {
    const health = newHealth();
    health.failed('one', 0);
    health.failed('other', 0);
    health.answered('third', 500, 0);
    times(2, () => health.failed('one', 0));

    expect(health.isOpen('one')).toBe(false);
  });

  test('lets one probe through, for whichever model', () => {
    const health = newHealth();
    times(3, () => health.failed('one', 0));

    expect([health.admit('other', 1_000), health.admit('one', 1_000)]).toEqual([0, 1_000]);
    health.answered('other', 200, 1_100);
    expect(health.waitMs('one', 1_100)).toBe(0);
  });
});

describe('an answer', () => {
  test.each([500, 502, 503, 504, 529])(
    'of %i keeps requests for its model away, and for no other',
    (status) => {
      const health = newHealth();
      times(3, () => health.answered('one', status, 0));

      expect([health.admit('one', 400), health.admit('other', 400)]).toEqual([600, 0]);
      expect([health.isOpen('one'), health.isOpen('other')]).toEqual([true, false]);
      expect([health.admit('one', 1_000), health.admit('one', 1_000)]).toEqual([0, 1_000]);
    },
  );

  test.each([200, 400, 401, 404, 413, 422, 429, 501])('of %i keeps nothing away', (status) => {
    const health = newHealth();
    times(10, () => health.answered('one', status, 0));

    expect(health.isOpen('one')).toBe(false);
  });

  test('that is none of 5xx makes its model well again', () => {
    const health = newHealth();
    times(2, () => health.answered('one', 500, 0));
    health.answered('one', 429, 0);
    times(2, () => health.answered('one', 500, 0));

    expect(health.isOpen('one')).toBe(false);
  });

  test('of a provider that fails as it is asked to counts for nothing', () => {
    const health = newHealth(true);
    times(10, () => health.answered('sandbox-error-500', 500, 0));

    expect(health.isOpen('sandbox-error-500')).toBe(false);
  });
});

test('a probe that fails keeps requests away for the whole time again', () => {
  const health = newHealth();
  times(3, () => health.failed('one', 0));
  health.admit('one', 1_000);

  health.failed('one', 1_500);

  expect([health.isOpen('one'), health.waitMs('one', 1_500), health.waitMs('one', 2_500)]).toEqual([
    true,
    1_000,
    0,
  ]);
});

test('a probe whose client left lets the next one through', () => {
  const health = newHealth();
  times(3, () => health.answered('one', 500, 0));
  health.admit('one', 1_000);

  health.abstained('one');

  expect(health.admit('one', 1_000)).toBe(0);
});

test('names that clients make up are forgotten, the oldest first', () => {
  const health = newHealth();
  times(3, () => health.answered('old', 500, 0));
  for (let i = 0; i < 1_000; i += 1) health.answered(`made-up-${i}`, 500, 0);

  expect(health.isOpen('old')).toBe(false);
});

describe('shared with another process', () => {
  /** Two that follow each other, as over a channel. */
  function pair() {
    let other: Health | undefined;
    const make = (to: () => Health | undefined) =>
      new Health(options, { trustsAnswers: false, onChange: (change) => to()?.follow(change, 0) });
    const one = make(() => other);
    other = make(() => one);
    return [one, other] as const;
  }

  test('what opens here opens there, a little longer, so that one of them probes first', () => {
    const [one, two] = pair();
    times(3, () => one.failed('m', 0));

    expect([one.waitMs('m', 0), Math.round(two.waitMs('m', 0))]).toEqual([1_000, 1_100]);
  });

  test('a model that opens here opens there, and no other; a probe that goes well opens both for requests', () => {
    const [one, two] = pair();
    times(3, () => one.answered('m', 500, 0));
    const opened = [two.isOpen('m'), two.isOpen('other')];
    one.admit('m', 1_000);
    one.answered('m', 200, 1_010);

    expect(opened).toEqual([true, false]);
    expect([one.isOpen('m'), two.isOpen('m')]).toEqual([false, false]);
  });

  test('what is followed is not passed on', () => {
    const changes: unknown[] = [];
    const health = new Health(options, { trustsAnswers: false, onChange: (change) => changes.push(change) });
    health.follow({ isOpen: true }, 0);
    health.follow({ model: 'm', isOpen: true }, 0);
    health.follow({ model: 'm', isOpen: false }, 0);
    health.follow({ isOpen: false }, 0);

    expect(changes).toEqual([]);
    expect(health.waitMs('m', 0)).toBe(0);
  });
});

describe('a rest', () => {
  const health = () => new Health({ failures: 5, openMs: 30_000 }, { trustsAnswers: false });

  test('is as long as the host asks, for that model alone, and for all where its key is refused', () => {
    const own = health();

    own.rest('a', 1_000, 500);
    expect([own.restMs('a', 1_200), own.restMs('b', 1_200), own.restMs('a', 1_500)]).toEqual([300, 0, 0]);

    own.rest(undefined, 2_000, 900);
    expect([own.restMs('a', 2_000), own.restMs('b', 2_000)]).toEqual([900, 900]);
    expect(own.waitMs('a', 2_000)).toBe(0);
  });

  test('without a time grows from a second to a minute, and begins anew after an answer', () => {
    const own = health();
    const restAt = (nowMs: number) => {
      own.rest('a', nowMs);
      return own.restMs('a', nowMs);
    };

    const rests = Array.from({ length: 8 }, (_, i) => restAt(i * 100_000));
    own.answered('a', 200, 700_001);
    const during = restAt(700_002);
    own.answered('a', 429, 900_000);
    own.answered('a', 200, 900_000);

    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(during).toBe(60_000);
    expect(restAt(900_001)).toBe(1_000);
  });
});
