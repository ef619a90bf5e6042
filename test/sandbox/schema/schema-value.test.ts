import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { buildValue } from '../../../src/sandbox/schema/schema-value.ts';

const ajv = new Ajv2020({ strict: false });
// The package is CommonJS: its default export is a property under Node's loader.
(addFormats as unknown as { default: (ajv: Ajv2020) => void }).default(ajv);

const build = (schema: unknown) => buildValue({ schema, path: ['schema'] });
const formats = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
  'json-pointer',
  'regex',
];

const schemas: [string, unknown][] = [
  ['nothing said', {}],
  ['true', true],
  [
    'every simple type',
    {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'integer' },
        c: { type: 'number' },
        d: { type: 'boolean' },
        e: { type: 'null' },
        f: { type: 'array' },
        g: { type: 'object' },
      },
    },
  ],
  [
    'only the required ones',
    { type: 'object', properties: { a: { type: 'string' }, b: false }, required: ['a'] },
  ],
  [
    'a required property that is not declared',
    { type: 'object', required: ['a'], additionalProperties: { type: 'integer' } },
  ],
  [
    'a property called __proto__',
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}'),
  ],
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
  [
    'different texts',
    { type: 'array', items: { type: 'string', maxLength: 8 }, minItems: 12, uniqueItems: true },
  ],
  [
    'different short texts',
    { type: 'array', items: { type: 'string', maxLength: 3 }, minItems: 9, uniqueItems: true },
  ],
  [
    'different numbers',
    { type: 'array', items: { type: 'integer', minimum: 5, maximum: 8 }, minItems: 4, uniqueItems: true },
  ],
  [
    'different words of a list',
    { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 3, uniqueItems: true },
  ],
  [
    'different patterned texts',
    { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, minItems: 3, uniqueItems: true },
  ],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 },
  ],
  ['an item that must be there', { type: 'array', contains: { const: 5 } }],
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
  ['a branch that is never right', { anyOf: [false, { type: 'boolean' }] }],
  [
    'allOf',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'integer', minimum: 2 } }, required: ['a'] },
        { properties: { a: { maximum: 2 }, b: { type: 'string' } }, required: ['b'] },
      ],
    },
  ],
  ['allOf of enums', { allOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] }],
  ['allOf of types', { allOf: [{ type: 'number' }, { type: 'integer' }] }],
  [
    'a reference',
    {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' } },
      required: ['a'],
      $defs: { x: { type: 'integer', minimum: 9 } },
    },
  ],
  ['a reference with escapes', { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'boolean' } } }],
  [
    'a tree',
    {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
          },
          required: ['name', 'children'],
        },
      },
    },
  ],
  [
    'a list by links',
    {
      type: 'object',
      properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
      required: ['next'],
    },
  ],
  [
    'enough properties',
    { type: 'object', properties: { a: { type: 'string' } }, required: [], minProperties: 3 },
  ],
  ...formats.map((format): [string, unknown] => [`format ${format}`, { type: 'string', format }]),
  ...[
    '^[A-Z]{2}-\\d{4,6}$',
    '^(red|green)$',
    '^\\w+@\\w+\\.com$',
    '^[^a0]+x?$',
    '^(?:ab)*c+.$',
    '^(?<year>\\d{4})/\\d\\d$',
    '^\\u0041[\\-\\]x]$',
    'abc',
    '',
    '^$',
    '^[+]?[\\d\\s]{7,}$',
  ].map((pattern): [string, unknown] => [`pattern ${pattern}`, { type: 'string', pattern }]),
  ['a pattern of some length', { type: 'string', pattern: '^[a-z]+$', minLength: 5, maxLength: 9 }],
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

test('falls back to a word for a pattern it cannot read', () => {
  expect(build({ type: 'string', pattern: '^(?=a)\\bx\\1$' })).toBe('sandbox');
});

describe('refuses with the place', () => {
  test.each([
    ['false', false],
    ['no schema', { allOf: ['x'] }],
    ['an empty enum', { enum: [] }],
    ['a missing reference', { $ref: '#/$defs/x' }],
    ['a reference elsewhere', { $ref: 'https://example.com/x' }],
    ['a reference to itself', { $ref: '#' }],
    ['no end', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['too many items', { type: 'array', items: { type: 'string' }, minItems: 1e9 }],
    ['too long a text', { type: 'string', minLength: 1e9 }],
    [
      'a bomb of items',
      {
        type: 'array',
        minItems: 900,
        items: { type: 'array', minItems: 900, items: { type: 'array', minItems: 900 } },
      },
    ],
  ])('%s', (_name, schema) => {
    expect(() => build(schema)).toThrow(expect.objectContaining({ status: 400, path: ['schema'] }));
  });
});

test.each(['(a+)+$', '(((a*)*)*)*b', '((a{9999}){9999}){9999}', '('.repeat(400)])(
  'is not held up by %s',
  (pattern) => {
    expect(build({ type: 'string', pattern, minLength: 30, maxLength: 40 })).toSatisfy(
      (text: string) => text.length >= 30 && text.length <= 40,
    );
  },
);
