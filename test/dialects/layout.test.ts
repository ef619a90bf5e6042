import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { alternativesTo, dialects } from '../../src/dialects/registry.ts';

const root = join(import.meta.dirname, '..', '..', 'src', 'dialects');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

/** What a file imports of this layer, by path from its root. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/ from '(\.[^']+)'/g)]
    .map(([, specifier = '']) => normalize(join(dirname(file), specifier)))
    .filter((target) => !target.startsWith('..'));
}

const folderOf = (file: string) => (file.includes('/') ? dirname(file) : '');
const isDialect = (folder: string) => folder !== '' && folder !== 'translation';

test('the registry alone knows the dialects, and no dialect knows another one', () => {
  const violations = files
    .filter((file) => file !== 'registry.ts')
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => isDialect(folderOf(target)) && folderOf(target) !== folderOf(file))
        .map((target) => `${file} → ${target}`),
    );

  expect(files.length).toBeGreaterThan(50);
  expect(violations).toEqual([]);
});

test('every dialect is one line of the registry, in its folder', () => {
  const folders = new Set(files.map(folderOf).filter(isDialect));

  const named = Object.keys(dialects).map((name) => name.replace(/_embeddings$/, ''));
  expect([...folders].sort()).toEqual([...new Set(named)].sort());
  for (const [name, dialect] of Object.entries(dialects)) expect(dialect.name).toBe(name);
  expect(importsOf('registry.ts').filter((target) => isDialect(folderOf(target)))).toHaveLength(
    Object.keys(dialects).length,
  );
});

test('conversations are translated to every other dialect of conversations, embeddings to those of embeddings', () => {
  const { messages, chat, responses, gemini, embeddings, gemini_embeddings } = dialects;

  expect(alternativesTo(messages)).toEqual([chat, responses, gemini]);
  expect(alternativesTo(embeddings)).toEqual([gemini_embeddings]);
});
