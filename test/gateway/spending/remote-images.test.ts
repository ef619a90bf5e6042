import { describe, expect, test } from 'vitest';
import { countRemoteImages } from '../../../src/gateway/spending/worst-input.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { imageTokensOf } from '../../../src/limits/known-models.ts';

const count = (part: unknown) =>
  countRemoteImages(
    parseStrictJson(Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: [part] }] }))),
  );
const url = 'https://pictures.example/a.png';
const data = `data:image/png;base64,${'iVBORw0KGgo'.repeat(20)}`;

describe('an image that a request only names is counted', () => {
  test.each([
    ['chat', { type: 'image_url', image_url: { url, detail: 'high' } }],
    ['chat, as some hosts take it', { type: 'image_url', image_url: url }],
    ['responses', { type: 'input_image', image_url: url }],
    ['responses, by a file', { type: 'input_image', file_id: 'file-1' }],
    ['messages', { type: 'image', source: { type: 'url', url } }],
    ['messages, by a file', { type: 'image', source: { type: 'file', file_id: 'file_1' } }],
    ['another scheme', { type: 'image_url', image_url: { url: 'gs://bucket/a.png' } }],
    [
      'the result of a tool',
      { type: 'tool_result', content: [{ type: 'image', source: { type: 'url', url } }] },
    ],
  ])('%s', (_name, part) => {
    expect(count(part)).toBe(1);
  });

  test.each([
    ['its own bytes in chat', { type: 'image_url', image_url: { url: data } }],
    ['its own bytes in responses', { type: 'input_image', image_url: data }],
    [
      'its own bytes in messages',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    ],
    ['an address in the input of a tool', { type: 'tool_use', input: { url } }],
    ['a text', { type: 'text', text: url }],
  ])('but not %s', (_name, part) => {
    expect(count(part)).toBe(0);
  });
});

test('by what is known of its model', () => {
  const names = ['claude-opus-4-8', 'gpt-4o', 'gpt-4o-mini-2024-07-18', 'gpt-5', 'o4-mini', 'gpt-5.5', 'own'];

  expect(names.map(imageTokensOf)).toEqual([4_784, 3_779, 48_169, 3_779, 3_779, 16_384, 16_384]);
});
