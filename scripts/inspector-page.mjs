// The live page's files (docs/decisions/inspector-page.md), for scripts/build.mjs: a bundle, a stylesheet, an icon.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** What dist/ holds of it: a map of names to contents, and the modules that are inside. */
export async function buildInspectorPage(root) {
  const source = join(root, 'src/inspector/page');
  const read = (name) => readFileSync(join(source, name), 'utf8');
  const bundle = await rolldown({
    cwd: root,
    input: { page: join(source, 'main.tsx') },
    platform: 'browser',
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' }, target: 'es2022' },
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  });
  await bundle.close();
  const styles = readdirSync(join(source, 'styles')).sort();
  const files = new Map([
    ['page/index.html', read('index.html')],
    ['page/assets/icon.svg', read('icon.svg')],
    ['page/assets/page.css', styles.map((name) => read(`styles/${name}`)).join('\n')],
    ...output.map(({ fileName, code }) => [`page/assets/${fileName}`, code]),
  ]);
  return { files, moduleIds: output.flatMap(({ moduleIds }) => moduleIds) };
}
