import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', 'src');

/**
 * The layers, as data: what a folder (or a file at the top) may import of the others, and which packages
 * it owns. What is not listed is forbidden. `type:` allows types only.
 */
const layers: Readonly<
  Record<string, { readonly from: readonly string[]; readonly packages: readonly string[] }>
> = {
  'errors.ts': { from: [], packages: [] },
  'backoff.ts': { from: [], packages: [] },
  'memoize.ts': { from: [], packages: [] },
  'outage-causes.ts': { from: [], packages: [] },
  'directories.ts': { from: [], packages: [] },
  'decode-percent.ts': { from: [], packages: [] },
  'loopback.ts': { from: [], packages: [] },
  'cloud-hosts.ts': { from: [], packages: [] },
  'paint.ts': { from: [], packages: ['chalk'] },
  'lifetime.ts': { from: ['errors.ts'], packages: [] },
  'swap-remove-list.ts': { from: [], packages: [] },
  'piece-budget.ts': { from: [], packages: [] },
  'tick-queue.ts': { from: ['piece-budget.ts'], packages: [] },
  'growing-buffer.ts': { from: [], packages: [] },
  'version.ts': { from: [], packages: [] },
  'owner-proof.ts': { from: [], packages: [] },
  'json/': { from: ['errors.ts'], packages: [] },
  'dialects/': { from: ['json/', 'errors.ts'], packages: [] },
  'policy/': {
    from: ['json/', 'dialects/', 'errors.ts', 'memoize.ts', 'partition-point.ts'],
    packages: ['zod', 're2js', 'validator', '@noble/hashes/', '@scure/'],
  },
  'database/': { from: ['errors.ts', 'backoff.ts'], packages: ['kysely', 'pg', '@photostructure/sqlite'] },
  'history/': { from: ['errors.ts', 'database/'], packages: [] },
  'limits/': {
    from: ['errors.ts', 'memoize.ts', 'outage-causes.ts', 'dialects/', 'type:config/'],
    packages: ['ioredis'],
  },
  'config/': {
    from: [
      'json/',
      'policy/',
      'dialects/registry.ts',
      'dialects/fields.ts',
      'errors.ts',
      'cloud-hosts.ts',
      'loopback.ts',
      'decode-percent.ts',
      'directories.ts',
      'memoize.ts',
      'partition-point.ts',
    ],
    packages: ['zod', 'yaml', 'js-yaml', 'cosmiconfig'],
  },
  'http/': {
    from: [
      'errors.ts',
      'loopback.ts',
      'memoize.ts',
      'growing-buffer.ts',
      'swap-remove-list.ts',
      'tick-queue.ts',
    ],
    packages: [],
  },
  'record/': {
    from: [
      'errors.ts',
      'backoff.ts',
      'directories.ts',
      'outage-causes.ts',
      'tick-queue.ts',
      'database/',
      'dialects/',
      'type:config/',
    ],
    packages: ['pino', 'prom-client', '@opentelemetry/'],
  },
  'providers/': {
    from: [
      'json/',
      'dialects/',
      'errors.ts',
      'backoff.ts',
      'cloud-hosts.ts',
      'loopback.ts',
      'memoize.ts',
      'decode-percent.ts',
      'lifetime.ts',
      'growing-buffer.ts',
      'swap-remove-list.ts',
      'tick-queue.ts',
      'type:config/',
    ],
    packages: ['undici', '@smithy/'],
  },
  'sandbox/': { from: ['dialects/', 'http/', 'errors.ts'], packages: [] },
  'gateway/': {
    from: [
      'json/',
      'dialects/',
      'policy/',
      'config/',
      'http/',
      'providers/',
      'sandbox/',
      'limits/',
      'record/',
      'errors.ts',
      'memoize.ts',
      'decode-percent.ts',
      'lifetime.ts',
      'swap-remove-list.ts',
      'piece-budget.ts',
      'tick-queue.ts',
      'owner-proof.ts',
      'version.ts',
    ],
    packages: [],
  },
  'inspector/': {
    from: [
      'http/',
      'record/',
      'errors.ts',
      'owner-proof.ts',
      'partition-point.ts',
      'version.ts',
      'dialects/',
      'config/',
      'limits/',
      'gateway/',
    ],
    packages: ['preact', 'eventsource-parser', 'yaml'],
  },
  'plants/': {
    from: ['http/', 'database/', 'errors.ts', 'backoff.ts', 'loopback.ts', 'version.ts', 'type:config/'],
    packages: ['kysely', 'pg', 'ws'],
  },
  'client/': {
    from: ['errors.ts', 'dialects/', 'owner-proof.ts', 'directories.ts'],
    packages: ['ws'],
  },
  'server/': {
    from: [
      'dialects/',
      'policy/',
      'config/',
      'http/',
      'providers/',
      'sandbox/',
      'limits/',
      'record/',
      'database/',
      'gateway/',
      'inspector/',
      'plants/',
      'client/',
      'errors.ts',
      'backoff.ts',
      'loopback.ts',
      'memoize.ts',
      'owner-proof.ts',
      'paint.ts',
      'tick-queue.ts',
      'version.ts',
    ],
    packages: ['yaml'],
  },
  'cli/': {
    from: [
      'json/',
      'dialects/',
      'policy/',
      'config/',
      'http/',
      'providers/',
      'sandbox/',
      'limits/',
      'record/',
      'database/',
      'history/',
      'gateway/',
      'server/',
      'inspector/',
      'plants/',
      'client/',
      'directories.ts',
      'errors.ts',
      'paint.ts',
      'cloud-hosts.ts',
      'loopback.ts',
      'owner-proof.ts',
      'version.ts',
    ],
    packages: [
      'commander',
      'ora',
      'zod',
      '@clack/prompts',
      'yaml',
      'ajv',
      'ajv-formats',
      'liquidjs',
      'marked',
      'wrap-ansi',

      'smol-toml',
      'fast-string-width',
      'jq-web',
    ],
  },
  'main.ts': { from: ['cli/', 'errors.ts', 'version.ts'], packages: [] },
};

/** Folders that are tested by calling them: they touch no clock, file, socket or environment. */
const pureFolders = ['json/', 'dialects/', 'policy/'];
const pureModules = ['node:zlib', 'node:buffer', 'node:crypto', 'node:util', 'node:module'];

interface Import {
  readonly specifier: string;
  readonly isType: boolean;
}

function sourceFiles(): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
}

function importsOf(file: string): Import[] {
  return importsIn(readFileSync(join(root, file), 'utf8'));
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
  return file.includes('/') ? `${file.split('/')[0]}/` : file;
}

/** The files of `src` that a file imports, types included. */
function importedFiles(file: string): string[] {
  return importsOf(file)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => relative(root, normalize(join(root, dirname(file), specifier))));
}

/** The shortest way over imports from a file back to itself; empty where there is none. */
function cycleFrom(file: string, importsByFile: ReadonlyMap<string, readonly string[]>): string[] {
  const cameFrom = new Map<string, string>();
  const queue = [file];
  for (const at of queue) {
    for (const next of importsByFile.get(at) ?? []) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      queue.push(next);
    }
  }
  const cycle: string[] = [];
  for (let at = cameFrom.get(file); at !== undefined; at = at === file ? undefined : cameFrom.get(at)) {
    cycle.unshift(at);
  }
  return cycle;
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
  const rule = layers[layer];
  if (rule === undefined) return `${file}: ${layer} is not in the table of layers`;
  if (specifier.startsWith('.')) {
    const target = relative(root, normalize(join(root, dirname(file), specifier)));
    if (layerOf(target) === layer) return undefined;
    const isAllowed = rule.from.some((allowed) =>
      allowed.startsWith('type:')
        ? isType && target.startsWith(allowed.slice(5))
        : target.startsWith(allowed),
    );
    return isAllowed ? undefined : `${file} → ${target}`;
  }
  if (specifier.startsWith('node:')) {
    const isImpure = pureFolders.includes(layer) && !pureModules.includes(specifier);
    return isImpure ? `${file} → ${specifier}` : undefined;
  }
  return rule.packages.some(
    (name) => specifier === name || specifier.startsWith(name.endsWith('/') ? name : `${name}/`),
  )
    ? undefined
    : `${file} → ${specifier}`;
}

describe('architecture', () => {
  test('imports point downwards only', () => {
    const files = sourceFiles();

    const violations = files.flatMap((file) =>
      importsOf(file).flatMap((each) => violation(file, each) ?? []),
    );

    expect(files.length).toBeGreaterThan(40);
    expect(violations).toEqual([]);
  });

  test('a forbidden import is seen', () => {
    expect(violation('policy/rule.ts', { specifier: '../http/listen.ts', isType: false })).toBe(
      'policy/rule.ts → http/listen.ts',
    );
    expect(violation('policy/rule.ts', { specifier: 'node:fs', isType: false })).toBe(
      'policy/rule.ts → node:fs',
    );
    expect(violation('gateway/handle.ts', { specifier: 'pino', isType: false })).toBe(
      'gateway/handle.ts → pino',
    );
    expect(violation('gateway/handle.ts', { specifier: '../plants/store.ts', isType: false })).toBeDefined();
  });

  test('no folders beside each other import each other', () => {
    const importsByFile = new Map(sourceFiles().map((file) => [file, importedFiles(file)]));

    expect(mutualFolders(importsByFile)).toEqual(['policy/detectors/secrets → policy/detectors/shapes']);
  });

  test('folders that import each other are seen', () => {
    const importsByFile = new Map([
      ['a/b/one.ts', ['a/c/two.ts']],
      ['a/c/deep/three.ts', ['a/b/one.ts', 'a/four.ts', 'd.ts']],
      ['a/four.ts', ['a/b/one.ts']],
    ]);

    expect(mutualFolders(importsByFile)).toEqual(['a/b → a/c']);
  });

  test('no file imports itself over others, types included', () => {
    const files = sourceFiles();
    const importsByFile = new Map(files.map((file) => [file, importedFiles(file)]));

    const cycles = files.map((file) => cycleFrom(file, importsByFile)).filter((cycle) => cycle.length > 0);

    expect(cycles).toEqual([]);
  });

  test('an import cycle is seen', () => {
    const importsByFile = new Map([
      ['a.ts', ['b.ts']],
      ['b.ts', ['c.ts', 'd.ts']],
      ['c.ts', ['a.ts']],
    ]);

    expect(cycleFrom('a.ts', importsByFile)).toEqual(['a.ts', 'b.ts', 'c.ts']);
    expect(cycleFrom('d.ts', importsByFile)).toEqual([]);
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

    const found = importsIn(text);

    expect(found.map(({ specifier }) => specifier)).toEqual([
      './a.ts',
      './b.ts',
      './c.ts',
      './e.ts',
      './f.ts',
      './g.ts',
    ]);
    expect(found.map(({ isType }) => isType)).toEqual([false, true, false, false, false, false]);
  });

  test('nothing reads the process environment but the edge', () => {
    const readers = sourceFiles().filter((file) =>
      readFileSync(join(root, file), 'utf8').includes('process.env'),
    );

    expect(readers).toEqual(['main.ts']);
  });

  test('no module keeps state, but for the entry of a process', () => {
    const variable = /^(?:export )?(?:let |const \w+(?:: (?!readonly )[^=]*\[\])? = (?:\[\]|new Array\b))/m;

    const keepers = sourceFiles().filter((file) => variable.test(readFileSync(join(root, file), 'utf8')));

    expect(keepers).toEqual(['server/workers/serve-worker.ts']);
  });

  test('no folder has more than 20 files', () => {
    const sizes = new Map<string, number>();
    for (const file of sourceFiles()) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);

    expect([...sizes].filter(([, files]) => files > 20)).toEqual([]);
  });

  test('no file is longer than 300 lines', () => {
    const long = sourceFiles()
      .filter((file) => !file.includes('.generated.'))
      .filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length > 300);

    expect(long).toEqual([]);
  });
});
