import { expect, test } from 'vitest';
import { shownPlace } from '../../src/dialects/place-names.ts';
import { dialectNames } from '../kit/dialects.ts';
import { documentedFieldsOf } from './translation/documented-fields.ts';

test.each(dialectNames)('every documented member of %s may be shown', (dialect) => {
  const steps = documentedFieldsOf(dialect).flatMap(({ field, to = '' }) =>
    [field, to].flatMap((path) => path.replace(/=\w+/g, '').match(/\w+/g) ?? []),
  );

  const hidden = steps.filter((step) => shownPlace(`/${step}`) === '/*');

  expect(hidden).toEqual([]);
  expect(steps.length).toBeGreaterThan(3);
});

test.each([
  ['', ''],
  ['header:x-team', 'header:x-team'],
  ['/messages/0/content/12/text', '/messages/0/content/12/text'],
  ['/Messages/0/tool_calls', '/Messages/0/tool_calls'],
  ['/generation_config/max_output_tokens', '/generation_config/max_output_tokens'],
  ['/messages/0/content/0/input/Erika Muster/text', '/messages/0/content/0/input/*/text'],
  ['/messages/0/content/0/input/erika_muster', '/messages/0/content/0/input/*'],
  ['/metadata/a~1b~0c', '/metadata/*'],
  ['/metadata/4111111111111111', '/metadata/*'],
  ['/metadata/__proto__', '/metadata/*'],
  ['/metadata/constructor', '/metadata/*'],
])('%s is shown as %s', (place, shown) => {
  expect(shownPlace(place)).toBe(shown);
});
