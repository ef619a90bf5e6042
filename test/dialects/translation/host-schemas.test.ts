import { expect, test } from 'vitest';
import { toHostSchema as toSchemaOf } from '../../../src/dialects/translation/host-schemas.ts';
import { createExpansion } from '../../../src/dialects/translation/references.ts';
import type { HostTraits } from '../../../src/hosts/traits.ts';
import { startTranslation } from './run-translation.ts';

const toHostSchema = (schema: Readonly<Record<string, unknown>>, kind: HostTraits['schemas']) =>
  toSchemaOf(schema, kind, createExpansion([schema]).of('f'));

const object = (properties: object) => ({ type: 'object', properties });

test('a host without a habit gets the schema as it is', () => {
  const schema = object({ a: { type: 'string', pattern: 'x' } });

  expect(toHostSchema(schema, 'any')).toBe(schema);
});

test('patterns become words of the description', () => {
  const schema = object({
    a: { type: 'string', pattern: '[a-z]+', description: 'A name.' },
    pattern: { type: 'string' },
  });

  expect(toHostSchema(schema, 'no_patterns')).toEqual(
    object({
      a: { type: 'string', description: 'A name.\n\npattern: "[a-z]+"' },
      pattern: { type: 'string' },
    }),
  );
});

test('the type beside a union moves into the variants that have none', () => {
  const schema = object({
    a: { type: 'object', anyOf: [{ required: ['b'] }, { type: 'string' }, { $ref: '#/x' }] },
  });

  expect(toHostSchema(schema, 'typed_unions')).toEqual(
    object({ a: { anyOf: [{ type: 'object', required: ['b'] }, { type: 'string' }, { $ref: '#/x' }] } }),
  );
});

test("Google's form has its own keywords alone, and words for the others", () => {
  const schema = {
    $schema: 'x',
    ...object({
      name: { type: ['string', 'null'], format: 'uri' },
      count: { type: 'integer', exclusiveMinimum: 0 },
      kind: { const: 'plant' },
      either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      many: { type: ['string', 'integer'] },
      list: { type: 'array' },
    }),
    additionalProperties: false,
    required: ['name', 'gone'],
  };

  expect(toHostSchema(schema, 'google')).toEqual({
    ...object({
      name: { type: 'string', nullable: true, description: 'format: "uri"' },
      count: { type: 'integer', description: 'exclusiveMinimum: 0' },
      kind: { type: 'string', enum: ['plant'] },
      either: { nullable: true, anyOf: [{ type: 'string' }] },
      many: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      list: { type: 'array', items: { type: 'string' } },
    }),
    required: ['name'],
  });
});

test('a schema that names itself ends, and so does one whose references multiply', () => {
  const node = object({ next: { $ref: '#/$defs/node' } });
  const doubled = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `d${i}`,
      object({ a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } }),
    ]),
  );

  expect(toHostSchema({ ...node, $defs: { node } }, 'google')).toEqual(
    object({ next: object({ next: { type: 'object' } }) }),
  );
  expect(() => toHostSchema({ $ref: '#/$defs/d0', $defs: doubled }, 'google')).toThrow(/schema of f/);
});

test("Google's form has what references and parts name", () => {
  const $defs = {
    Color: { type: 'string', enum: ['red', 'green'] },
    A: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
  };
  const properties = {
    c: { allOf: [{ $ref: '#/$defs/Color' }], description: 'c' },
    s: { allOf: [{ type: 'string' }, { minLength: 1 }] },
    a: { allOf: [{ $ref: '#/$defs/A' }, { properties: { y: { type: 'string' } } }] },
  };

  expect(toHostSchema({ ...object(properties), $defs }, 'google')).toEqual(
    object({
      c: { type: 'string', enum: ['red', 'green'], description: 'c' },
      s: { type: 'string', minLength: 1 },
      a: { ...object({ x: { type: 'number' }, y: { type: 'string' } }), required: ['x'] },
    }),
  );
});

test.each([
  ['many tools name one large definition', 200, { $ref: '#/$defs/large' }],
  ['references lead to references', 1, { $ref: '#/$defs/d0' }],
])('where %s, the request is refused with the name of the tool', (_what, count, parameter) => {
  const chain = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, i) => [`d${i}`, object({ a: { $ref: `#/$defs/d${i + 1}` } })]),
  );
  const large = object(
    Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`p${i}`, { type: 'string' }])),
  );
  const twice = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`q${i}`, parameter]));
  const tools = Array.from({ length: count }, (_, i) => ({
    type: 'function',
    function: {
      name: `f${i}`,
      parameters: { ...object(twice), $defs: { large, ...(count === 1 && chain) } },
    },
  }));
  const at = { host: 'gemini', targetModel: 'gemini-3-pro' } as const;
  const input = {
    model: 'm',
    input: 'x',
    tools: tools.map(({ function: each }) => ({ type: 'function', ...each })),
  };

  expect(() => startTranslation('responses', 'chat', input, at)).toThrow(
    /the references in the schema of f\d+/,
  );
});
