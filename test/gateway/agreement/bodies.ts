import type { TextDialectName } from '../../../src/dialects/registry.ts';

const card = '4111 1111 1111 1111';
/** What users say, and how a dialect may split it. */
const sayings: Readonly<Record<string, readonly string[]>> = {
  harmless: ['what is a proxy?'],
  codename: ['what about project nightfall?'],
  'codename in two blocks': ['what about project', ' nightfall?'],
  lake: ['on the silver lake'],
  warned: ['please'],
  'warned and blocked': ['please', 'project nightfall'],
  card: [`my card is ${card}`],
  mails: ['write to rosa@acme.example and ops@acme.example'],
  'image in words': [`data:image/png;base64,${'iVBORw0KGgo'.repeat(3)}`],
  long: ['la '.repeat(1_200)],
};

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const ask = (content: unknown, more: object = {}) => ({
  max_tokens: 9,
  ...more,
  messages: [{ role: 'user', content }],
});
const talk = (assistant: readonly object[], user: unknown = 'go on') => ({
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: assistant },
    { role: 'user', content: user },
  ],
});
const called = { type: 'tool_use', id: 't1', name: 'f', input: { a: card } };
const result = { type: 'tool_result', tool_use_id: 't1', content: 'on the silver lake' };
const signed = (thinking: string) => ({ type: 'thinking', thinking, signature: 'c2ln' });
const said = (text: string) => ({ type: 'text', text });

const contents = (...parts: readonly object[]) => ({ contents: [{ role: 'user', parts }] });

/** Bodies without a model by what is special about them, for each dialect. */
export const bodies: Readonly<Record<TextDialectName, readonly (readonly [string, object])[]>> = {
  // biome-ignore format: a case a line
  messages: [
    ...Object.entries(sayings).map(([name, texts]) => [name, ask(texts.map(said))] as const),
    ['system and user', ask('nightfall', { system: 'project' })],
    ['no cap', { messages: [{ role: 'user', content: 'hi' }] }],
    ['a high cap', ask('hi', { max_tokens: 500 })],
    ['a tool', ask('hi', { tools: [{ name: 'shell', input_schema: { type: 'object' } }] })],
    ['an image', ask([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }])],
    ['a file', ask([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }])],
    ['signed thinking', talk([signed(card), said('ok')])],
    ['dropped thinking', talk([said('project '), signed('hm'), said('nightfall')])],
    ['a document', ask([{ type: 'document', title: 'project', source: { type: 'text', media_type: 'text/plain', data: 'nightfall' } }, said('hi')])],
    ['a result', talk([called], [result])],
    ['not a list', { max_tokens: 9, messages: 'hi' }],
  ],
  // biome-ignore format: a case a line
  chat: [
    ...Object.entries(sayings).map(([name, texts]) => [name, { messages: [{ role: 'user', content: texts.map(said) }] }] as const),
    ['a high cap', { max_completion_tokens: 500, messages: [{ role: 'user', content: 'hi' }] }],
    ['a tool', { tools: [{ type: 'function', function: { name: 'shell' } }], messages: [{ role: 'user', content: 'hi' }] }],
    ['an image', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }] }] }],
    ['two systems', { messages: [{ role: 'system', content: 'project' }, { role: 'system', content: 'nightfall' }, { role: 'user', content: 'hi' }] }],
    ['an unknown role', { messages: [{ role: 'narrator', content: 'on the silver lake' }] }],
  ],
  responses: [
    ...Object.entries(sayings).map(([name, texts]) => {
      const content = texts.map((text) => ({ type: 'input_text', text }));
      return [name, { input: [{ role: 'user', content }] }] as const;
    }),
    ['instructions', { instructions: 'project', input: 'nightfall' }],
    ['a high cap', { max_output_tokens: 500, input: 'hi' }],
    ['a tool', { tools: [{ type: 'shell' }], input: 'hi' }],
    ['a reference', { input: 'hi', previous_response_id: 'resp_1' }],
  ],
  // biome-ignore format: a case a line
  gemini: [
    ...Object.entries(sayings).map(([name, texts]) => [name, contents(...texts.map((text) => ({ text })))] as const),
    ['a high cap', { generationConfig: { maxOutputTokens: 500 }, ...contents({ text: 'hi' }) }],
    ['a tool', { tools: [{ functionDeclarations: [{ name: 'shell' }] }], ...contents({ text: 'hi' }) }],
    ['an image', contents({ inlineData: { mimeType: 'image/png', data: pixel } })],
    ['a file', contents({ fileData: { fileUri: 'files/a' } })],
    ['kept content', { cachedContent: 'cachedContents/a', ...contents({ text: 'hi' }) }],
    ['dropped thinking', { contents: [{ role: 'model', parts: [{ text: 'project ' }, { text: 'hm', thought: true }, { text: 'nightfall' }] }, ...contents({ text: 'hi' }).contents] }],
    ['a response', { contents: [{ role: 'model', parts: [{ functionCall: { name: 'f', args: { a: card } } }] }, ...contents({ functionResponse: { name: 'f', response: { output: 'on the silver lake' } } }).contents] }],
    ['an unknown role', { contents: [{ role: 'narrator', parts: [{ text: 'on the silver lake' }] }] }],
  ],
};
