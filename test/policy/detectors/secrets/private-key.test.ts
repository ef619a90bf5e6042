import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { privateKey } from '../../../../src/policy/detectors/secrets/private-key.ts';
import { found } from '../found.ts';

const cipher = { cipher: 'aes-256-cbc', passphrase: 'x' };
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const edwards = generateKeyPairSync('ed25519');

function toPem(key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1', more: object = {}): string {
  return String(key.export({ type, format: 'pem', ...more })).trim();
}

test.each([
  ['RSA, PKCS#8', toPem(rsa.privateKey, 'pkcs8')],
  ['RSA, PKCS#1', toPem(rsa.privateKey, 'pkcs1')],
  ['RSA, encrypted', toPem(rsa.privateKey, 'pkcs8', cipher)],
  ['RSA, encrypted in the old way', toPem(rsa.privateKey, 'pkcs1', cipher)],
  ['a curve, SEC 1', toPem(curve.privateKey, 'sec1')],
  ['Ed25519', toPem(edwards.privateKey, 'pkcs8')],
])('finds a real key whole: %s', (_, pem) => {
  const escaped = pem.replaceAll('\n', '\\n');

  expect(found(privateKey, `key:\n${pem}\nthanks`)).toEqual([pem]);
  expect(found(privateKey, `{"key":"${escaped}\\n"}`)).toEqual([escaped]);
});

test('finds a key that is cut off', () => {
  const half = toPem(rsa.privateKey, 'pkcs8').split('\n').slice(0, 6).join('\n');

  expect(found(privateKey, half)).toEqual([half]);
});

test('finds a key in the folded view, where all is lower case and on one line', () => {
  const pem = toPem(curve.privateKey, 'sec1').toLowerCase().replaceAll('\n', ' ');

  expect(found(privateKey, pem)).toEqual([pem]);
});

test('finds two keys as two', () => {
  const pem = toPem(edwards.privateKey, 'pkcs8');

  expect(found(privateKey, `${pem}\n${pem}`)).toEqual([pem, pem]);
});
