import { describe, expect, test } from 'vitest';
import { findRemoteContent } from '../../../src/gateway/spending/demand.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { knownModel, mostImageTokens } from '../../../src/limits/known-models.ts';
import { growth } from '../../kit/growth.ts';

const count = (part: unknown) =>
  findRemoteContent(
    parseStrictJson(Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: [part] }] }))),
  ).images;
const url = 'https://pictures.example/a.png';
const data = `data:image/png;base64,${'iVBORw0KGgo'.repeat(20)}`;

describe('an image that a request only names is counted', () => {
  test.each([
    ['chat', { type: 'image_url', image_url: { url, detail: 'high' } }],
    ['responses', { type: 'input_image', image_url: url }],
    ['responses, by a file', { type: 'input_image', file_id: 'file-1' }],
    ['messages', { type: 'image', source: { type: 'url', url } }],
    ['messages, by a file', { type: 'image', source: { type: 'file', file_id: 'file_1' } }],
    ['another scheme', { type: 'image_url', image_url: { url: 'gs://bucket/a.png' } }],
    ['a screen by its address', { type: 'computer_screenshot', image_url: url }],
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
    ['an address in the input of a tool', { type: 'tool_use', input: { type: 'image', url } }],
    ['a text', { type: 'text', text: url }],
  ])('but not %s', (_name, part) => {
    expect(count(part)).toBe(0);
  });
});

describe('other content that a request only names is found', () => {
  const named = (body: unknown) =>
    findRemoteContent(parseStrictJson(Buffer.from(JSON.stringify(body)))).hasOther;
  const inChat = (part: unknown) => ({ messages: [{ role: 'user', content: [part] }] });
  const inResponses = (part: unknown) => ({ input: [{ role: 'user', content: [part] }] });
  const inGemini = (part: unknown) => ({ contents: [{ role: 'user', parts: [part] }] });

  test.each([
    ['a file of a chat', inChat({ type: 'file', file: { file_id: 'file-1' } })],
    ['a document of Claude by an address', inChat({ type: 'document', source: { type: 'url', url } })],
    ['the same by a file', inChat({ type: 'document', source: { type: 'file', file_id: 'file_1' } })],
    ['a file of Responses', inResponses({ type: 'input_file', file_id: 'file-1' })],
    ['the same by an address', inResponses({ type: 'input_file', file_url: url })],
    ['a document of Mistral by an address', inChat({ type: 'document_url', document_url: url })],
    ['a file of Perplexity by an address', inChat({ type: 'file_url', file_url: { url } })],
    ['a file of OpenRouter by an address', inChat({ type: 'file', file: { file_data: url } })],
    ['an image in a block that no dialect has', inChat({ type: 'picture', image_url: url })],
    ['a video by an address', inChat({ type: 'video_url', video_url: { url } })],
    ['an earlier answer', { input: 'more', previous_response_id: 'resp_1' }],
    ['a conversation', { input: 'more', conversation: 'conv_1' }],
    ['a prompt', { input: 'more', prompt: { id: 'pmpt_1' } }],
    ['an item', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['an item by its id alone', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }],
    ['a file of Gemini', inGemini({ fileData: { fileUri: 'files/1' } })],
    ['the same in snake case', inGemini({ file_data: { file_uri: 'gs://bucket/1' } })],
    ['a cache of Gemini', { ...inGemini({ text: 'more' }), cachedContent: 'cachedContents/1' }],
    ['the same in snake case', { cached_content: 'cachedContents/1' }],
  ])('%s', (_name, body) => {
    expect(named(body)).toBe(true);
  });

  const file = { type: 'file', url: 'src/a.ts' };
  const properties = { properties: { page_url: 'x' } };
  const quotation = { type: 'file_citation', file_id: 'file-1' };

  test.each([
    ['a file with its bytes', inChat({ type: 'file', file: { filename: 'a.pdf', file_data: data } })],
    ['a document with its text', inChat({ type: 'document', source: { type: 'text', data: 'hello' } })],
    ['an image by an address, of which the most is known', inChat({ type: 'image_url', image_url: { url } })],
    ['the bytes of Gemini', inGemini({ inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } })],
    ['what is switched off', { input: 'more', previous_response_id: null, conversation: null }],
    ['an item with its text', { input: [{ type: 'message', id: 'msg_1', role: 'user', content: 'hello' }] }],
    ['an address in the input of a tool', inChat({ type: 'tool_use', input: { file_url: url } })],
    ['a file in the input of a tool', inChat({ type: 'tool_use', input: file })],
    ['the same in Gemini', inGemini({ functionCall: { name: 'read', args: { list: [file] } } })],
    ['the result of a tool in Gemini', inGemini({ functionResponse: { name: 'read', response: file } })],
    ['the name of an argument', { tools: [{ type: 'function', function: { parameters: properties } }] }],
    ['the source of a quotation', inResponses({ type: 'output_text', text: 'x', annotations: [quotation] })],
  ])('but not %s', (_name, body) => {
    expect(named(body)).toBe(false);
  });
});

test('by what is known of its model', () => {
  const names = ['claude-opus-4-8', 'gpt-4o', 'gpt-4o-mini-2024-07-18', 'gpt-5', 'o4-mini', 'gpt-5.5', 'own'];

  expect(names.map((name) => knownModel(name)?.imageTokens ?? mostImageTokens)).toEqual([
    4_784, 3_779, 48_169, 3_779, 3_779, 16_384, 16_384,
  ]);
});

test.each([
  ['https', true],
  ['data', false],
])('an address is known by its scheme in escapes too: %s', (scheme, isNamed) => {
  const escaped = [...scheme].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('');
  for (const part of [`"file_data":"${escaped}:x"`, `"video_url":"${escaped}:x"`]) {
    const body = `{"messages":[{"role":"user","content":[{${part}}]}]}`;
    expect(findRemoteContent(parseStrictJson(Buffer.from(body))).hasOther).toBe(isNamed);
  }
});

test('images in images take hardly longer than images side by side', () => {
  const nested = (depth: number) => `${'{"type":"image","source":'.repeat(depth)}{}${'}'.repeat(depth)}`;
  const bodyOf = (part: string) => {
    const parts = Array.from({ length: Math.ceil(500_000 / part.length) }, () => part);
    return parseStrictJson(Buffer.from(`{"messages":[${parts.join()}]}`));
  };

  const small = bodyOf(nested(1));
  for (let i = 0; i < 5; i += 1) findRemoteContent(small); // compiled by then

  const times = growth(findRemoteContent, { small, large: bodyOf(nested(90)), limit: 8 });

  expect(times).toBeLessThan(8);
});
