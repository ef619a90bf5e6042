import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DialectName } from '../../../src/dialects/registry.ts';
import { newestOpenAi, openAi7 } from '../../kit/openai.ts';
import { decider } from '../deciding.ts';

// What the provider keeps and the model reads can't be seen here. Every field of the official SDKs whose name says that it
// refers to something counts as a reference, or is listed here with the reason why not.
const strict = decider({ unseen_references: 'block', rules: [] });
const isRefused = (endpoint: DialectName, body: object) =>
  strict({ model: 'm', ...body }, { endpoint }).refusal?.reason === 'content.unseen_reference';

const packages = join(import.meta.dirname, '../../../node_modules');
const declarations = [
  join(packages, '@anthropic-ai/sdk/resources/messages/messages.d.ts'),
  join(packages, '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts'),
  join(newestOpenAi, 'resources/responses/responses.d.ts'),
  join(newestOpenAi, 'resources/chat/completions/completions.d.ts'),
];

const noReferences: Readonly<Record<string, string>> = {
  tool_use_id: 'a call in the same body',
  call_id: 'a call in the same body',
  tool_call_id: 'a call in the same body',
  caller_id: 'a call in the same body',
  tool_id: 'a call in the same body',
  item_id: "an answer's",
  approval_request_id: 'an item in the same body',
  previous_message_id: 'of a thread, which is a reference itself; of diagnostics, only compared',
  comparison_response_id: "compared with the request's prefix, not read by the model",
  stream_id: 'of a WebSocket',
  tab_id: "of the client's browser",
  download_id: "of the client's browser",
  document_ids: "of the client's browser",
  user_id: 'who asks',
  user_profile_id: 'who asks',
  workspace_id: 'who pays',
};

const declared = new Set(
  declarations.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return [...text.matchAll(/^ +(\w+(?:_ids?|_url|_uri)|encrypted_\w+)\??: (?:Array<)?string/gm)].map(
      ([, name = '']) => name,
    );
  }),
);

test('all fields that refer to something are known', () => {
  expect(declared.size).toBeGreaterThan(20);
  const unknown = [...declared].filter((name) => {
    const block = { type: 'text', text: 'hi', [name]: 'x_1' };
    return !isRefused('messages', { messages: [{ role: 'user', content: [block] }] });
  });
  expect(unknown.filter((name) => !(name in noReferences))).toEqual([]);
});

test.skipIf(openAi7 === undefined)('and no others are listed', () => {
  expect(Object.keys(noReferences).filter((name) => !declared.has(name))).toEqual([]);
});

describe('a conversation or container that the provider keeps', () => {
  const environment = { type: 'container_reference', container_id: 'cntr_1' };
  const unseen: readonly (readonly [DialectName, object])[] = [
    ['messages', { thread: { type: 'continue', previous_message_id: 'msg_1' } }],
    ['messages', { thread: { type: 'create', previous_message_id: 'msg_1' } }],
    ['messages', { thread: { previous_message_id: 'msg_1' } }],
    ['messages', { thread: 'msg_1' }],
    ['responses', { input: 'hi', conversation: { id: 'conv_1' } }],
    ['responses', { prompt: { id: 'pmpt_1' } }],
    ['chat', { preset: 'ours' }],
    ['responses', { tools: [{ type: 'shell', environment }] }],
    [
      'responses',
      { input: [{ type: 'shell_call', call_id: 'c', action: { commands: ['ls'] }, environment }] },
    ],
    ['responses', { input: [{ type: 'code_interpreter_call', id: 'c', code: '1', container_id: 'cntr_1' }] }],
  ];
  test.each(unseen)('%s %j', (endpoint, body) => expect(isRefused(endpoint, body)).toBe(true));

  const seen: readonly (readonly [DialectName, object])[] = [
    ['messages', { thread: { type: 'create' } }],
    ['messages', { thread: null }],
    ['messages', { tools: [{ name: 'f', input_schema: { properties: { file_id: {}, image_url: {} } } }] }],
    ['chat', { response_format: { json_schema: { schema: { properties: { container_id: {} } } } } }],
    ['messages', { diagnostics: { previous_message_id: 'msg_1' } }],
    ['responses', { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }],
    ['responses', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }],
  ];
  test.each(seen)('not %s %j', (endpoint, body) => expect(isRefused(endpoint, body)).toBe(false));
});
