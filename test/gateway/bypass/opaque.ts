import { type Bypass, base64, blocked, codename, model, saying, turns } from './case.ts';

const opaque = { status: 403, reason: 'content.opaque' };
const unseen = { status: 403, reason: 'content.unseen_reference' };
const unreadable = { status: 403, reason: 'content.unreadable' };
const png = base64(Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'));
const user = (content: unknown) => turns('messages', { role: 'user', content });
const assistant = (content: unknown) => turns('messages', { role: 'assistant', content });
const part = (value: object) => turns('chat', { role: 'user', content: [value] });
const input = (value: object) => turns('responses', { role: 'user', content: [value] });
const geminiPart = (...all: readonly object[]) => turns('gemini', { role: 'user', parts: all });
const item = (value: object) => turns('responses', value);

// biome-ignore format: a case a line
const table: readonly (readonly [Bypass['endpoint'], string, unknown, Bypass['expect']])[] = [
  ['messages', 'an image', user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }]), opaque],
  ['messages', 'a PDF', user([{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: png } }]), opaque],
  ['messages', 'bytes without a type', user([{ type: 'document', source: { type: 'base64', data: png } }]), opaque],
  ['messages', 'an image by URL', user([{ type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } }]), unseen],
  ['messages', 'a file by id', user([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }]), unseen],
  ['messages', 'a container', { ...saying('messages', 'x'), container: 'container_1' }, unseen],
  ['messages', 'an MCP server', { ...saying('messages', 'x'), mcp_servers: [{ type: 'url', url: 'https://example.org/mcp', name: 'a', tool_configuration: { allowed_tools: ['read'] } }] }, unseen],
  ['messages', 'redacted thinking', assistant([{ type: 'redacted_thinking', data: 'abc' }]), unseen],
  [
    'messages',
    'encrypted search results',
    assistant([
      {
        type: 'web_search_tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'web_search_result', title: 'a', url: 'https://example.org', encrypted_content: 'abc' },
        ],
      },
    ]),
    unseen,
  ],
  ['chat', 'an image', part({ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }), opaque],
  ['chat', 'audio', part({ type: 'input_audio', input_audio: { data: png, format: 'wav' } }), opaque],
  ['chat', 'a file without a data URL', part({ type: 'file', file: { filename: 'a.pdf', file_data: png } }), opaque],
  ['chat', 'an image by URL', part({ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }), unseen],
  ['chat', 'a video by URL', part({ type: 'video_url', video_url: { url: 'https://example.org/a.mp4' } }), unseen],
  ['chat', 'a file by id', part({ type: 'file', file: { file_id: 'file-1' } }), unseen],
  ['chat', 'earlier audio by id', turns('chat', { role: 'assistant', audio: { id: 'audio_1' } }), unseen],
  ['responses', 'a file', input({ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${png}` }), opaque],
  ['responses', 'a screenshot', item({ type: 'computer_call_output', call_id: 'a', output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${png}` } }), opaque],
  ['responses', 'an image that was made', item({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result: png }), opaque],
  ['responses', 'an image by URL', input({ type: 'input_image', image_url: 'https://example.org/a.png' }), unseen],
  ['responses', 'an earlier response', { ...saying('responses', 'x'), previous_response_id: 'resp_1' }, unseen],
  ['responses', 'a conversation', { ...saying('responses', 'x'), conversation: 'conv_1' }, unseen],
  ['responses', 'a stored prompt', { model: model.responses, prompt: { id: 'pmpt_1' } }, unseen],
  ['responses', 'an item by reference', item({ type: 'item_reference', id: 'msg_1' }), unseen],
  ['responses', 'a search of stores', { ...saying('responses', 'x'), tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, unseen],
  ['responses', 'a connector', { ...saying('responses', 'x'), tools: [{ type: 'mcp', server_label: 'a', connector_id: 'connector_dropbox', allowed_tools: ['read'] }] }, unseen],
  ['responses', 'a container by id', { ...saying('responses', 'x'), tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, unseen],
  ['gemini', 'an image', geminiPart({ inlineData: { mimeType: 'image/png', data: png } }), opaque],
  ['gemini', 'an image in the system instruction', saying('gemini', 'x', { systemInstruction: { parts: [{ inlineData: { mimeType: 'image/png', data: png } }] } }), opaque],
  ['gemini', 'a file', geminiPart({ fileData: { mimeType: 'image/png', fileUri: 'https://example.org/v1beta/files/1' } }), unseen],
  ['gemini', 'stored content', saying('gemini', 'x', { cachedContent: 'cachedContents/1' }), unseen],
  ['gemini', 'an MCP server', saying('gemini', 'x', { tools: [{ mcpServers: [{ name: 'a', streamableHttpTransport: { url: 'https://example.org/mcp' } }] }] }), unseen],
  ['gemini_embeddings', 'an image', { requests: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: png } }] } }] }, opaque],
];

const numbers: readonly (readonly [Bypass['endpoint'], string, unknown])[] = [
  ['embeddings', 'token ids', saying('embeddings', [10, 20, 30])],
  ['embeddings', 'lists of token ids', saying('embeddings', [[10, 20], [30]])],
  ['gemini', 'token ids as the text of a part', saying('gemini', [10, 20])],
  ['gemini_embeddings', 'token ids as the text of a part', saying('gemini_embeddings', [10, 20])],
  ['chat', 'token ids as content', saying('chat', [10, 20])],
  ['responses', 'token ids as input', { model: model.responses, input: [10, 20] }],
];

/** What no rule can look into; refused where a policy says so, or where a rule would have had to read it. */
export const opaqueContent: readonly Bypass[] = [
  ...table.map(([endpoint, what, body, expect]): Bypass => {
    return { name: `${endpoint}: ${what}`, endpoint, body, key: 'strict', expect };
  }),
  ...numbers.map(([endpoint, what, body]): Bypass => {
    return { name: `${endpoint}: ${what}`, endpoint, body, expect: unreadable };
  }),
  {
    name: 'messages: a text that says it is an image',
    endpoint: 'messages',
    body: user([{ type: 'document', source: { type: 'text', media_type: 'image/png', data: codename } }]),
    expect: blocked,
  },
];
