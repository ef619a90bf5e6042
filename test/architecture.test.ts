import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', 'src');
const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `${name}/`);

/** The files beside the folders, and what is of use to several folders: each may import these. */
const top = 'the top';
const lib = 'lib/';

interface Layer {
  readonly from?: readonly string[];
  readonly packages?: readonly string[];
}

/**
 * The layers, as data: what a folder may import besides lib/ and the files at the top of src, and which packages it owns.
 * What is not listed is forbidden. `type:` allows types only.
 */
const layers: Readonly<Record<string, Layer>> = {
  [top]: {},
  [lib]: { packages: ['chalk'] },
  'json/': {},
  'hosts/': {},
  'dialects/': { from: ['json/', 'hosts/'] },
  'policy/': {
    from: ['json/', 'dialects/'],
    packages: ['zod', 're2js', 'validator', '@noble/hashes/', '@scure/'],
  },
  'database/': { packages: ['kysely', 'pg', '@photostructure/sqlite'] },
  'history/': { from: ['database/'] },
  'limits/': { from: ['dialects/', 'type:config/'], packages: ['ioredis'] },
  'config/': {
    from: ['json/', 'policy/', 'hosts/', 'dialects/registry.ts', 'dialects/fields.ts'],
    packages: ['zod', 'yaml', 'cosmiconfig'],
  },
  'http/': {},
  'record/': {
    from: ['database/', 'dialects/', 'type:config/'],
    packages: ['pino', 'prom-client', '@opentelemetry/'],
  },
  'providers/': {
    from: ['json/', 'hosts/', 'dialects/', 'type:config/', 'type:limits/'],
    packages: ['undici', '@smithy/'],
  },
  'sandbox/': { from: ['hosts/', 'dialects/', 'http/'] },
  'gateway/': {
    from: [
      'json/',
      'hosts/',
      'dialects/',
      'policy/',
      'config/',
      'http/',
      'providers/',
      'sandbox/',
      'limits/',
      'record/',
    ],
  },
  'inspector/': {
    from: ['http/', 'record/', 'dialects/', 'config/', 'limits/', 'gateway/'],
    packages: ['preact', 'eventsource-parser', 'yaml'],
  },
  'plants/': { from: ['http/', 'database/', 'type:config/'], packages: ['kysely', 'pg', 'ws'] },
  'client/': { from: ['dialects/'], packages: ['ws'] },
  'server/': {
    from: folders.filter((name) => !['json/', 'history/', 'cli/'].includes(name)),
    packages: ['yaml'],
  },
  'cli/': {
    from: folders,
    packages: [
      ...['commander', 'ora', '@clack/prompts', 'wrap-ansi', 'fast-string-width', 'marked'],
      ...['zod', 'yaml', 'smol-toml', 'ajv', 'ajv-formats', 'liquidjs', 'jq-web'],
    ],
  },
  'main.ts': { from: ['cli/'] },
};

/** Folders that are tested by calling them: they touch no clock, file, socket or environment. */
const pureFolders = ['json/', 'hosts/', 'dialects/', 'policy/'];
const pureModules = ['node:zlib', 'node:buffer', 'node:crypto', 'node:util', 'node:module'];
const impureOfLib = ['lib/directories.ts', 'lib/paint.ts'];

interface Import {
  readonly specifier: string;
  readonly isType: boolean;
}

function sourceFiles(): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
}

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function importsOf(file: string): Import[] {
  return importsIn(textOf(file));
}

function importsIn(text: string): Import[] {
  const statements = text.matchAll(
    /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|import\('([^']+)'\)|require\('([^']+)'\)/gm,
  );
  return [...statements].map(([, type, named, dynamic, required]) => ({
    specifier: named ?? dynamic ?? required ?? '',
    isType: type !== undefined,
  }));
}

function layerOf(file: string): string {
  if (file.includes('/')) return `${file.split('/')[0]}/`;
  return file === 'main.ts' ? file : top;
}

/** The file of `src` that is imported. */
function targetOf(file: string, specifier: string): string {
  return relative(root, normalize(join(root, dirname(file), specifier)));
}

/** Which files of `src` each file imports, types included. */
function importsByFileOf(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => targetOf(file, specifier)),
    ]),
  );
}

/** The two folders beside each other that an import connects; undefined where one holds the other, or at the top. */
function siblingFolders(from: string, to: string): readonly [string, string] | undefined {
  const one = dirname(from).split('/');
  const other = dirname(to).split('/');
  const at = one.findIndex((name, index) => name !== other[index]);
  if (at < 1 || other[at] === undefined) return undefined;
  return [one.slice(0, at + 1).join('/'), other.slice(0, at + 1).join('/')];
}

/** Folders that import each other, given which file imports which. */
function mutualFolders(importsByFile: ReadonlyMap<string, readonly string[]>): string[] {
  const pairs = new Set<string>();
  for (const [file, imported] of importsByFile) {
    for (const target of imported) pairs.add(siblingFolders(file, target)?.join(' → ') ?? '');
  }
  return [...pairs].filter((pair) => {
    const [one = '', other = ''] = pair.split(' → ');
    return one < other && pairs.has(`${other} → ${one}`);
  });
}

function violation(file: string, { specifier, isType }: Import): string | undefined {
  const layer = layerOf(file);
  const { from = [], packages = [] } = layers[layer] ?? {};
  const isPure = pureFolders.includes(layer);
  if (layers[layer] === undefined) return `${file}: ${layer} is not in the table of layers`;
  if (specifier.startsWith('.')) {
    const target = targetOf(file, specifier);
    const mayHave = (allowed: string) =>
      allowed.startsWith('type:')
        ? isType && target.startsWith(allowed.slice(5))
        : target.startsWith(allowed);
    const isForAll = layerOf(target) === top || (layerOf(target) === lib && layer !== top);
    const isShared = isForAll && !(isPure && impureOfLib.includes(target));
    return layerOf(target) === layer || isShared || from.some(mayHave) ? undefined : `${file} → ${target}`;
  }
  if (specifier.startsWith('node:')) {
    return isPure && !pureModules.includes(specifier) ? `${file} → ${specifier}` : undefined;
  }
  const isOwned = packages.some(
    (name) => specifier === name || `${specifier}/`.startsWith(`${name}/`.replace('//', '/')),
  );
  return isOwned ? undefined : `${file} → ${specifier}`;
}

describe('architecture', () => {
  const files = sourceFiles();
  const importsByFile = importsByFileOf(files);

  test('imports point downwards only', () => {
    const violations = files.flatMap((file) =>
      importsOf(file).flatMap((each) => violation(file, each) ?? []),
    );

    expect(files.length).toBeGreaterThan(40);
    expect(violations).toEqual([]);
  });

  test.each([
    ['policy/rule.ts', '../http/listen.ts', 'http/listen.ts'],
    ['policy/rule.ts', '../lib/directories.ts', 'lib/directories.ts'],
    ['policy/rule.ts', 'node:fs', 'node:fs'],
    ['gateway/handle.ts', 'pino', 'pino'],
    ['gateway/handle.ts', '../plants/store.ts', 'plants/store.ts'],
    ['http/listen.ts', '../main.ts', 'main.ts'],
    ['errors.ts', './http/listen.ts', 'http/listen.ts'],
    ['errors.ts', './lib/lifetime.ts', 'lib/lifetime.ts'],
    ['lib/lifetime.ts', '../http/listen.ts', 'http/listen.ts'],
  ])('a forbidden import is seen: in %s of %s', (file, specifier, target) => {
    expect(violation(file, { specifier, isType: false })).toBe(`${file} → ${target}`);
  });

  test('no folders beside each other import each other', () => {
    expect(mutualFolders(importsByFile)).toEqual(['policy/detectors/secrets → policy/detectors/shapes']);
  });

  test('folders that import each other are seen', () => {
    const mutual = new Map([
      ['a/b/one.ts', ['a/c/two.ts']],
      ['a/c/deep/three.ts', ['a/b/one.ts', 'a/four.ts', 'd.ts']],
      ['a/four.ts', ['a/b/one.ts']],
    ]);

    expect(mutualFolders(mutual)).toEqual(['a/b → a/c']);
  });

  test('imports of every form are found', () => {
    const text = `import './a.ts';
import type { B } from './b.ts';
import c, {
  d,
} from './c.ts';
export { e } from './e.ts';
const f = await import('./f.ts');
const g = require('./g.ts');`;

    expect(importsIn(text)).toEqual(
      ['a', 'b', 'c', 'e', 'f', 'g'].map((name) => ({ specifier: `./${name}.ts`, isType: name === 'b' })),
    );
  });

  test('nothing reads the process environment but the edge', () => {
    expect(files.filter((file) => textOf(file).includes('process.env'))).toEqual(['main.ts']);
  });

  test('no module keeps state, but for the entry of a process', () => {
    const variable = /^(?:export )?(?:let |const \w+(?:: (?!readonly )[^=]*\[\])? = (?:\[\]|new Array\b))/m;

    expect(files.filter((file) => variable.test(textOf(file)))).toEqual(['server/workers/serve-worker.ts']);
  });

  test('each event of an exchange is published in one place', () => {
    const [, methods = ''] =
      /export interface Subscriber \{(.*?)\n\}/s.exec(textOf('gateway/subscriber.ts')) ?? [];
    const events = [...methods.matchAll(/^ {2}(\w+)\?\(/gm)].map(([, name]) => name as string);
    const steps = files.filter((file) => file.startsWith('gateway/') && file !== 'gateway/subscriber.ts');
    const calls = steps.flatMap((file) => [...textOf(file).matchAll(/\bevents\.(\w+)\(/g)]);
    const published = calls.map(([, name]) => name as string).filter((name) => events.includes(name));

    expect(published.toSorted()).toEqual(events.toSorted());
    expect(events).toContain('answerRead');
  });

  test('no folder has more than 20 files', () => {
    const sizes = new Map<string, number>();
    for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);

    expect([...sizes].filter(([, files]) => files > 20)).toEqual([]);
  });
});
