import { expect, test } from 'vitest';
import * as z from 'zod';
import { markedSettings, markedValues, reaching } from '../../../src/config/schema/reach.ts';
import { settingsSchema } from '../../../src/config/schema/schema.ts';

test('every setting says what it reaches outside of the file', () => {
  const unmarked = markedSettings(settingsSchema).filter(({ reach }) => reach === undefined);

  expect(unmarked.map(({ path }) => path.join('.'))).toEqual([]);
});

test('a setting without a mark is found, also within lists and named groups', () => {
  const marked = reaching('nothing', z.string()).optional().describe('Marked.');
  const schema = z.strictObject({
    groups: z.record(z.string(), z.strictObject({ new: z.boolean().default(true), old: marked })),
    list: z.array(z.strictObject({ new: z.string() })).default([]),
  });

  const unmarked = markedSettings(schema).filter(({ reach }) => reach === undefined);

  expect(unmarked.map(({ path }) => path.join('.'))).toEqual(['groups.*.new', 'list.[].new']);
});

test('a value that can reach something, or takes a variable, is found with the setting it belongs to', () => {
  const written = {
    projects: { shop: { keys: [{ id: 'one-$X', file: 'key' }, { id: 'two' }] } },
    unknown: 1,
  };
  const reference = {
    path: ['projects', 'shop', 'keys', 0, 'id'],
    names: ['X'],
    isEntireValue: false,
    unset: [],
  };

  const values = markedValues(settingsSchema, written, [reference]);

  expect(values.map(({ path, setting, reach, names }) => [path.join('.'), setting, reach, names])).toEqual([
    ['projects.shop.keys.0.id', '.projects.*.keys[].id', 'nothing', ['X']],
    ['projects.shop.keys.0.file', '.projects.*.keys[].file', 'key file', []],
  ]);
});
