import { expect, test } from 'vitest';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { shownPlace } from '../../src/dialects/place-names.ts';
import { dialects } from '../../src/dialects/registry.ts';
import { substituteFields } from '../../src/policy/rule-inputs.ts';
import { capSpellings } from '../../src/policy/traverse/settings.ts';
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

test('every name that the gateway itself reads may be shown', () => {
  const ofDialects = Object.values<Dialect>(dialects).flatMap((dialect) => [
    ...dialect.places.keys(),
    ...(dialect.settings ?? []),
    ...dialect.caps.flatMap((path) => path.split('.')),
    ...(dialect.answerCounts ?? []).flatMap((path) => path.split('.')),
    ...(dialect.storedConversation === undefined ? [] : [dialect.storedConversation]),
    ...(dialect.laterField === undefined ? [] : [dialect.laterField]),
  ]);
  const others = [
    ...['previous_interaction_id', 'structured_outputs', '$ref', '$defs', '$schema'],
    ...['edits', 'clear_at_least', 'task_budget', 'mcp_toolset'],
  ];

  const names = [...ofDialects, ...substituteFields, ...capSpellings, ...others];

  expect(names.filter((name) => shownPlace(`/${name}`) !== `/${name}`)).toEqual([]);
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
