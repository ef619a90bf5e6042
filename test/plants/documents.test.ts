import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';
import type { NewPlant, Plant, PlantChange, PlantsPath, StoreToken, User } from '../../src/client/plants.ts';
import { asyncapi } from '../../src/plants/contract/asyncapi.ts';
import { openapi } from '../../src/plants/contract/openapi.ts';
import type {
  newPlantSchema,
  plantChangeSchema,
  plantSchema,
  sessionSchema,
  userSchema,
} from '../../src/plants/contract/schemas.ts';
import { describeDatabases } from './databases.ts';
import { startTestStore, type TestStore } from './fixture.ts';

const documented = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
);

/** The type of the values that a JSON Schema describes. */
type FromSchema<Schema> = Schema extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { readonly items: infer Items }
    ? FromSchema<Items>[]
    : Schema extends { readonly properties: infer All }
      ? {
          -readonly [Name in keyof All as Extract<Name, RequiredOf<Schema>>]: FromSchema<All[Name]>;
        } & {
          -readonly [Name in keyof All as Exclude<Name, RequiredOf<Schema>>]?: FromSchema<All[Name]>;
        }
      : Schema extends { readonly type: readonly (infer Type)[] }
        ? TypeNames[Type & keyof TypeNames]
        : Schema extends { readonly type: infer Type }
          ? TypeNames[Type & keyof TypeNames]
          : never;
type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;
interface TypeNames {
  string: string;
  integer: number;
  null: null;
}

test("the client's types are those of the documents", () => {
  // Checked by the compiler, in both directions.
  expectTypeOf<Plant>().branded.toEqualTypeOf<FromSchema<typeof plantSchema>>();
  expectTypeOf<NewPlant>().branded.toEqualTypeOf<FromSchema<typeof newPlantSchema>>();
  expectTypeOf<PlantChange>().branded.toEqualTypeOf<FromSchema<typeof plantChangeSchema>>();
  expectTypeOf<StoreToken>().branded.toEqualTypeOf<FromSchema<typeof sessionSchema>>();
  expectTypeOf<User>().branded.toEqualTypeOf<FromSchema<typeof userSchema>>();
  expectTypeOf<PlantsPath>().toExtend<keyof typeof openapi.paths>();
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
