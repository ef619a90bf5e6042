import { describe, expect, test } from 'vitest';
import { toArgumentsSchema, toClosedSchema } from '../../../src/dialects/translation/schemas.ts';
import { startTranslation } from './run-translation.ts';

const text = { type: 'string' };

describe('the schema of arguments', () => {
  test('is the same object where nothing has to change', () => {
    const schema = {
      type: 'object',
      properties: { a: { anyOf: [text, { type: 'null' }] } },
      required: ['a'],
    };

    expect(toArgumentsSchema(schema)).toBe(schema);
  });

  test('references that multiply at the root end', () => {
    const many = Array.from({ length: 20 }, () => ({ $ref: '#/$defs/A' }));
    const $defs = { A: { anyOf: many, properties: { a: text } } };

    expect(toArgumentsSchema({ anyOf: many, $defs })).toMatchObject({ properties: { a: text } });
  });

  // biome-ignore format: a case a line
  test.each([
    ['a choice at the root', { anyOf: [{ properties: { a: text, b: text }, required: ['a', 'b'] }, { properties: { a: text, c: text }, required: ['a'] }] },
      { type: 'object', properties: { a: text, b: text, c: text }, required: ['a'] }],
    ['parts at the root', { type: 'object', properties: { z: text }, allOf: [{ properties: { a: text }, required: ['a'] }, { properties: { b: text }, required: ['b'] }] },
      { type: 'object', properties: { a: text, b: text, z: text }, required: ['a', 'b'] }],
    ['a reference at the root', { $ref: '#/$defs/A', $defs: { A: { type: 'object', properties: { a: text }, required: ['a'] } } },
      { type: 'object', properties: { a: text }, required: ['a'], $defs: { A: { type: 'object', properties: { a: text }, required: ['a'] } } }],
    ['references in a choice at the root', { anyOf: [{ $ref: '#/definitions/A' }, { allOf: [{ $ref: '#/definitions/A' }, { properties: { b: text } }] }], definitions: { A: { properties: { a: text } } } },
      { type: 'object', properties: { a: text, b: text }, definitions: { A: { properties: { a: text } } } }],
    ['a reference at the root that leads to itself', { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } }, { type: 'object' }],
    ['a list of types at the root', { type: ['object', 'null'], properties: { a: text } }, { type: 'object', properties: { a: text } }],
    ['bounds as texts, at any depth', { type: 'object', properties: { a: { type: 'array', items: { type: 'integer', minimum: '1', maximum: '9' } } } },
      { type: 'object', properties: { a: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 9 } } } }],
  ])('%s', (_name, schema, expected) => {
    expect(toArgumentsSchema(schema)).toEqual(expected);
  });
});

test('an enforced schema is closed, and its bounds are words', () => {
  const schema = {
    type: 'object',
    properties: {
      n: { type: 'integer', minimum: 1, description: 'how many' },
      list: { type: 'array', items: { type: 'object', properties: { s: { type: 'string', maxLength: 5 } } } },
    },
    required: ['n'],
  };

  expect(toClosedSchema(schema)).toEqual({
    type: 'object',
    properties: {
      n: { type: 'integer', description: 'how many\n\nminimum: 1' },
      list: {
        type: 'array',
        items: {
          type: 'object',
          properties: { s: { type: 'string', description: 'maxLength: 5' } },
          additionalProperties: false,
        },
      },
    },
    required: ['n'],
    additionalProperties: false,
  });
  expect(toClosedSchema(toClosedSchema(schema))).toEqual(toClosedSchema(schema));
});

test('a format for Claude and a strict tool are closed; other tools keep their bounds', () => {
  const parameters = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } };
  const { body } = startTranslation('chat', 'messages').request({
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    tools: [true, false].map((strict) => ({
      type: 'function',
      function: { name: `f_${strict}`, parameters, strict },
    })),
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: parameters } },
  });

  const closed = {
    type: 'object',
    properties: { n: { type: 'integer', description: 'minimum: 1' } },
    additionalProperties: false,
  };
  expect(body).toMatchObject({
    tools: [
      { name: 'f_true', input_schema: closed, strict: true },
      { name: 'f_false', input_schema: parameters },
    ],
    output_config: { format: { schema: closed } },
  });
});

test('a name that begins with a digit comes back from Gemini as the client knows it', () => {
  const translation = startTranslation('chat', 'gemini', {
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
  });
  const { body } = translation.request({
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    tools: [{ type: 'function', function: { name: '3d_view', parameters: { type: 'object' } } }],
  });
  const [
    {
      functionDeclarations: [{ name }],
    },
  ] = (body as { tools: [{ functionDeclarations: [{ name: string }] }] }).tools;

  expect(name).toMatch(/^_3d_view_[0-9a-f]{8}$/);
  const answer = {
    candidates: [{ content: { parts: [{ functionCall: { name, args: {} } }] }, finishReason: 'STOP' }],
  };
  expect(JSON.stringify(translation.answer(answer).body)).toContain('"name":"3d_view"');
});
