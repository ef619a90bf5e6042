import { expect, test } from 'vitest';
import { createKeyRing, generateKey, hashKey, parseKey } from '../../../src/config/build/keys.ts';
import { compilePolicies } from '../../../src/policy/compile.ts';

const policies = compilePolicies({}, []).select([]);
const record = (id: string) => ({ id, project: 'shop', policies });

test('finds a record by its key and nothing by another', () => {
  const ring = createKeyRing([
    { hash: hashKey('the-first-of-the-keys'), record: record('first') },
    { hash: hashKey('the-second-of-the-keys'), record: record('second') },
  ]);

  expect(ring.find('the-second-of-the-keys')?.id).toBe('second');
  expect(ring.find('the-second-of-the-keyz')).toBeUndefined();
  expect(ring.find('')).toBeUndefined();
});

test('finds the key of a run by the key that the run was given, unless the key itself ends so', () => {
  const run = '~run-5b2ce1f0a97d~usd-5';
  const ring = createKeyRing([
    { hash: hashKey('the-first-of-the-keys'), record: record('first') },
    { hash: hashKey(`the-second-of-the-keys${run}`), record: record('second') },
  ]);

  expect(ring.find(`the-first-of-the-keys${run}`)?.id).toBe('first');
  expect(ring.find(`the-second-of-the-keys${run}`)?.id).toBe('second');
  expect(ring.find(`the-third-of-the-keys${run}`)).toBeUndefined();
  expect(ring.find('the-first-of-the-keys~run-5b2ce1f0a97d~usd-many')).toBeUndefined();
});

test('tells keys apart whose hashes begin the same', () => {
  const hash = hashKey('the-first-of-the-keys');
  const twin = `${hash.slice(0, -1)}${hash.endsWith('0') ? '1' : '0'}`;
  const ring = createKeyRing([
    { hash: twin, record: record('twin') },
    { hash, record: record('first') },
  ]);

  expect(ring.find('the-first-of-the-keys')?.id).toBe('first');
});

test('a generated key has its shape and its checksum', () => {
  const key = generateKey();

  expect(key).toMatch(/^gw_[0-9A-Za-z]{38}$/);
  expect(parseKey(key)).toBe('generated');
  expect(generateKey()).not.toBe(key);
});

test('knows a damaged key from one of another kind', () => {
  const key = 'gw_0Wsq1jQdK1VXEMZE9AxEh16JArh6UbLf0CrwjL';

  expect(parseKey(key)).toBe('generated');
  expect(parseKey(key.replace('0Wsq', '0Wsp'))).toBe('damaged');
  expect(parseKey(key.slice(0, -1))).toBe('damaged');
  expect(parseKey(`${key}\n`)).toBe('damaged');
  expect(parseKey('sk-something-else-altogether')).toBe('other');
});
