import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generators } from './forms.ts';

test.each(Object.entries(generators))('the generator of %s fails where a form has no case', (name, file) => {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

  expect({
    counts: text.includes(`createTally('${name}'`),
    fails: text.includes('.wrong()'),
  }).toEqual({ counts: true, fails: true });
});
