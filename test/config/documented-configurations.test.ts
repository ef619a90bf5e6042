import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inspectConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/source/problems.ts';
import { emptyDirectory } from '../kit/own-configuration.ts';

const root = join(import.meta.dirname, '../..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');

/** The `yaml` blocks of a page, each of which is a whole configuration. */
function blocksOf(file: string): string[] {
  return [...text(file).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = '']) => yaml);
}

/** The recipes in the comments that config.example.yaml begins with. */
function recipes(): string[] {
  const [comments = ''] = text('config.example.yaml').split(/^[^#\n]/m, 1);
  const [, ...parts] = comments.split(/^# --- .*\n/m);
  return parts.map((part) => {
    const [recipe = ''] = part.split('\n\n', 1);
    return recipe.replace(/^# ?/gm, '');
  });
}

const documented = {
  'docs/translation-howto.md': blocksOf('docs/translation-howto.md'),
  'docs/providers.md': blocksOf('docs/providers.md'),
  'docs/deployment.md': blocksOf('docs/deployment.md'),
  'config.example.yaml': recipes(),
};

test('translation-howto has three configurations, and config.example.yaml six recipes of about ten lines', () => {
  expect(documented['docs/translation-howto.md']).toHaveLength(3);
  expect(documented['docs/deployment.md']).toHaveLength(1);
  expect(documented['config.example.yaml']).toHaveLength(6);
  for (const recipe of documented['config.example.yaml']) {
    expect(recipe.trimEnd().split('\n').length, recipe).toBeLessThanOrEqual(12);
  }
});

test('every provider that works has a section with a configuration, and only those', () => {
  const page = text('docs/providers.md');
  const rows = [
    ...page.matchAll(/^\| (?:\[(.+?)\]\(#.+?\)|([^|[]+)) \| (yes(?:, tried as [^|]+)?|no) \| /gm),
  ];
  const working = rows.filter(([, , , works]) => works !== 'no').map(([, name]) => name);
  const sections = [...page.matchAll(/^## (.+)\n\n```yaml$/gm)].map(([, name]) => name);

  expect(working.length).toBeGreaterThan(10);
  expect(sections).toEqual(working);
});

const all = Object.entries(documented).flatMap(([file, configurations]) =>
  configurations.map((yaml) => [file, yaml] as const),
);

test.each(all)('%s: %s is valid, without a warning that it would not tell of', async (_file, yaml) => {
  const directory = emptyDirectory();
  writeFileSync(join(directory, 'gateway.yaml'), yaml, { mode: 0o600 });
  const variables = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
  const env = Object.fromEntries(variables.map((name) => [name, `a-value-of-${name}-0123456789`]));

  const { problems, name } = await inspectConfig({
    file: 'gateway.yaml',
    cwd: directory,
    env,
    nowMs: Date.now(),
  });

  const said = problems.map((problem) => formatProblem(problem, name));
  // Where nothing is to be kept from a project there is no policy; that is all it may mind.
  expect(said.filter((text) => !text.includes('policy') && !text.includes('policies'))).toEqual([]);
});
