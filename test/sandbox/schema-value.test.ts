import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { buildValue as build } from '../../src/sandbox/schema-value.ts';

const ajv = new Ajv2020({ strict: false });
// The package is CommonJS: its default export is a property under Node's loader.
(addFormats as unknown as { default: (ajv: Ajv2020) => void }).default(ajv);

const formats = ['date-time', 'date', 'time', 'email', 'uri', 'uuid'];

// biome-ignore format: a case a line
const schemas: [string, unknown][] = [
  ['nothing said', {}],
  ['true', true],
  ['only the required ones', { type: 'object', properties: { a: { type: 'string' }, b: false }, required: ['a'] }],
  ['a required property that is not declared', { type: 'object', required: ['a'], additionalProperties: { type: 'integer' } }],
  ['a property called __proto__', JSON.parse('{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}')],
  ['const and enum', { type: 'object', properties: { a: { const: { x: 1 } }, b: { enum: [3, 'x'] } } }],
  ['several types', { type: ['null', 'integer'], minimum: 4 }],
  ['bounds of integers', { type: 'integer', exclusiveMinimum: -9, maximum: -7 }],
  ['bounds of numbers', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 }],
  ['one possible number', { type: 'number', minimum: 2.5, maximum: 2.5 }],
  ['an upper bound', { type: 'number', exclusiveMaximum: -3 }],
  ['a multiple', { type: 'integer', multipleOf: 7, minimum: 20 }],
  ['a multiple below', { type: 'number', multipleOf: 0.5, maximum: -2 }],
  ['a long text', { type: 'string', minLength: 50 }],
  ['a short text', { type: 'string', minLength: 1, maxLength: 2 }],
  ['an empty text', { type: 'string', maxLength: 0 }],
  ['items', { type: 'array', items: { type: 'string' }, minItems: 3 }],
  ['no items', { type: 'array', items: { type: 'string' }, maxItems: 0 }],
  ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 }],
  ['anyOf', { anyOf: [{ type: 'integer', minimum: 3 }, { type: 'string' }] }],
  [
    'oneOf beside properties',
    {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      oneOf: [{ properties: { b: { const: 1 } }, required: ['b'] }, { required: ['c'] }],
    },
  ],
  ['a reference', { type: 'object', properties: { a: { $ref: '#/$defs/x' } }, required: ['a'], $defs: { x: { type: 'integer', minimum: 9 } } }],
  ['a tree', { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } }, required: ['children'] }],
  ['a list by links', { type: 'object', properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } }, required: ['next'] }],
  ...formats.map((format): [string, unknown] => [`format ${format}`, { type: 'string', format }]),
  [
    'what zod writes',
    z.toJSONSchema(
      z.object({
        id: z.uuid(),
        mail: z.email(),
        when: z.iso.datetime(),
        level: z.enum(['low', 'high']),
        count: z.number().int().positive().max(9),
        tags: z.array(z.string().min(3)).min(2),
        shape: z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('circle'), radius: z.number().positive() }),
          z.object({ kind: z.literal('square'), side: z.number() }),
        ]),
        note: z.string().nullable(),
        pair: z.tuple([z.string(), z.boolean()]),
        map: z.record(z.string(), z.number()),
      }),
    ),
  ],
];

test.each(schemas)('satisfies: %s', (_name, schema) => {
  const value = build(schema);

  const isValid = ajv.compile(schema as boolean | object)(value);
  expect([JSON.stringify(value), isValid]).toEqual([JSON.stringify(value), true]);
  expect(build(schema)).toEqual(value);
});

test('fills all properties of a schema that requires none', () => {
  expect(build({ type: 'object', properties: { city: { type: 'string' } } })).toEqual({ city: 'sandbox' });
});

test.each([
  ['a reference to itself', { $ref: '#' }],
  ['many items', { type: 'array', items: { type: 'string' }, minItems: 1e9 }],
  ['a long text', { type: 'string', minLength: 1e9 }],
  ['a pattern', { type: 'string', pattern: '(a+)+$' }],
])('is not held up by %s', (_name, schema) => {
  expect(JSON.stringify(build(schema)).length).toBeLessThan(11_000);
});

test.each([
  ['without end', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
  ['that is several times in itself', { allOf: Array.from({ length: 8 }, () => ({ $ref: '#' })) }],
  [
    'whose parts grow',
    { allOf: Array.from({ length: 4_000 }, (_, i) => ({ properties: { [`p${i}`]: {} } })) },
  ],
  [
    'with many long references',
    {
      allOf: Array.from({ length: 100 }, () => ({ $ref: '#/$defs/x' })),
      $defs: { x: { $ref: `#${'/x'.repeat(9_000)}` } },
    },
  ],
  ['with many long texts', { type: 'array', minItems: 90, items: { type: 'string', minLength: 10_000 } }],
])('refuses a schema %s', (_name, schema) => {
  expect(() => build(schema)).toThrow(expect.objectContaining({ code: 'request.field', param: 'schema' }));
});
