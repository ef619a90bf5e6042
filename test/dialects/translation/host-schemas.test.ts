import { expect, test } from 'vitest';
import { toHostSchema } from '../../../src/dialects/translation/host-schemas.ts';

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
  expect(JSON.stringify(toHostSchema({ $ref: '#/$defs/d0', $defs: doubled }, 'google')).length).toBeLessThan(
    2_000_000,
  );
});
