import { expect, test } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import { CredentialCache } from '../../../src/providers/credentials/credential-cache.ts';

const hourMs = 3_600_000;

/** A cache over numbered values that each last an hour, with a clock of its own. */
function numbered({ patienceMs = 1_000 } = {}) {
  const state = { nowMs: 1_000_000, fetches: 0, failure: undefined as Error | undefined, hangs: false };
  const cache = new CredentialCache({
    failure: 'no credentials: log in',
    patienceMs,
    clock: () => state.nowMs,
    fetch: async () => {
      state.fetches += 1;
      if (state.hangs) await new Promise(() => undefined);
      if (state.failure !== undefined) throw state.failure;
      return { value: state.fetches, endsAtMs: state.nowMs + hourMs };
    },
  });
  return { cache, state };
}

test('many who wait for the first one wait for one fetch; the next get it at once', async () => {
  const { cache, state } = numbered();

  const first = await Promise.all(Array.from({ length: 50 }, () => cache.get()));

  expect(new Set(first)).toEqual(new Set([1]));
  expect(await cache.get()).toBe(1);
  expect(state.fetches).toBe(1);
});

test('shortly before it ends another one is fetched while the old one is used', async () => {
  const { cache, state } = numbered();
  await cache.get();
  state.nowMs += hourMs - 4 * 60_000;

  expect(await cache.get()).toBe(1);
  await new Promise(setImmediate);

  expect(await cache.get()).toBe(2);
  expect(state.fetches).toBe(2);
});

test('one that has all but ended is not used any more', async () => {
  const { cache, state } = numbered();
  await cache.get();
  state.nowMs += hourMs - 10_000;

  expect(await cache.get()).toBe(2);
});

test('a failed renewal leaves the old one in use until it ends', async () => {
  const { cache, state } = numbered();
  await cache.get();
  state.failure = new Error('the token endpoint is down');
  state.nowMs += hourMs - 4 * 60_000;

  expect(await cache.get()).toBe(1);
  await new Promise(setImmediate);
  expect(await cache.get()).toBe(1);
  expect(state.fetches).toBe(2);

  state.nowMs += 4 * 60_000;
  await expect(Promise.resolve(cache.get())).rejects.toMatchObject({
    code: 'provider.credentials_missing',
    message: 'no credentials: log in',
    cause: state.failure,
  });
});

test('a failure is the answer for two seconds, then it is tried again', async () => {
  const { cache, state } = numbered();
  state.failure = new Error('no');
  await expect(cache.get()).rejects.toBeInstanceOf(GatewayError);

  await expect(cache.get()).rejects.toBeInstanceOf(GatewayError);
  expect(state.fetches).toBe(1);

  state.failure = undefined;
  state.nowMs += 2_001;
  expect(await cache.get()).toBe(2);
});

test('a metadata server that never answers ends the wait', async () => {
  const { cache, state } = numbered({ patienceMs: 5 });
  state.hangs = true;

  const error = await Promise.resolve(cache.get()).catch((thrown: unknown) => thrown);

  expect(error).toMatchObject({ code: 'provider.credentials_missing' });
  expect(String((error as GatewayError).cause)).toBe('Error: nothing came within 5 ms');
});

test('all who were refused with the same one get the next one, however late they hear of it', async () => {
  const { cache, state } = numbered();
  await cache.get();
  state.nowMs += 61_000;

  expect([cache.refused(100), cache.refused(100)]).toEqual([true, true]);
  await cache.get();
  state.nowMs += 50;

  expect(cache.refused(100)).toBe(true);
  expect(cache.refused(40)).toBe(false);
  expect(await cache.get()).toBe(2);
});
