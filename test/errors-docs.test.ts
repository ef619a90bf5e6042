import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderErrorsDocs } from '../scripts/errors-docs.ts';
import { failures } from '../src/errors.ts';

test('docs/errors.md is what the table of failures says, and has every code', async () => {
  const text = renderErrorsDocs();

  expect(Object.keys(failures).filter((code) => !text.includes(`| \`${code}\` |`))).toEqual([]);
  await expect(text).toMatchFileSnapshot(join(import.meta.dirname, '../docs/errors.md'));
});
