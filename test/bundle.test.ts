import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// Those of the last build: files of earlier ones may lie beside them.
const { files } = JSON.parse(readFileSync(join(dist, '.stamp.json'), 'utf8'));
const programs = Object.keys(files).filter((name) => /^[^/]+\.js$/.test(name));

/** Text of programs that ajv could write to a file, which nobody asks it for. */
function isWrittenByAjv(name: string): boolean {
  return /^ajv(?:-formats)?\/dist\//.test(name);
}

test('what the bundle loads from elsewhere is exactly what the package depends on', () => {
  const loaded = programs.flatMap((name) => {
    const text = readFileSync(join(dist, name), 'utf8');
    return [...text.matchAll(/\b(?:require|import)\(["'`](?!node:)([^"'`.][^"'`]*)["'`]\)/g)].map(
      ([, from]) => from as string,
    );
  });

  // cosmiconfig would read configurations in TypeScript with it, which is never asked for.
  const expected = new Set([...Object.keys(dependencies), 'typescript']);
  expect(new Set(loaded.filter((name) => !isBuiltin(name) && !isWrittenByAjv(name)))).toEqual(expected);
});

test.each(['zod', 'yaml', 'pino', 're2js', 'commander', 'undici'])(
  '%s is inside, with its version and licence',
  (name) => {
    const { version, license } = JSON.parse(
      readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'),
    );

    const notice = readFileSync(join(dist, 'THIRD-PARTY.txt'), 'utf8');

    expect(notice).toContain(`\n${name} ${version} (${license})\n\n`);
    expect(notice).toContain(readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8').trim());
  },
);

test('what sends a prompt is one file beside the entry and the runtime, without the database', () => {
  const sending = readFileSync(
    join(dist, programs.find((name) => name.startsWith('send-')) as string),
    'utf8',
  );

  const atOnce = [...sending.matchAll(/(?<!\?)=require\(["'`]\.\/([^"'`]+)-[\w-]{8}\.js["'`]\)/g)].map(
    ([, name]) => name,
  );

  expect(atOnce).toEqual(['rolldown-runtime']);
  // Conversations are read and kept where they are asked for.
  expect(sending).not.toMatch(/sqlite/i);
});

test('no program begins with what is for clouds: it is read by the first request that needs it', () => {
  const text = (name: string) => readFileSync(join(dist, name), 'utf8');
  const clouds = programs.filter((name) =>
    /^(?:aws|azure|bearer|credential-cache|event-streams?|google)-/.test(name),
  );
  const others = programs.filter((name) => !clouds.includes(name));

  expect(clouds.some((name) => text(name).includes('AWS4-HMAC-SHA256'))).toBe(true);
  expect(
    others.filter((name) => clouds.some((cloud) => text(name).includes(`=require("./${cloud}")`))),
  ).toEqual([]);
  expect(others.filter((name) => text(name).includes('AWS4-HMAC-SHA256'))).toEqual([]);
});
