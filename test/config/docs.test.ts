// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { renderConfigurationDocs } from '../../scripts/configuration-docs.ts';
import { inspectConfig } from '../../src/config/load.ts';
import { buildJsonSchema, type JsonSchema } from '../../src/config/schema/json-schema.ts';
import { formatProblem } from '../../src/config/source/problems.ts';
import { nowMs } from './workspace.ts';

const root = join(import.meta.dirname, '../..');
const schema = buildJsonSchema();
const example: unknown = parse(readFileSync(join(root, 'config.example.yaml'), 'utf8'));

test('the example is valid, without a warning', async () => {
  const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b', SHOP_CI_KEY: 'a-key-for-this-test' };

  const { problems, name } = await inspectConfig({ file: 'config.example.yaml', cwd: root, env, nowMs });

  expect(problems.map((problem) => formatProblem(problem, name))).toEqual([]);
});

test('the example shows every setting', () => {
  const missing = settingPaths(schema, []).filter((path) => !shows(example, asInWhen(path)));

  // A key has one of three ways; the third stands in a remark, for its file would have to be there.
  expect(missing.map((path) => path.join('.'))).toEqual(['projects.*.keys.*.file']);
});

test('every setting says what it is for', () => {
  const silent = settingPaths(schema, []).filter((path) => describedAt(schema, path) === undefined);

  expect(silent.map((path) => path.join('.'))).toEqual([]);
});

test('docs/configuration.md is what the schema says', async () => {
  await expect(renderConfigurationDocs(schema)).toMatchFileSnapshot(join(root, 'docs/configuration.md'));
});

type Steps = readonly string[];

/** Where each setting stands; `*` for any name or number. */
function settingPaths(at: JsonSchema, path: Steps): Steps[] {
  return branches(at).flatMap((branch) => [
    ...Object.entries(branch.properties ?? {}).flatMap(([key, inner]) => [
      [...path, key],
      ...settingPaths(inner, [...path, key]),
    ]),
    ...(typeof branch.additionalProperties === 'object'
      ? settingPaths(branch.additionalProperties, [...path, '*'])
      : []),
    ...(branch.items === undefined ? [] : settingPaths(branch.items, [...path, '*'])),
  ]);
}

function branches(at: JsonSchema): readonly JsonSchema[] {
  return [at, ...(at.anyOf ?? []), ...(at.oneOf ?? [])];
}

/** `unless` and `except` take what `when` takes: shown there is shown enough. */
function asInWhen(path: Steps): Steps {
  const [section, , side, ...inner] = path;
  if (section === 'models' && inner.length > 0 && /^(?:when|unless)$/.test(side ?? '')) {
    return ['policies', '*', 'rules', '*', 'when', ...inner];
  }
  return path[0] === 'policies' && path.length > 5 && /^(?:unless|except)$/.test(path[4] ?? '')
    ? path.with(4, 'when')
    : path;
}

function shows(value: unknown, [head, ...rest]: Steps): boolean {
  if (head === undefined) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => (head === '*' || head === key) && shows(inner, rest));
}

function describedAt(at: JsonSchema, [head, ...rest]: Steps): string | undefined {
  if (head === undefined) return at.description;
  const inner = branches(at).flatMap((branch) => {
    if (head !== '*') return branch.properties?.[head] ?? [];
    return [branch.items, branch.additionalProperties].filter((next) => typeof next === 'object');
  });
  return inner.map((next) => describedAt(next, rest)).find((text) => text !== undefined);
}
