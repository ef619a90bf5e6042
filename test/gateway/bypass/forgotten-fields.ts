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
const file = (source: object) => user([{ type: 'document', source }]);

const table: readonly (readonly [Bypass['endpoint'], string, unknown])[] = [
  ['messages', 'system text', messages({ system: name })],
  [
    'messages',
    'system blocks',
    messages({ system: [{ type: 'text', text: name, cache_control: { type: 'ephemeral' } }] }),
  ],
  ['messages', 'a system turn', turns('messages', { role: 'system', content: name })],
  ['messages', 'a turn of no known role', turns('messages', { role: 'narrator', content: name })],
  ['messages', 'a turn without a role', turns('messages', { content: name })],
  ['messages', 'an assistant prefill', assistant(name)],
  ['messages', 'a tool description', messages(tool({ description: name }))],
  ['messages', 'a tool name', messages(tool({ name }))],
  [
    'messages',
    'a schema description',
    messages(tool({ input_schema: { properties: { a: { description: name } } } })),
  ],
  [
    'messages',
    'a schema enum',
    messages(tool({ input_schema: { properties: { a: { enum: ['x', name] } } } })),
  ],
  ['messages', 'a schema property', messages(tool({ input_schema: { properties: { [name]: {} } } }))],
  [
    'messages',
    'a schema default',
    messages(tool({ input_schema: { properties: { a: { default: { b: [name] } } } } })),
  ],
  ['messages', 'examples of a tool', messages(tool({ input_examples: [{ q: name }] }))],
  ['messages', 'a tool result', user([{ type: 'tool_result', tool_use_id: 'a', content: name }])],
  [
    'messages',
    'blocks of a tool result',
    user([{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: name }] }]),
  ],
  [
    'messages',
    'a tool input',
    assistant([{ type: 'tool_use', id: 'a', name: 't', input: { deep: [{ er: name }] } }]),
  ],
  [
    'messages',
    'a key of a tool input',
    assistant([{ type: 'tool_use', id: 'a', name: 't', input: { [name]: 1 } }]),
  ],
  [
    'messages',
    'a server tool result',
    assistant([
      {
        type: 'web_search_tool_result',
        tool_use_id: 'a',
        content: [{ type: 'web_search_result', title: name, url: 'https://example.org' }],
      },
    ]),
  ],
  [
    'messages',
    'output of run code',
    assistant([
      {
        type: 'code_execution_tool_result',
        tool_use_id: 'a',
        content: { type: 'code_execution_result', stdout: name, stderr: '', return_code: 0 },
      },
    ]),
  ],
  ['messages', 'thinking', assistant([{ type: 'thinking', thinking: name, signature: 's' }])],
  ['messages', 'a signature', assistant([{ type: 'thinking', thinking: 'x', signature: name }])],
  [
    'messages',
    'a document title',
    user([{ type: 'document', title: name, source: { type: 'text', media_type: 'text/plain', data: 'x' } }]),
  ],
  [
    'messages',
    'a document context',
    user([
      { type: 'document', context: name, source: { type: 'text', media_type: 'text/plain', data: 'x' } },
    ]),
  ],
  ['messages', 'a plain text source', file({ type: 'text', media_type: 'text/plain', data: name })],
  [
    'messages',
    'a base64 text source',
    file({ type: 'base64', media_type: 'text/plain', data: base64(name) }),
  ],
  [
    'messages',
    'base64 with line breaks',
    file({ type: 'base64', media_type: 'text/plain', data: base64(name).replace(/(.{5})/g, '$1\n') }),
  ],
  [
    'messages',
    'a base64 CSV source',
    file({ type: 'base64', media_type: 'Text/CSV; charset=utf-8', data: base64(name) }),
  ],
  [
    'messages',
    'a base64 JSON source with escapes',
    file({ type: 'base64', media_type: 'application/json', data: base64(`{"a":"${escaped(name)}"}`) }),
  ],
  [
    'messages',
    'a base64 UTF-16 source',
    file({ type: 'base64', media_type: 'text/plain', data: base64(`\ufeff${name} é`, 'utf16le') }),
  ],
  [
    'messages',
    'a source of content blocks',
    file({ type: 'content', content: [{ type: 'text', text: name }] }),
  ],
  [
    'messages',
    'a search result',
    user([{ type: 'search_result', source: 'x', title: 't', content: [{ type: 'text', text: name }] }]),
  ],
  [
    'messages',
    'a citation',
    user([{ type: 'text', text: 'x', citations: [{ type: 'char_location', cited_text: name }] }]),
  ],
  ['messages', 'an unknown block', user([{ type: 'hologram', payload: { inner: [[name]] } }])],
  ['messages', 'a type of block', user([{ type: name }])],
  ['messages', 'an unknown field', messages({ hologram: name })],
  ['messages', 'metadata', messages({ metadata: { user_id: name } })],
  ['messages', 'a stop sequence', messages({ stop_sequences: [name] })],
  ['messages', 'the choice of a tool', messages({ tool_choice: { type: 'tool', name } })],
  [
    'messages',
    'an MCP server',
    messages({
      mcp_servers: [
        { type: 'url', url: 'https://example.org', name, tool_configuration: { allowed_tools: ['read'] } },
      ],
    }),
  ],
  ['messages', 'a beta flag in the body', messages({ betas: [name] })],
  [
    'messages',
    'context management',
    messages({ context_management: { edits: [{ type: 'x', instructions: name }] } }),
  ],
  [
    'messages',
    'a format of the output',
    messages({ output_config: { format: { type: 'json_schema', schema: { title: name } } } }),
  ],
  ['messages', 'a key', messages({ [name]: null })],
  ['messages', 'a second field beside text', user([{ type: 'text', text: 'hello', annotation: name }])],
  ['count_tokens', 'the counting of tokens', saying('count_tokens', name)],
  [
    'count_tokens',
    'tools whose tokens are counted',
    { ...saying('count_tokens', 'x'), ...tool({ description: name }) },
  ],
  ['chat', 'content', saying('chat', name)],
  ['chat', 'a developer message', turns('chat', { role: 'developer', content: name })],
  ['chat', 'a tool message', turns('chat', { role: 'tool', tool_call_id: 'a', content: name })],
  ['chat', 'the old function message', turns('chat', { role: 'function', name: 'f', content: name })],
  ['chat', 'a participant name', turns('chat', { role: 'user', name, content: 'hi' })],
  ['chat', 'a refusal', called({ refusal: name })],
  ['chat', 'reasoning_content', called({ reasoning_content: name })],
  ['chat', 'a transcript of audio', called({ audio: { id: 'a', transcript: name } })],
  ['chat', 'tool arguments', arguments_(JSON.stringify({ q: name }))],
  ['chat', 'tool arguments with escapes', arguments_(`{"q":"${escaped(name)}"}`)],
  ['chat', 'keys of tool arguments', arguments_(`{"${escaped(name)}":1}`)],
  ['chat', 'arguments that are JSON in JSON', arguments_(JSON.stringify({ q: `{"r":"${escaped(name)}"}` }))],
  ['chat', 'arguments with a key twice', arguments_(`{"q":"${escaped(name)}","q":""}`)],
  ['chat', 'arguments that are cut off', arguments_(`{"q":"${escaped(name)}`)],
  ['chat', 'arguments that are two values', arguments_(`"a","b":"${escaped(name)}"`)],
  ['chat', 'a list in place of arguments', arguments_(`["${escaped(name)}"]`)],
  ['chat', 'arguments behind a prefix', arguments_(`\ufeff{"q":"${escaped(name)}"}`)],
  [
    'chat',
    'the input of a custom tool',
    called({ tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'c', input: name } }] }),
  ],
  [
    'chat',
    'the old function call',
    called({ function_call: { name: 'f', arguments: `{"q":"${escaped(name)}"}` } }),
  ],
  ['chat', 'a function description', chat({ functions: [{ name: 'f', description: name }] })],
  ['chat', 'a prediction', chat({ prediction: { type: 'content', content: name } })],
  [
    'chat',
    'a prediction in parts',
    chat({
      prediction: {
        type: 'content',
        content: ['project ', 'nightfall'].map((text) => ({ type: 'text', text })),
      },
    }),
  ],
  [
    'chat',
    'the schema of the answer',
    chat({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { title: name } } } }),
  ],
  ['chat', 'a stop word', chat({ stop: name })],
  ['chat', 'the user', chat({ user: name })],
  ['chat', 'a bias', chat({ logit_bias: { [name]: 1 } })],
  [
    'chat',
    'the place of a web search',
    chat({ web_search_options: { user_location: { approximate: { city: name } } } }),
  ],
  [
    'chat',
    'a text data URL',
    turns('chat', {
      role: 'user',
      content: [
        { type: 'file', file: { filename: 'a', file_data: `data:text/plain;base64,${base64(name)}` } },
      ],
    }),
  ],
  [
    'chat',
    'a file name',
    turns('chat', { role: 'user', content: [{ type: 'file', file: { filename: name, file_data: 'x' } }] }),
  ],
  [
    'chat',
    'base64 of a file without a data URL',
    turns('chat', {
      role: 'user',
      content: [
        { type: 'file', file: { filename: 'a.txt', file_data: base64(`notes about ${name} and more`) } },
      ],
    }),
  ],
  [
    'chat',
    'a percent-encoded data URL',
    turns('chat', {
      role: 'user',
      content: [
        {
          type: 'image_url',
          image_url: { url: `data:text/plain,${encodeURIComponent(name).replace('p', '%70')}` },
        },
      ],
    }),
  ],
  [
    'chat',
    'a data URL without a type',
    turns('chat', {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: `data:;base64,${base64(name)}` } }],
    }),
  ],
  [
    'chat',
    'a data URL in capitals',
    turns('chat', {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: `DATA:Text/HTML;BASE64,${base64(name)}` } }],
    }),
  ],
  [
    'chat',
    'an SVG',
    turns('chat', {
      role: 'user',
      content: [
        {
          type: 'image_url',
          image_url: { url: `data:image/svg+xml;base64,${base64(`<text>${name}</text>`)}` },
        },
      ],
    }),
  ],
  ['chat', 'a content that is one object', saying('chat', { type: 'text', text: name })],
  ['chat', 'messages that are one object', { model: model.chat, messages: { role: 'user', content: name } }],
  ['chat', 'messages that are a text', { model: model.chat, messages: name }],
  ['responses', 'input', { model: model.responses, input: name }],
  ['responses', 'instructions', responses({ instructions: name })],
  [
    'responses',
    'output_text',
    item({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: name, annotations: [] }],
    }),
  ],
  [
    'responses',
    'a function call',
    item({ type: 'function_call', call_id: 'a', name: 'f', arguments: `{"a":"${escaped(name)}"}` }),
  ],
  ['responses', 'a function output', item({ type: 'function_call_output', call_id: 'a', output: name })],
  [
    'responses',
    'parts of a function output',
    item({ type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: name }] }),
  ],
  ['responses', 'a custom call', item({ type: 'custom_tool_call', call_id: 'a', name: 'f', input: name })],
  [
    'responses',
    'a shell call',
    item({
      type: 'local_shell_call',
      call_id: 'a',
      action: { type: 'exec', command: ['echo', name], env: {} },
    }),
  ],
  [
    'responses',
    'the environment of a shell call',
    item({
      type: 'local_shell_call',
      call_id: 'a',
      action: { type: 'exec', command: ['x'], env: { A: name } },
    }),
  ],
  [
    'responses',
    'code that was run',
    item({ type: 'code_interpreter_call', id: 'a', code: name, outputs: [] }),
  ],
  [
    'responses',
    'logs of code',
    item({ type: 'code_interpreter_call', id: 'a', code: 'x', outputs: [{ type: 'logs', logs: name }] }),
  ],
  [
    'responses',
    'a reasoning summary',
    item({ type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: name }] }),
  ],
  [
    'responses',
    'results of a file search',
    item({ type: 'file_search_call', id: 'a', queries: ['x'], results: [{ text: name }] }),
  ],
  [
    'responses',
    'queries of a search',
    item({ type: 'web_search_call', id: 'a', action: { type: 'search', query: name } }),
  ],
  [
    'responses',
    'tools that an MCP server lists',
    item({ type: 'mcp_list_tools', id: 'a', server_label: 's', tools: [{ name: 't', description: name }] }),
  ],
  ['responses', 'an item of an unknown type', item({ type: 'dream', plot: { twist: name } })],
  [
    'responses',
    'variables of a prompt',
    { model: model.responses, prompt: { id: 'p', variables: { a: name } } },
  ],
  [
    'responses',
    'a grammar',
    responses({ tools: [{ type: 'custom', name: 'a', format: { type: 'grammar', definition: name } }] }),
  ],
  [
    'responses',
    'a format of the text',
    responses({ text: { format: { type: 'json_schema', name: 'a', schema: { description: name } } } }),
  ],
  ['responses', 'the key of a cache', responses({ prompt_cache_key: name })],
  ['responses', 'a safety identifier', responses({ safety_identifier: name })],
  [
    'responses',
    'input that is one object',
    { model: model.responses, input: { role: 'user', content: name } },
  ],
  [
    'responses',
    'headers of an MCP server',
    responses({
      tools: [
        {
          type: 'mcp',
          server_label: 's',
          server_url: 'https://example.org',
          allowed_tools: ['read'],
          headers: { a: name },
        },
      ],
    }),
  ],
  ['embeddings', 'a text', saying('embeddings', name)],
  ['embeddings', 'one of many texts', saying('embeddings', ['a', 'b', name])],
  ['embeddings', 'the user', saying('embeddings', 'a', { user: name })],
  ['embeddings', 'an unknown field', saying('embeddings', 'a', { task: { prefix: name } })],
];

/** Fields in which a scanner of known fields would not look. */
export const forgottenFields: readonly Bypass[] = table.map(([endpoint, where, body]) => ({
  name: `${endpoint}: ${where}`,
  endpoint,
  body,
  expect: blocked,
}));
