import { type Bypass, base64, blocked, escaped, model, codename as name, saying, turns } from './case.ts';

const none = { messages: [] };
const messages = (body: object): Bypass['body'] => ({
  model: model.messages,
  max_tokens: 9,
  ...none,
  ...body,
});
const chat = (body: object): Bypass['body'] => ({ model: model.chat, ...none, ...body });
const responses = (body: object): Bypass['body'] => ({ model: model.responses, input: 'hi', ...body });
const user = (content: unknown) => turns('messages', { role: 'user', content });
const assistant = (content: unknown) => turns('messages', { role: 'assistant', content });
const called = (more: object) => turns('chat', { role: 'assistant', content: null, ...more });
const arguments_ = (text: string) =>
  called({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }] });
const item = (value: object) => ({ model: model.responses, input: [value] });
const tool = (value: object) => ({
  tools: [{ name: 't', description: 'd', input_schema: { type: 'object' }, ...value }],
});
const parts = (...all: readonly object[]) => ({ contents: [{ role: 'user', parts: all }] });
const gemini = (body: object) => ({ ...saying('gemini', 'x'), ...body });
const file = (source: object) => user([{ type: 'document', source }]);

// biome-ignore format: a case a line
const table: readonly (readonly [Bypass['endpoint'], string, unknown])[] = [
  ['messages', 'system text', messages({ system: name })],
  ['messages', 'a turn of no known role', turns('messages', { role: 'narrator', content: name })],
  ['messages', 'a turn without a role', turns('messages', { content: name })],
  ['messages', 'a tool description', messages(tool({ description: name }))],
  ['messages', 'a schema property', messages(tool({ input_schema: { properties: { [name]: {} } } }))],
  ['messages', 'a schema default', messages(tool({ input_schema: { properties: { a: { default: { b: [name] } } } } }))],
  ['messages', 'a tool input', assistant([{ type: 'tool_use', id: 'a', name: 't', input: { deep: [{ er: name }] } }])],
  ['messages', 'a key of a tool input', assistant([{ type: 'tool_use', id: 'a', name: 't', input: { [name]: 1 } }])],
  ['messages', 'a signature', assistant([{ type: 'thinking', thinking: 'x', signature: name }])],
  ['messages', 'base64 with line breaks', file({ type: 'base64', media_type: 'text/plain', data: base64(name).replace(/(.{5})/g, '$1\n') })],
  ['messages', 'a base64 CSV source', file({ type: 'base64', media_type: 'Text/CSV; charset=utf-8', data: base64(name) })],
  ['messages', 'a base64 JSON source with escapes', file({ type: 'base64', media_type: 'application/json', data: base64(`{"a":"${escaped(name)}"}`) })],
  ['messages', 'an unknown block', user([{ type: 'hologram', payload: { inner: [[name]] } }])],
  ['messages', 'a type of block', user([{ type: name }])],
  ['messages', 'an unknown field', messages({ hologram: name })],
  ['messages', 'metadata', messages({ metadata: { user_id: name } })],
  ['messages', 'a stop sequence', messages({ stop_sequences: [name] })],
  ['messages', 'the choice of a tool', messages({ tool_choice: { type: 'tool', name } })],
  ['messages', 'a key', messages({ [name]: null })],
  ['messages', 'a second field beside text', user([{ type: 'text', text: 'hello', annotation: name }])],
  ['count_tokens', 'the counting of tokens', saying('count_tokens', name)],
  ['count_tokens', 'tools whose tokens are counted', { ...saying('count_tokens', 'x'), ...tool({ description: name }) }],
  ['chat', 'content', saying('chat', name)],
  ['chat', 'tool arguments', arguments_(JSON.stringify({ q: name }))],
  ['chat', 'tool arguments with escapes', arguments_(`{"q":"${escaped(name)}"}`)],
  ['chat', 'keys of tool arguments', arguments_(`{"${escaped(name)}":1}`)],
  ['chat', 'arguments that are JSON in JSON', arguments_(JSON.stringify({ q: `{"r":"${escaped(name)}"}` }))],
  ['chat', 'arguments with a key twice', arguments_(`{"q":"${escaped(name)}","q":""}`)],
  ['chat', 'arguments that are cut off', arguments_(`{"q":"${escaped(name)}`)],
  ['chat', 'arguments that are two values', arguments_(`"a","b":"${escaped(name)}"`)],
  ['chat', 'a list in place of arguments', arguments_(`["${escaped(name)}"]`)],
  ['chat', 'arguments behind a prefix', arguments_(`\ufeff{"q":"${escaped(name)}"}`)],
  ['chat', 'the old function call', called({ function_call: { name: 'f', arguments: `{"q":"${escaped(name)}"}` } })],
  ['chat', 'a prediction in parts', chat({ prediction: { type: 'content', content: ['project ', 'nightfall'].map((text) => ({ type: 'text', text })) } })],
  ['chat', 'the schema of the answer', chat({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { title: name } } } })],
  ['chat', 'a bias', chat({ logit_bias: { [name]: 1 } })],
  ['chat', 'a data URL without a type', turns('chat', { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:;base64,${base64(name)}` } }] })],
  ['chat', 'a data URL in capitals', turns('chat', { role: 'user', content: [{ type: 'image_url', image_url: { url: `DATA:Text/HTML;BASE64,${base64(name)}` } }] })],
  ['chat', 'an SVG', turns('chat', { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/svg+xml;base64,${base64(`<text>${name}</text>`)}` } }] })],
  ['chat', 'a content that is one object', saying('chat', { type: 'text', text: name })],
  ['chat', 'messages that are one object', { model: model.chat, messages: { role: 'user', content: name } }],
  ['chat', 'messages that are a text', { model: model.chat, messages: name }],
  ['responses', 'input', { model: model.responses, input: name }],
  ['responses', 'a function call', item({ type: 'function_call', call_id: 'a', name: 'f', arguments: `{"a":"${escaped(name)}"}` })],
  ['responses', 'the environment of a shell call', item({ type: 'local_shell_call', call_id: 'a', action: { type: 'exec', command: ['x'], env: { A: name } } })],
  ['responses', 'an item of an unknown type', item({ type: 'dream', plot: { twist: name } })],
  ['responses', 'variables of a prompt', { model: model.responses, prompt: { id: 'p', variables: { a: name } } }],
  ['responses', 'a grammar', responses({ tools: [{ type: 'custom', name: 'a', format: { type: 'grammar', definition: name } }] })],
  ['responses', 'input that is one object', { model: model.responses, input: { role: 'user', content: name } }],
  ['responses', 'headers of an MCP server', responses({ tools: [{ type: 'mcp', server_label: 's', server_url: 'https://example.org', allowed_tools: ['read'], headers: { a: name } }] })],
  ['gemini', 'a text', saying('gemini', name)],
  ['gemini', 'contents that are a text', { contents: name }],
  ['gemini', 'a data URL in place of a file', parts({ fileData: { mimeType: 'text/plain', fileUri: `data:text/plain;base64,${base64(name)}` } })],
  ['gemini', 'two kinds in one part', parts({ text: 'x', functionCall: { name: 'f', args: { q: name } } })],
  ['gemini', 'a function that may be called', gemini({ toolConfig: { functionCallingConfig: { allowedFunctionNames: [name] } } })],
  ['gemini_embeddings', 'a text', saying('gemini_embeddings', name)],
  ['embeddings', 'a text', saying('embeddings', name)],
  ['embeddings', 'one of many texts', saying('embeddings', ['a', 'b', name])],
  ['embeddings', 'an unknown field', saying('embeddings', 'a', { task: { prefix: name } })],
];

/** Fields in which a scanner of known fields would not look. */
export const forgottenFields: readonly Bypass[] = table.map(([endpoint, where, body]) => ({
  name: `${endpoint}: ${where}`,
  endpoint,
  body,
  expect: blocked,
}));
