import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { readSettings } from '../../src/config/build/settings.ts';
import { buildConfig } from '../../src/config/config.ts';
import { parseSource } from '../../src/config/source/document.ts';
import { createReport } from '../../src/config/source/report.ts';
import { substitute } from '../../src/config/source/substitute.ts';
import { wantsOf } from '../../src/config/trust/wants.ts';
import { growth } from '../kit/growth.ts';
import { nowMs } from './workspace.ts';

// Four times the entries take four times as long where work is linear, sixteen times where it is quadratic.
const small = 250;
const times = 4;
const limit = 2 * times;

const digest = (i: number) => `sha256:${hash('sha256', `key ${i}`, 'hex')}`;
const list = (count: number, entry: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => entry(i)).join('');

const files: Readonly<Record<string, (count: number) => string>> = {
  'keys with limits': (count) =>
    `projects:\n  shop:\n    keys:\n${list(count, (i) => `      - { id: k${i}, hash: "${digest(i)}", limits: { tokens_per_day: 9, usd_per_day: 1 } }\n`)}`,
  'keys in blocks, with variables': (count) =>
    `projects:\n  shop:\n    keys:\n${list(count, (i) => `      - id: k${i}\n        value: \${KEY_${i}}\n`)}`,
  'projects with a warning each': (count) =>
    `projects:\n${list(count, (i) => `  p${i}: { keys: [{ id: k${i}, hash: "${digest(i)}" }] }\n`)}`,
  'models, of which half are never reached': (count) =>
    `models:\n  - { match: "a-*", provider: sandbox }\n${list(count, (i) => `  - { match: ${'ab'[i % 2]}-${i}, provider: sandbox }\n`)}providers: { sandbox: { dialect: sandbox } }\n`,
  'keys of maps that are there twice': (count) =>
    list(2 * count, (i) => `p${i % count}: { token: secret-${i} }\n`),
};

function load(text: string): readonly unknown[] {
  const source = parseSource(text);
  const { value, references } = substitute(source.value, {});
  const report = createReport({ source, references });
  const paths = { base: { directory: '/etc', home: '/root' }, stateDirectory: '/var' };
  const wants = wantsOf({ written: source.value, references, ...paths });
  if (source.problems.length > 0) return source.problems;
  const { settings, ...read } = readSettings({ value, references, source, report });
  if (settings === undefined) return report.problems;
  const files = { keyFiles: new Map(), caFiles: new Map(), proxies: {} };
  buildConfig({ settings, references, report, nowMs, hash: '', ...files, ...read });
  return [...report.problems, ...wants];
}

test.each(Object.keys(files))('%s load in linear time', (name) => {
  const text = (count: number) => files[name]?.(count) ?? '';
  // Compiled by the time it is measured.
  load(text(small));

  expect(growth(load, { small: text(small), large: text(small * times), limit })).toBeLessThan(limit);
});
