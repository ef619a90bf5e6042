import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { version } from '../src/version.ts';

test('the version in the code is that of the package', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8');

  expect(version).toBe((JSON.parse(text) as { version: string }).version);
});
