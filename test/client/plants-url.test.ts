import { beforeEach, expect, test } from 'vitest';
import { plantsBaseUrl } from '../../src/cli/plants/connect.ts';
import { writeState } from '../../src/client/state.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';

let env: Record<string, string>;
beforeEach(() => {
  env = { XDG_STATE_HOME: emptyDirectory() };
});

test('PLANTS_URL goes before the configuration, that before the running gateway, that before a store alone', () => {
  writeState(env, 'plants.json', { url: 'http://127.0.0.1:4501/v3', pid: process.pid });
  expect(plantsBaseUrl(env)).toBe('http://127.0.0.1:4501/v3');
  writeState(env, 'running.json', { plants_url: 'http://127.0.0.1:4201/v3' });
  expect(plantsBaseUrl(env)).toBe('http://127.0.0.1:4201/v3');
  expect(plantsBaseUrl(env, 'http://127.0.0.1:4301/v3')).toBe('http://127.0.0.1:4301/v3');
  expect(plantsBaseUrl({ ...env, PLANTS_URL: 'http://127.0.0.1:4401/v3' }, 'http://127.0.0.1:4301')).toBe(
    'http://127.0.0.1:4401/v3',
  );
});

test('a store that the running gateway could not start is not looked for in the usual place', () => {
  const problem = 'not started: port 4101 is taken';
  const left = { url: 'http://127.0.0.1:4100', plants_problem: problem };
  writeState(env, 'running.json', { ...left, pid: process.pid, proof: { challenge: 'c', answer: 'a' } });

  expect(() => plantsBaseUrl(env)).toThrow(/was not started: port 4101 is taken; .* PLANTS_URL$/);
  expect(plantsBaseUrl({ ...env, PLANTS_URL: 'http://127.0.0.1:4101' })).toBe('http://127.0.0.1:4101/v3');
  expect(plantsBaseUrl(env, 'http://127.0.0.1:4301/v3')).toBe('http://127.0.0.1:4301/v3');

  // Nobody has such a high process id: the gateway is gone.
  writeState(env, 'running.json', { ...left, pid: 2 ** 30, proof: { challenge: 'c', answer: 'a' } });
  expect(() => plantsBaseUrl(env)).toThrow(/^no plant store of yours is running/);
});

test('whatever listens at the usual address gets nothing, unless it is named', () => {
  const message = /^no plant store of yours is running; .*PLANTS_URL=http:\/\/127\.0\.0\.1:4101\/v3$/;
  expect(() => plantsBaseUrl(env)).toThrow(message);

  // Nobody has such a high process id: the store is gone.
  writeState(env, 'plants.json', { url: 'http://127.0.0.1:4101/v3', pid: 2 ** 30 });
  expect(() => plantsBaseUrl(env)).toThrow(message);
  expect(plantsBaseUrl({ ...env, PLANTS_URL: 'http://127.0.0.1:4101/v3' })).toBe('http://127.0.0.1:4101/v3');
});

test('an address without a path gets the base path, and one with a slash at its end loses it', () => {
  expect(plantsBaseUrl({ ...env, PLANTS_URL: 'https://plants.example' })).toBe('https://plants.example/v3');
  expect(plantsBaseUrl({ ...env, PLANTS_URL: 'https://plants.example/shop/v3/' })).toBe(
    'https://plants.example/shop/v3',
  );
});

test.each([
  'plants.example',
  'ftp://plants.example',
  'http://a:b@plants.example',
  'http://plants.example/?x=1',
  'file:///etc/passwd',
])('%s is refused without being repeated', (address) => {
  expect(() => plantsBaseUrl({ ...env, PLANTS_URL: address })).toThrow(/^PLANTS_URL must/);
});
