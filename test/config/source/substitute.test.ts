// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { expect, test } from 'vitest';
import { substitute } from '../../../src/config/source/substitute.ts';

const env = { HOST: 'example.com', PORT: '80', EMPTY: '' };

test('replaces variables anywhere in a text, at any depth, and keeps what is escaped', () => {
  const { value } = substitute({ a: [{ b: 'http://${HOST}:${PORT}/' }], c: '$${HOST} costs $5' }, env);

  expect(value).toEqual({ a: [{ b: 'http://example.com:80/' }], c: '${HOST} costs $5' });
});

test('leaves out what needs an unset or empty variable and says which', () => {
  const { value, references } = substitute({ a: '${NOPE}', b: 'x${EMPTY}', c: 1 }, env);

  expect(value).toEqual({ c: 1 });
  expect(references).toEqual([
    { path: ['a'], names: ['NOPE'], isEntireValue: true, unset: ['NOPE'] },
    { path: ['b'], names: ['EMPTY'], isEntireValue: false, unset: ['EMPTY'] },
  ]);
});

test('does not expand what a variable holds', () => {
  const { value } = substitute({ a: '${OUTER}' }, { OUTER: '${HOST}', HOST: 'no' });

  expect(value).toEqual({ a: '${HOST}' });
});

test.each(['${}', '${A', '${A:-b}', '${1A}', '${ A }'])('calls %s malformed', (text) => {
  expect(substitute({ a: text }, env).malformed).toEqual([['a']]);
});

test('does not take inherited properties of the environment for variables', () => {
  expect(substitute({ a: '${constructor}' }, env).references[0]?.unset).toEqual(['constructor']);
});
