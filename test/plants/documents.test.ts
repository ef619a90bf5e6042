import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asyncapi } from '../../src/plants/contract/asyncapi.ts';
import { openapi } from '../../src/plants/contract/openapi.ts';
import { describeDatabases } from './databases.ts';
import { startTestStore, type TestStore } from './fixture.ts';

const documented = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
);

test("the typed client's file is made from this OpenAPI document", () => {
  const generated = readFileSync(
    new URL('../../src/client/plants-api.generated.ts', import.meta.url),
    'utf8',
  );
  const hash = createHash('sha256').update(JSON.stringify(openapi)).digest('hex');

  // Where this fails: npm run build:modules && node scripts/generate-plants-api.mjs
  expect(generated).toContain(`sha256 ${hash}`);
});

test('every reference of both documents leads somewhere', () => {
  for (const document of [openapi, asyncapi]) {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, pointer = '']) => pointer,
    );
    const broken = references.filter((pointer) => {
      let value: unknown = document;
      for (const part of pointer.split('/')) value = (value as Record<string, unknown> | undefined)?.[part];
      return value === undefined;
    });

    expect(references.length).toBeGreaterThan(10);
    expect(broken).toEqual([]);
  }
});

describeDatabases('the documents', (databases) => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startTestStore(databases);
  });
  afterAll(() => store.drain());

  test('are served as they are', async () => {
    const [http, events] = [
      await store.send({ path: '/openapi.json' }),
      await store.send({ path: '/asyncapi.json' }),
    ];

    expect(http.json).toEqual(JSON.parse(JSON.stringify(openapi)));
    expect(events.json).toEqual(JSON.parse(JSON.stringify(asyncapi)));
  });

  test.each(documented)('%s %s is served', async (method, path) => {
    const { status, text } = await store.send({ method, path: path.replace(/\{\w+\}/, '1') });

    expect([200, 400, 401, 415]).toContain(status);
    expect(text).not.toContain('endpoint.unknown');
  });
});
