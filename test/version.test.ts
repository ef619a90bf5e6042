import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { version } from '../src/version.ts';

test('the version in the code is that of the package', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8');

  expect(version).toBe((JSON.parse(text) as { version: string }).version);
});

test('no Node that runs the gateway is too old for what a checkout needs', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, { engines?: { node?: string } }> };
  // npm leaves out optional packages, as the bundler's programs, if their `engines` don't include this Node.
  // They work there: the smoke test installs and builds with it.
  const isNewer = (range = '') => /(?:20\.19|22\.12|22\.13)\.0/.test(range);

  const tooNew = Object.entries(packages).filter(([, { engines }]) => isNewer(engines?.node));

  expect(tooNew.map(([name]) => name)).toEqual([]);
});
