import { expect, test } from 'vitest';
import { appendEntry, replaceScalar } from '../../../src/cli/key/edit-yaml.ts';

const path = ['projects', 'shop', 'keys'];
const entry = '{ id: b }';
const head = '# ours\nserver: { port: 1 }   # kept\n';

test.each<[string, string, string]>([
  [
    'a block list',
    `${head}projects:\n  shop:\n    keys:\n      - { id: a }   # old\n      # a comment\n\npolicies: {}\n`,
    `${head}projects:\n  shop:\n    keys:\n      - { id: a }   # old\n      - { id: b }\n      # a comment\n\npolicies: {}\n`,
  ],
  [
    'a list at the column of its name, with entries of several lines',
    'projects:\n  shop:\n    keys:\n    - id: a\n      hash: "x"\npolicies: {}\n',
    'projects:\n  shop:\n    keys:\n    - id: a\n      hash: "x"\n    - { id: b }\npolicies: {}\n',
  ],
  [
    'entries that end with a text of several lines',
    'projects:\n  shop:\n    keys:\n      - id: |\n          a\n          b\nx: 1\n',
    'projects:\n  shop:\n    keys:\n      - id: |\n          a\n          b\n      - { id: b }\nx: 1\n',
  ],
  [
    'a list in brackets',
    'projects: { shop: { keys: [{ id: a }] } }',
    'projects: { shop: { keys: [{ id: a }, { id: b }] } }',
  ],
  [
    'a list in JSON',
    '{ "projects": { "shop": { "keys": [ { "id": "a" } ] } } }\n',
    '{ "projects": { "shop": { "keys": [ { "id": "a" }, {"id":"b"} ] } } }\n',
  ],
  [
    'JSON without the project',
    '{ "server": { "port": 1 } }\n',
    '{ "server": { "port": 1 }, "projects": { "shop": { "keys": [{"id":"b"}] } } }\n',
  ],
  [
    'an empty list',
    'projects:\n  shop:\n    keys: []   # none\n',
    'projects:\n  shop:\n    keys: [{ id: b }]   # none\n',
  ],
  [
    'a project without keys',
    'projects:\n  shop:\n    limits: { usd_per_day: 1 }\n  other: {}\n',
    'projects:\n  shop:\n    limits: { usd_per_day: 1 }\n    keys:\n      - { id: b }\n  other: {}\n',
  ],
  [
    'a project with nothing',
    'projects:\n  shop:   # soon\n',
    'projects:\n  shop:   # soon\n    keys:\n      - { id: b }\n',
  ],
  ['a project of braces', 'projects:\n  shop: {}\n', 'projects:\n  shop: { keys: [{ id: b }] }\n'],
  [
    'another project',
    'projects:\n  web:\n    keys:\n      - { id: a }\nx: 1\n',
    'projects:\n  web:\n    keys:\n      - { id: a }\n  shop:\n    keys:\n      - { id: b }\nx: 1\n',
  ],
  ['no projects', `${head}# end`, `${head}# end\nprojects:\n  shop:\n    keys:\n      - { id: b }\n`],
  ['projects with nothing', 'projects:\nx: 1\n', 'projects:\n  shop:\n    keys:\n      - { id: b }\nx: 1\n'],
  ['no projects in braces', '{ x: 1 }\n', '{ x: 1, projects: { shop: { keys: [{ id: b }] } } }\n'],
  ['comments alone', '# nothing yet\n', '# nothing yet\nprojects:\n  shop:\n    keys:\n      - { id: b }\n'],
  [
    'lines that end as on Windows',
    'projects:\r\n  shop: {}\r\n',
    'projects:\r\n  shop: { keys: [{ id: b }] }\r\n',
  ],
])('an entry is added to %s, and every other byte stays', (_what, text, expected) => {
  expect(appendEntry(text, path, entry)).toBe(expected);
});

test.each([
  ['a list that is an alias', 'a: &a [{ id: a }]\nprojects: { shop: { keys: *a } }\n'],
  ['a text', 'projects: { shop: { keys: none } }\n'],
  ['two documents', 'x: 1\n---\ny: 2\n'],
])('nothing is added to %s', (_what, text) => {
  expect(appendEntry(text, path, entry)).toBe(undefined);
});

test('a name that YAML would read as something else is quoted', () => {
  expect(appendEntry('x: 1\n', ['projects', '007', 'keys'], entry)).toContain('\n  "007":\n');
});

test('a member of an entry is replaced, and one is added behind it, in each style', () => {
  const block = 'keys:\n  - id: a\n    hash: "1"   # first\n  - { id: b, hash: "2" }\n';

  expect(replaceScalar(block, ['keys', 0, 'hash'], '3')).toBe(block.replace('"1"', '"3"'));
  expect(appendEntry(block, ['keys', 0, 'previous'], '{ hash: "1" }')).toBe(
    'keys:\n  - id: a\n    hash: "1"   # first\n    previous:\n      - { hash: "1" }\n  - { id: b, hash: "2" }\n',
  );
  expect(appendEntry(block, ['keys', 1, 'previous'], '{ hash: "2" }')).toBe(
    'keys:\n  - id: a\n    hash: "1"   # first\n  - { id: b, hash: "2", previous: [{ hash: "2" }] }\n',
  );
});
