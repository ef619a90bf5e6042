import type { TextDialectName } from '../../../src/dialects/registry.ts';

/** Somewhere in a turn where a text may stand: what stands around it. */
export interface Slot {
  readonly name: string;
  /** A block of a turn's content, or where `isItem` is set a turn of its own. */
  readonly make: (text: string) => object;
  readonly isItem?: true;
}

const base64 = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('base64');
const document = (source: object, more: object = {}) => ({ type: 'document', ...more, source });
const plain = (data: string) => ({ type: 'text', media_type: 'text/plain', data });
const result = (content: unknown, type = 'tool_result') => ({ type, tool_use_id: 'toolu_1', content });
const text = (value: string) => ({ type: 'text', text: value });
/** The result of a tool of the provider. */
const ran = (tool: string, content: object, kind = '_result') =>
  result({ type: tool + kind, ...content }, `${tool}_tool_result`);

// biome-ignore format: a case a line
const messages: readonly Slot[] = [
  { name: 'text', make: text },
  { name: 'text with labels', make: (value) => ({ cache_control: { type: 'ephemeral' }, text: value, type: 'text', id: 'b' }) },
  { name: 'plain document', make: (value) => document(plain(value)) },
  { name: 'document in base64', make: (value) => document({ type: 'base64', media_type: 'text/plain', data: base64(value) }) },
  { name: 'document in base64 that claims to be a picture', make: (value) => document({ type: 'base64', media_type: 'image/png', data: base64(value) }) },
  { name: 'document in base64 without a type', make: (value) => document({ data: base64(value), media_type: 'text/markdown' }) },
  { name: 'document in UTF-16', make: (value) => document({ type: 'base64', media_type: 'text/plain', data: base64(`\ufeff${value}`, 'utf16le') }) },
  { name: 'document of a text', make: (value) => document({ type: 'content', content: value }) },
  { name: 'document of blocks', make: (value) => document({ type: 'content', content: [text(value)] }) },
  { name: 'document by data URL', make: (value) => document({ type: 'url', url: `data:text/plain;base64,${base64(value)}` }) },
  { name: 'title', make: (value) => document(plain(''), { title: value }) },
  { name: 'context', make: (value) => ({ source: plain(''), context: value, type: 'document' }) },
  { name: 'search result', make: (value) => ({ type: 'search_result', source: '', title: '', content: [text(value)] }) },
  { name: 'source of a search result', make: (value) => ({ type: 'search_result', source: value, title: '', content: [] }) },
  { name: 'thinking', make: (thinking) => ({ type: 'thinking', thinking, signature: 's' }) },
  { name: 'result', make: (value) => result(value) },
  { name: 'result in blocks', make: (value) => result([text(value)]) },
  { name: 'result of a server', make: (value) => result([text(value)], 'mcp_tool_result') },
  { name: 'output of code', make: (stdout) => ran('code_execution', { stdout, stderr: '', return_code: 0, content: [] }) },
  { name: 'errors of a shell', make: (stderr) => ran('bash_code_execution', { stdout: '', stderr, content: [] }) },
  { name: 'file that was viewed', make: (content) => ran('text_editor_code_execution', { file_type: 'text', content }, '_view_result') },
  { name: 'page that was fetched', make: (value) => result({ type: 'web_fetch_result', url: '', content: document(plain(value)) }, 'web_fetch_tool_result') },
  { name: 'advice', make: (value) => result({ type: 'advisor_result', text: value }, 'advisor_tool_result') },
  { name: 'compaction', make: (content) => ({ type: 'compaction', content }) },
  { name: 'input of a call as a text', make: (input) => ({ type: 'server_tool_use', id: 'a', name: 'f', input }) },
  { name: 'block of no known type', make: (payload) => ({ type: 'hologram', payload }) },
  { name: 'text of no known type', make: (value) => ({ type: 'hologram', text: value }) },
];

const call = (made: object) => ({ role: 'assistant', content: null, tool_calls: [{ id: 'c', ...made }] });

// biome-ignore format: a case a line
const chat: readonly Slot[] = [
  { name: 'text', make: text },
  { name: 'refusal', make: (refusal) => ({ type: 'refusal', refusal }) },
  { name: 'file as a data URL', make: (value) => ({ type: 'file', file: { file_data: `data:text/plain;base64,${base64(value)}` } }) },
  { name: 'file in base64', make: (value) => ({ type: 'file', file: { file_data: base64(value) } }) },
  { name: 'name of a file', make: (filename) => ({ type: 'file', file: { file_data: '', filename } }) },
  { name: 'text that claims to be a picture', make: (value) => ({ type: 'image_url', image_url: { url: `\n\t data:image/png;base64,${base64(value)}` } }) },
  { name: 'text by URL', make: (value) => ({ type: 'image_url', image_url: { url: `data:text/plain,${encodeURIComponent(value)}` } }) },
  { name: 'text that claims to be sound', make: (value) => ({ type: 'input_audio', input_audio: { data: base64(value), format: 'wav' } }) },
  { name: 'block of no known type', make: (payload) => ({ type: 'hologram', payload }) },
  { name: 'developer', isItem: true, make: (content) => ({ role: 'developer', content }) },
  { name: 'tool', isItem: true, make: (content) => ({ role: 'tool', tool_call_id: 'c', content }) },
  { name: 'name', isItem: true, make: (name) => ({ role: 'user', content: '', name }) },
  { name: 'refusal of a message', isItem: true, make: (refusal) => ({ refusal, role: 'assistant', content: '' }) },
  { name: 'reasoning', isItem: true, make: (reasoning_content) => ({ role: 'assistant', content: '', reasoning_content }) },
  { name: 'reasoning of other hosts', isItem: true, make: (reasoning) => ({ role: 'assistant', content: '', reasoning }) },
  { name: 'arguments', isItem: true, make: (value) => call({ type: 'function', function: { name: 'f', arguments: value } }) },
  { name: 'input of a custom call', isItem: true, make: (input) => call({ type: 'custom', custom: { name: 'f', input } }) },
];

const output = (call: string, value: unknown) => ({ type: `${call}_output`, call_id: 'c', output: value });
const interpreter = { type: 'code_interpreter_call', id: 'i', container_id: 'c' };

// biome-ignore format: a case a line
const responses: readonly Slot[] = [
  { name: 'input_text', make: (value) => ({ type: 'input_text', text: value }) },
  { name: 'output_text', make: (value) => ({ type: 'output_text', text: value, annotations: [] }) },
  { name: 'refusal', make: (refusal) => ({ type: 'refusal', refusal }) },
  { name: 'file', make: (value) => ({ type: 'input_file', file_data: `data:text/plain;base64,${base64(value)}` }) },
  { name: 'name of a file', make: (filename) => ({ type: 'input_file', file_data: '', filename }) },
  { name: 'text that claims to be a picture', make: (value) => ({ type: 'input_image', image_url: `data:image/png;base64,${base64(value)}` }) },
  { name: 'block of no known type', make: (payload) => ({ type: 'hologram', payload }) },
  { name: 'developer', isItem: true, make: (content) => ({ role: 'developer', content }) },
  { name: 'summary', isItem: true, make: (value) => ({ type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: value }] }) },
  { name: 'reasoning', isItem: true, make: (value) => ({ type: 'reasoning', id: 'r', summary: [], content: [{ type: 'reasoning_text', text: value }] }) },
  { name: 'arguments', isItem: true, make: (value) => ({ type: 'function_call', call_id: 'c', name: 'f', arguments: value }) },
  { name: 'custom call', isItem: true, make: (input) => ({ type: 'custom_tool_call', call_id: 'c', name: 'f', input }) },
  { name: 'output', isItem: true, make: (output) => ({ type: 'function_call_output', call_id: 'c', output }) },
  { name: 'output in blocks', isItem: true, make: (value) => output('function_call', [{ type: 'input_text', text: value }]) },
  { name: 'custom output', isItem: true, make: (output) => ({ type: 'custom_tool_call_output', call_id: 'c', output }) },
  { name: 'output of a shell', isItem: true, make: (stdout) => output('shell_call', [{ stdout, stderr: '', outcome: { type: 'exit', exit_code: 0 } }]) },
  { name: 'output of a local shell', isItem: true, make: (output) => ({ type: 'local_shell_call_output', id: 'c', output }) },
  { name: 'output of a patch', isItem: true, make: (output) => ({ type: 'apply_patch_call_output', call_id: 'c', status: 'completed', output }) },
  { name: 'call of a server', isItem: true, make: (output) => ({ type: 'mcp_call', id: 'm', server_label: 's', name: 'f', arguments: '', output }) },
  { name: 'error of a server', isItem: true, make: (error) => ({ type: 'mcp_call', id: 'm', server_label: 's', name: 'f', arguments: '', error }) },
  { name: 'code', isItem: true, make: (code) => ({ ...interpreter, code, outputs: null }) },
  { name: 'logs of code', isItem: true, make: (logs) => ({ ...interpreter, code: '', outputs: [{ type: 'logs', logs }] }) },
  { name: 'program', isItem: true, make: (code) => ({ type: 'program', id: 'p', call_id: 'c', code }) },
  { name: 'result of a program', isItem: true, make: (value) => ({ type: 'program_output', id: 'p', call_id: 'c', result: value }) },
  { name: 'queries', isItem: true, make: (query) => ({ type: 'file_search_call', id: 'f', queries: [query], results: null }) },
  { name: 'text of a file that was found', isItem: true, make: (value) => ({ type: 'file_search_call', id: 'f', queries: [], results: [{ text: value, score: 1 }] }) },
];

const inline = (value: object) => ({ inlineData: value });
const turnOfGemini = (role: string, parts: unknown) => ({ role, parts });

// biome-ignore format: a case a line
const gemini: readonly Slot[] = [
  { name: 'text', make: (value) => ({ text: value }) },
  { name: 'text with labels', make: (value) => ({ thoughtSignature: 'c2ln', text: value, mediaResolution: { level: 'LOW' } }) },
  { name: 'text that is marked as none', make: (value) => ({ text: value, thought: false }) },
  { name: 'thinking', make: (value) => ({ text: value, thought: true }) },
  { name: 'file in base64', make: (value) => inline({ mimeType: 'text/plain', data: base64(value) }) },
  { name: 'file in the other spelling', make: (value) => ({ inline_data: { mime_type: 'text/plain', data: base64(value) } }) },
  { name: 'file in UTF-16', make: (value) => inline({ mimeType: 'text/plain', data: base64(`\ufeff${value}`, 'utf16le') }) },
  { name: 'text that claims to be a picture', make: (value) => inline({ mimeType: 'image/png', data: base64(value) }) },
  { name: 'name of a file', make: (displayName) => inline({ mimeType: 'text/plain', data: '', displayName }) },
  { name: 'name of a file in the other spelling', make: (display_name) => ({ inline_data: { mime_type: 'text/plain', data: '', display_name } }) },
  { name: 'code', make: (code) => ({ executableCode: { language: 'PYTHON', code } }) },
  { name: 'code in the other spelling', make: (code) => ({ executable_code: { language: 'PYTHON', code } }) },
  { name: 'output of code', make: (output) => ({ codeExecutionResult: { outcome: 'OUTCOME_OK', output } }) },
  { name: 'output of code in the other spelling', make: (output) => ({ code_execution_result: { outcome: 'OUTCOME_OK', output } }) },
  { name: 'output of a function', make: (output) => ({ functionResponse: { name: 'f', response: { output } } }) },
  { name: 'error of a function', make: (error) => ({ function_response: { name: 'f', response: { error } } }) },
  { name: 'response as a text', make: (response) => ({ functionResponse: { name: 'f', response } }) },
  { name: 'file of a function', make: (value) => ({ functionResponse: { name: 'f', response: {}, parts: [inline({ mimeType: 'text/plain', data: base64(value) })] } }) },
  { name: 'arguments as a text', make: (args) => ({ functionCall: { name: 'f', args } }) },
  { name: 'arguments in the other spelling', make: (args) => ({ function_call: { name: 'f', args } }) },
  { name: "arguments of a provider's tool", make: (args) => ({ toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args } }) },
  { name: 'the same in the other spelling', make: (args) => ({ tool_call: { tool_type: 'GOOGLE_SEARCH_WEB', args } }) },
  { name: "response of a provider's tool", make: (response) => ({ toolResponse: { toolType: 'GOOGLE_SEARCH_WEB', response } }) },
  { name: 'that in the other spelling', make: (response) => ({ tool_response: { tool_type: 'GOOGLE_SEARCH_WEB', response } }) },
  { name: 'part of no known kind', make: (payload) => ({ hologram: payload }) },
  { name: 'one part in place of a list', isItem: true, make: (value) => turnOfGemini('user', { text: value }) },
  { name: 'text in place of parts', isItem: true, make: (value) => turnOfGemini('user', value) },
  { name: 'turn of a function', isItem: true, make: (value) => turnOfGemini('function', [{ text: value }]) },
  { name: 'turn without a role', isItem: true, make: (value) => ({ parts: [{ text: value }] }) },
  { name: 'turn of no known role', isItem: true, make: (value) => turnOfGemini('narrator', [{ text: value }]) },
];

export const slots: Readonly<Record<TextDialectName, readonly Slot[]>> = {
  messages,
  chat,
  responses,
  gemini,
};

type Speaker = 'user' | 'assistant';

/** How a dialect writes what stands around the slots. */
export interface Form {
  turn(speaker: Speaker, content: string | readonly object[]): object;
  body(turns: readonly unknown[]): object;
  /** The same system's text, in each way to write it apart from the turns. */
  systems(text: string): readonly object[];
  readonly picture: object;
  readonly thinking: object;
}

const usual: Form = {
  turn: (role, content) => ({ role, content }),
  body: (turns) => ({ model: 'm', max_tokens: 9, messages: turns }),
  systems: () => [],
  picture: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
  thinking: { type: 'thinking', thinking: 'let me see', signature: 's' },
};

export const forms: Readonly<Record<TextDialectName, Form>> = {
  messages: { ...usual, systems: (text) => [{ system: text }, { system: [{ type: 'text', text }] }] },
  chat: usual,
  responses: {
    ...usual,
    body: (turns) => ({ model: 'm', max_output_tokens: 9, input: turns }),
    systems: (instructions) => [{ instructions }],
  },
  gemini: {
    turn: (speaker, content) =>
      turnOfGemini(
        speaker === 'user' ? 'user' : 'model',
        typeof content === 'string' ? [{ text: content }] : content,
      ),
    body: (contents) => ({ contents }),
    systems: (text) => [
      { systemInstruction: { parts: [{ text }] } },
      { system_instruction: { parts: { text } } },
      { systemInstruction: text },
    ],
    picture: inline({ mimeType: 'image/png', data: 'iVBORw0KGgo=' }),
    thinking: { text: 'let me see', thought: true },
  },
};

/** A turn with a text in a slot. */
export function turnOf({ turn }: Form, { isItem, make }: Slot, text: string): object {
  return isItem === true ? make(text) : turn('user', [make(text)]);
}
