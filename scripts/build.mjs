#!/usr/bin/env node
// Builds dist/ from src/: one bundle, cut where commands are loaded lazily (docs/decisions/bundle.md).
// Runs at every `npm install` in a checkout, so it is quick, says nothing, and never empties dist/ first.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// What the commands that scripts call most need; loading these as files takes longer than running them.
const bundled = new Set(['commander', 'eventsource-parser']);

// commander loads node:child_process, and Node a dozen modules with it, for a feature that is not used here.
const withoutChildProcess = {
  name: 'without-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer, path }) =>
      importer.includes('commander') ? { path, namespace: 'empty' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'module.exports = {};' }));
  },
};

const { metafile } = await build({
  absWorkingDir: root,
  // A thread needs a file of its own to begin with.
  entryPoints: { main: 'src/main.ts', 'decide-worker': 'src/gateway/decide-worker.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  // Half the text to parse at every start; names stay, so stack traces can be read.
  minifySyntax: true,
  minifyWhitespace: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: Object.keys(dependencies).filter((name) => !bundled.has(name)),
  // Bundled CommonJS asks for Node's own modules through `require`, which ES modules don't have.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  plugins: [withoutChildProcess],
  logLevel: 'error',
  metafile: true,
});

// Chunks of earlier builds, whose names hold their hashes.
const built = new Set(Object.keys(metafile.outputs));
for (const file of readdirSync(join(root, 'dist'))) {
  if (!built.has(`dist/${file}`)) rmSync(join(root, 'dist', file), { recursive: true });
}
