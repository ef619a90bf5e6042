import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..', '..');
const source = join(root, 'src');

/** Where the files lie; below the temporary folder of the run, so that they are never those of an earlier source. */
export const compiledFolder = () => join(tmpdir(), 'compiled-source');
export const isCompiled = /\/compiled-source\/.+\.mjs$/;

/** `npm run test:watch` loads the source itself, and so knows which tests a change concerns. */
const isWatching = process.argv.includes('--watch');

/** Programs and threads of their own: they do something when they are loaded. */
const isProgram = (file: string) => /(?:^|\/)(?:main|plant-store|[a-z]+-worker)\.ts$/.test(file);

/**
 * Compiles `src/` once for all test files of a run, a file for each file, with the packages that it needs in a few
 * more. Node loads these in a fifth of the time that Vite takes for the source.
 */
export async function setup(): Promise<void> {
  if (isWatching) return;
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('inspector/page/') && !isProgram(file),
  );
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(files.map((file) => [file, join(source, file)])),
    platform: 'node',
    external: [...Object.keys(dependencies), 'typescript'],
    plugins: [ownUrl],
    logLevel: 'silent',
  });
  await bundle.write({
    dir: compiledFolder(),
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: 'packages/[name]-[hash].mjs',
  });
  await bundle.close();
  symlinkSync(join(root, 'node_modules'), join(compiledFolder(), 'node_modules'));
}

/** What a module finds beside itself (documents, the program, threads) is where it is for the source. */
const ownUrl: Plugin = {
  name: 'own-url',
  transform: (code, id) =>
    id.startsWith(source) && code.includes('import.meta.url')
      ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      : undefined,
};

/** For Vite: what tests import from `src/` is the compiled file, which Node loads itself. */
export const compiledSource = {
  name: 'compiled-source',
  enforce: 'pre' as const,
  resolveId(id: string, importer: string | undefined) {
    if (isWatching || importer === undefined || !id.startsWith('.') || !id.endsWith('.ts')) return undefined;
    const file = relative(source, join(importer, '..', id));
    const isOurs = !file.startsWith('..') && !file.startsWith('inspector/page/') && !isProgram(file);
    return isOurs ? { id: join(compiledFolder(), `${file}.mjs`), external: true } : undefined;
  },
};
