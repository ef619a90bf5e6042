import type { DialectName } from '../../../src/dialects/registry.ts';
import type { TranslationContext } from '../../../src/dialects/translation/context.ts';
import type { DocumentedField } from './documented-fields.ts';

/** One field in a request, and what must be found of it. */
export interface Probe {
  /** The request without the field; the dialect's small one where absent. */
  readonly base?: object;
  /** Members that are added to, or replaced in, the base. */
  readonly set: object;
  /** Text that must be found, as JSON, at the place where the field is said to go. */
  readonly mark?: string;
  /** The same for single providers, where the text differs. */
  readonly marks?: Readonly<Partial<Record<DialectName, string>>>;
  readonly context?: Partial<TranslationContext>;
  /** The `param` of the refusal, where it is not the field itself. */
  readonly param?: string;
}

type Probes = Readonly<Record<string, Probe>>;

const openai = { host: 'openai', targetModel: 'gpt-4.1' } as const;
const reasoning = { host: 'openai', targetModel: 'gpt-5' } as const;

const schema = { type: 'object', properties: { probe: { type: 'string' } } };
const pdf = 'JVBERi0=';
const isOpenAi = 'the provider is OpenAI';

/** What a row of the document says of the provider and its model. */
const contexts: Readonly<Record<string, Partial<TranslationContext>>> = {
  [isOpenAi]: openai,
  'a PDF, at OpenAI': openai,
  'later, at OpenAI': openai,
  'the provider is not OpenAI': {},
  'a model whose sampling is fixed': reasoning,
  'a Claude model that does not accept it': { host: 'anthropic', targetModel: 'claude-opus-5' },
  'none, or a model with a thinking budget': { host: 'anthropic', targetModel: 'claude-sonnet-4-5' },
  'a model without thinking': {},
  'the model is not known to accept an effort': {},
};

/** What Anthropic's dialect and OpenAI's have in common. */
const common: Probes = {
  model: { set: { model: 'other' }, context: { targetModel: 'probe-model' }, mark: 'probe-model' },
  stream: { set: { stream: true }, mark: 'true' },
  temperature: { set: { temperature: 0.37 }, mark: '0.37' },
  top_p: { set: { top_p: 0.37 }, mark: '0.37' },
};

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const text = { type: 'text', text: 'hello' };
const messagesCall = (result: object, call: object = {}) => ({
  messages: [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_x', name: 'f', input: {}, ...call }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_x', content: 'result', ...result }] },
  ],
});
const laterSystem = {
  messages: [
    { role: 'user', content: 'x' },
    { role: 'system', content: 'probe text' },
  ],
};
const messagesTool = { name: 'f', input_schema: {} };
const withTool = (members: object = {}) => ({ tools: [{ ...messagesTool, ...members }] });
const assistant = (...content: object[]) => ({ messages: [{ role: 'assistant', content }] });
const thought = { type: 'thinking', thinking: 'x', signature: 'y' };
const searched = [
  { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
  { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
];
const document = (source: object) => user([{ type: 'document', source }]);
const dated = { type: 'web_search_20250305', name: 'web_search' };
const thinking = { thinking: { type: 'enabled', budget_tokens: 2_000 } };

// biome-ignore format: a case a line
const messages: Probes = {
  ...common,
  'metadata.user_id': { set: { metadata: { user_id: 'u' } }, mark: '0bfe935e70c321' },
  metadata: { set: { metadata: { user_id: 'u' } } },
  thinking: { set: thinking },
  'mcp_servers|not empty': { set: { mcp_servers: [{ url: 'https://example.com' }] } },
  mcp_servers: { set: { mcp_servers: [] } },
  tools: { set: { tools: [{ name: 'probe_tool', input_schema: {} }] }, mark: 'probe_tool' },
  'tools[type]|there are no other tools, or it is the forced one': { set: { tools: [dated] } },
  'tools[type]|dated server tools beside others': { base: { tools: [messagesTool] }, set: { tools: [messagesTool, dated] } },
  'tools[].cache_control': { base: withTool(), set: withTool({ cache_control: { type: 'ephemeral' } }) },
  'tools[].defer_loading': { set: withTool({ defer_loading: true }) },
  'tools[].eager_input_streaming': {
    base: withTool(),
    set: withTool({ eager_input_streaming: true, input_examples: [{}], allowed_callers: ['direct'] }),
  },
  tool_choice: { base: withTool(), set: { tool_choice: { type: 'any' } }, mark: 'required', marks: { gemini: 'ANY' } },
  'tool_choice.disable_parallel_tool_use': { base: withTool(), set: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }, mark: 'false' },
  'thinking.type|adaptive': { set: { thinking: { type: 'adaptive' } }, context: reasoning },
  'thinking.type|disabled': { set: { thinking: { type: 'disabled' } }, context: reasoning, mark: 'minimal', marks: { gemini: '"thinkingLevel":"low"' } },
  'thinking.display': { base: thinking, set: { thinking: { ...thinking.thinking, display: 'omitted' } } },
  'messages[].output_config': {
    base: { messages: [{ role: 'user', content: 'hi' }] },
    set: { messages: [{ role: 'user', content: 'hi', output_config: { effort: 'low' } }] },
  },
  'messages[].content[].cache_control': { base: user([text]), set: user([{ ...text, cache_control: { type: 'ephemeral' } }]) },
  'messages[].content[].thinking': { base: assistant(text), set: assistant(thought, { type: 'redacted_thinking', data: 'z' }, text) },
  'messages[].content[].mcp_tool_use': {
    base: assistant(text),
    set: assistant(
      { type: 'mcp_tool_use', id: 'm', name: 'x', server_name: 's', input: {} },
      { type: 'mcp_tool_result', tool_use_id: 'm', is_error: false, content: [] },
      { type: 'mcp_tool_listing', server_name: 's', tools: [] },
      { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } },
      text,
    ),
  },
  'messages[].content[].citations': { base: assistant(text), set: assistant({ ...text, citations: [] }) },
  'messages[].content[].tool_addition': {
    base: user('hello'),
    set: {
      messages: [
        ...user('hello').messages,
        { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'probe' } }] },
      ],
    },
  },
  'messages[].content[].tool_reference': {
    set: messagesCall({ content: [{ type: 'tool_reference', tool_name: 'probe_tool' }] }),
    mark: 'probe_tool',
  },
  'messages[].content[].compaction': { set: assistant({ type: 'compaction', content: 'probe text' }), mark: 'probe text' },
  'messages[].content[].server_tool_use': { base: assistant(text), set: assistant(...searched, text) },
  'messages[].content[].source.file_id': { set: user([{ type: 'image', source: { type: 'file', file_id: 'f' } }]), param: 'messages[0].content[0].source' },
  'messages[].content[]': { set: user([{ type: 'container_upload' }]), param: 'messages[0].content[0]' },
  messages: { set: user('probe text'), mark: 'probe text' },
  system: { set: { system: 'probe text' }, mark: 'probe text' },
  max_tokens: { set: { max_tokens: 777 }, mark: '777' },
  stop_sequences: { set: { stop_sequences: ['PROBE'] }, mark: 'PROBE' },
  'thinking.budget_tokens': { set: thinking, context: reasoning, mark: 'low' },
  'output_config.effort|the model is not known to accept an effort': { set: { output_config: { effort: 'low' } } },
  'output_config.effort': { set: { output_config: { effort: 'max' } }, context: reasoning, mark: 'high' },
  'output_config.format': { set: { output_config: { format: { type: 'json_schema', schema } } }, mark: 'probe' },
  'tools[].input_schema': { base: withTool(), set: withTool({ input_schema: schema }), mark: 'probe' },
  'tools[].description': { base: withTool(), set: withTool({ description: 'probe text' }), mark: 'probe text' },
  'tools[].strict': { base: withTool(), set: withTool({ strict: true }), mark: 'true' },
  [`messages[].role=system|${isOpenAi}`]: { set: laterSystem, mark: 'system' },
  'messages[].role=system': { set: laterSystem, mark: 'probe text' },
  'messages[].content[].text': { set: user([{ type: 'text', text: 'probe text' }]), mark: 'probe text' },
  'messages[].content[].image': { set: user([{ type: 'image', source: { type: 'url', url: 'https://example.com/probe.png' } }]), mark: 'probe.png' },
  'messages[].content[].document|plain text': { set: document({ type: 'text', media_type: 'text/plain', data: 'probe text' }), mark: 'probe text' },
  'messages[].content[].document|at a URL': { set: document({ type: 'url', url: 'https://example.com/probe.pdf' }), mark: 'probe.pdf' },
  'messages[].content[].document': { set: document({ type: 'base64', media_type: 'application/pdf', data: pdf }), mark: pdf, param: 'messages[0].content[0]' },
  'messages[].content[].search_result': {
    set: user([{ type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'probe text' }] }]),
    mark: 'probe text',
  },
  'messages[].content[].tool_use': { set: messagesCall({}, { input: { probe: 1 } }), mark: 'probe' },
  'messages[].content[].tool_result': { set: messagesCall({ content: 'probe_result' }), mark: '' },
  'messages[].content[].is_error': { base: messagesCall({}), set: messagesCall({ is_error: true }), mark: 'Error: ' },
};

const said = (members: object) => ({ messages: [{ role: 'assistant', content: 'hi', ...members }] });
const chatCalls = (members: object = {}) => [
  {
    role: 'assistant',
    tool_calls: [{ id: 'call_x', type: 'function', function: { name: 'f', arguments: '{}' }, ...members }],
  },
  { role: 'tool', tool_call_id: 'call_x', content: 'hi' },
];
const chatTool = { type: 'function', function: { name: 'f' } };
const withFunction = (members: object) => ({
  tools: [{ type: 'function', function: { name: 'f', ...members } }],
});
const image = (url: string, detail?: string) => user([{ type: 'image_url', image_url: { url, detail } }]);
const chatCall = (input: string, id = 'call_x') => ({
  messages: [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: input } }],
    },
    { role: 'tool', tool_call_id: id, content: 'result' },
  ],
});
// biome-ignore format: a case a line
const chat: Probes = {
  ...common,
  stream_options: { base: { stream: true }, set: { stream_options: { include_usage: true } } },
  'n|above 1': { set: { n: 2 } },
  n: { set: { n: 1 } },
  audio: { set: { audio: { voice: 'x' } } },
  functions: { set: { functions: [] } },
  web_search_options: { set: { web_search_options: {} } },
  'logprobs|true': { set: { logprobs: true } },
  logprobs: { set: { logprobs: false } },
  'modalities|contains anything but text': { set: { modalities: ['text', 'audio'] } },
  modalities: { set: { modalities: ['text'] } },
  'messages[].name': { base: user('hi'), set: { messages: [{ role: 'user', content: 'hi', name: 'n' }] } },
  'messages[].tool_calls[].extra_content': {
    base: { messages: chatCalls() },
    set: { messages: chatCalls({ extra_content: { google: { thought_signature: 'x' } } }) },
  },
  'messages[].reasoning_content': { base: said({}), set: said({ reasoning_content: 'thought' }) },
  'messages[].content[].input_audio': { set: user([{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }]), param: 'messages[0].content[0]' },
  'messages[].content[].file.file_id': { set: user([{ type: 'file', file: { file_id: 'f' } }]), param: 'messages[0].content[0]' },
  'messages[].role=function': { set: { messages: [{ role: 'function', name: 'f', content: '' }] }, param: 'messages[0].role' },
  tools: { set: { tools: [{ type: 'function', function: { name: 'probe_tool' } }] }, mark: 'probe_tool' },
  tool_choice: { base: { tools: [chatTool] }, set: { tool_choice: { type: 'function', function: { name: 'f' } } }, mark: '"f"' },
  messages: { set: user('probe text'), mark: 'probe text' },
  'messages[].role=system|at the beginning': { set: { messages: [{ role: 'developer', content: 'probe text' }, { role: 'user', content: 'x' }] }, mark: 'probe text' },
  'messages[].role=system': { set: laterSystem, mark: 'probe text' },
  'messages[].role=system|later, at OpenAI': { set: laterSystem, mark: 'system' },
  max_completion_tokens: { set: { max_completion_tokens: 777 }, mark: '777' },
  max_tokens: { set: { max_tokens: 777 }, mark: '777' },
  stop: { set: { stop: 'PROBE' }, mark: 'PROBE' },
  metadata: { set: { metadata: { probe: 'x' } }, mark: 'probe' },
  service_tier: { set: { service_tier: 'flex' }, context: openai, mark: 'flex' },
  prompt_cache_key: { set: { prompt_cache_key: 'probe' }, context: openai, mark: 'probe' },
  verbosity: { set: { verbosity: 'low' }, context: openai, mark: 'low' },
  user: { set: { user: 'probe' }, mark: 'probe' },
  safety_identifier: { set: { safety_identifier: 'probe' }, mark: 'probe' },
  response_format: { set: { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }, mark: 'probe' },
  'response_format|json_object': { set: { response_format: { type: 'json_object' } }, mark: 'JSON object' },
  'reasoning_effort|none, or a model with a thinking budget': { set: { reasoning_effort: 'low' }, mark: '2048' },
  reasoning_effort: { set: { reasoning_effort: 'minimal' }, mark: '' },
  parallel_tool_calls: { base: { tools: [chatTool] }, set: { parallel_tool_calls: false }, mark: '' },
  'tools[].function.parameters': { base: { tools: [chatTool] }, set: withFunction({ parameters: schema }), mark: 'probe' },
  'tools[].function.description': { base: { tools: [chatTool] }, set: withFunction({ description: 'probe text' }), mark: 'probe text' },
  'tools[].function.strict': { base: { tools: [chatTool] }, set: withFunction({ strict: true }), mark: 'true' },
  'tools[].custom': { set: { tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'text' } } }] }, mark: 'text' },
  'messages[].content[].text': { set: user([{ type: 'text', text: 'probe text' }]), mark: 'probe text' },
  'messages[].content[].image_url': { set: image('https://example.com/probe.png'), mark: 'probe.png' },
  'messages[].content[].image_url|another type': { set: image('data:image/tiff;base64,AAAA'), param: 'messages[0].content[0]' },
  'messages[].content[].image_url.detail': { base: image('https://example.com/a.png'), set: image('https://example.com/a.png', 'high'), mark: 'high' },
  'messages[].content[].file': { set: user([{ type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } }]), mark: pdf },
  'messages[].tool_calls': { set: chatCall('{"probe":1}'), mark: 'probe' },
  'messages[].tool_call_id': { set: chatCall('{}', 'call_probe'), mark: 'call_probe' },
  'messages[].refusal': { set: { messages: [{ role: 'assistant', content: null, refusal: 'probe text' }] }, mark: 'probe text' },
};

const input = (content: unknown) => ({ input: [{ role: 'user', content }] });
const flatTool = { type: 'function', name: 'f', parameters: {} };
const responsesCall = (members: object, output: object = {}) => ({
  input: [
    { type: 'function_call', call_id: 'call_x', name: 'f', arguments: '{}', ...members },
    { type: 'function_call_output', call_id: 'call_x', output: 'result', ...output },
  ],
});
const hello = { input: [{ role: 'user', content: 'hello' }] };

// biome-ignore format: a case a line
const responses: Probes = {
  ...common,
  client_metadata: { set: { client_metadata: { a: 'b' } } },
  include: { set: { include: ['x'] } },
  prompt: { set: { prompt: { id: 'p' } } },
  'background|true': { set: { background: true } },
  background: { set: { background: false } },
  tools: { set: { tools: [{ ...flatTool, name: 'probe_tool' }] }, mark: 'probe_tool' },
  'tools[type]|tools that run at OpenAI': { base: { tools: [flatTool] }, set: { tools: [flatTool, { type: 'web_search' }] } },
  tool_choice: { base: { tools: [flatTool] }, set: { tool_choice: { type: 'function', name: 'f' } }, mark: '"f"' },
  'tool_choice.type|such a tool is the forced one': { base: { tools: [flatTool] }, set: { tool_choice: { type: 'web_search' } }, param: 'tool_choice' },
  'reasoning.summary': { base: { reasoning: {} }, set: { reasoning: { summary: 'auto', context: 'x', mode: 'y' } } },
  'input[type=reasoning]': { base: hello, set: { input: [{ type: 'reasoning', id: 'r', summary: [], encrypted_content: 'e' }, ...hello.input] } },
  'input[type]|items of tools that ran at OpenAI': { base: hello, set: { input: [{ type: 'web_search_call', id: 'w', status: 'completed' }, ...hello.input] } },
  'input[type=item_reference]': { set: { input: [{ type: 'item_reference', id: 'i' }] }, param: 'input[0]' },
  'input[type=compaction]': { set: { input: [{ type: 'compaction', encrypted_content: 'e' }] }, param: 'input[0]' },
  'input[].content[].file_id': { set: input([{ type: 'input_file', file_id: 'f' }]), param: 'input[0].content[0]' },
  input: { set: { input: 'probe text' }, mark: 'probe text' },
  instructions: { set: { instructions: 'probe text' }, mark: 'probe text' },
  'input[].role=developer': { set: { input: [{ role: 'developer', content: 'probe text' }, ...hello.input] }, mark: 'probe text' },
  'input[].role=developer|later': { set: { input: [...hello.input, { role: 'developer', content: 'probe text' }] }, mark: 'probe text' },
  max_output_tokens: { set: { max_output_tokens: 777 }, mark: '777' },
  'text.format': { set: { text: { format: { type: 'json_schema', name: 'x', schema } } }, mark: 'probe' },
  'text.format|json_object': { set: { text: { format: { type: 'json_object' } } }, mark: 'JSON object' },
  'text.verbosity': { base: { text: {} }, set: { text: { verbosity: 'low' } }, mark: 'low' },
  reasoning: { set: { reasoning: { effort: 'low' } } },
  'reasoning.effort': { set: { reasoning: { effort: 'low' } }, mark: 'low' },
  'reasoning.effort|none, or a model with a thinking budget': { set: { reasoning: { effort: 'low' } }, mark: '2048' },
  parallel_tool_calls: { base: { tools: [flatTool] }, set: { parallel_tool_calls: false }, mark: '' },
  service_tier: { set: { service_tier: 'flex' }, context: openai, mark: 'flex' },
  prompt_cache_key: { set: { prompt_cache_key: 'probe' }, context: openai, mark: 'probe' },
  user: { set: { user: 'probe' }, mark: 'probe' },
  safety_identifier: { set: { safety_identifier: 'probe' }, mark: 'probe' },
  'tools[].parameters': { base: { tools: [flatTool] }, set: { tools: [{ ...flatTool, parameters: schema }] }, mark: 'probe' },
  'tools[].description': { base: { tools: [flatTool] }, set: { tools: [{ ...flatTool, description: 'probe text' }] }, mark: 'probe text' },
  'tools[].strict': { base: { tools: [flatTool] }, set: { tools: [{ ...flatTool, strict: true }] }, mark: 'true' },
  'tools[type=custom]': { set: { tools: [{ type: 'custom', name: 'f' }] }, mark: 'input' },
  'input[].content[].text': { set: input([{ type: 'input_text', text: 'probe text' }]), mark: 'probe text' },
  'input[].content[].image_url': { set: input([{ type: 'input_image', image_url: 'https://example.com/probe.png' }]), mark: 'probe.png' },
  'input[].content[].file_data': { set: input([{ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` }]), mark: pdf, param: 'input[0].content[0]' },
  'input[].content[].file_url': { set: input([{ type: 'input_file', file_url: 'https://example.com/probe.pdf' }]), mark: 'probe.pdf', param: 'input[0].content[0]' },
  'input[type=function_call]': { set: responsesCall({ arguments: '{"probe":1}' }), mark: 'probe' },
  'input[type=custom_tool_call]': {
    set: {
      input: [
        { type: 'custom_tool_call', call_id: 'c', name: 'f', input: 'probe text' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'x' },
      ],
    },
    mark: 'probe text',
  },
  'input[type=function_call_output]': { set: responsesCall({ call_id: 'call_probe' }, { call_id: 'call_probe' }), mark: 'call_probe' },
};

const parts = (...all: object[]) => ({ contents: [{ role: 'user', parts: all }] });
const geminiCall = (call: object, response: object = { output: 'result' }) => ({
  contents: [
    { role: 'model', parts: [{ functionCall: { name: 'f', args: {}, ...call } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'f', response } }] },
  ],
});
const geminiFunction = (members: object = {}) => ({
  tools: [{ functionDeclarations: [{ name: 'f', ...members }] }],
});
const settings = (members: object) => ({ generationConfig: members });
const answered = { contents: [{ role: 'model', parts: [{ text: 'hi' }] }] };

// biome-ignore format: a case a line
const gemini: Probes = {
  model: { set: { model: 'models/m' } },
  'generationConfig.candidateCount|above 1': { set: settings({ candidateCount: 2 }), param: 'generationConfig.candidateCount' },
  'generationConfig.responseLogprobs|true': { set: settings({ responseLogprobs: true }), param: 'generationConfig.responseLogprobs' },
  'generationConfig.responseModalities|contains anything but TEXT': { set: settings({ responseModalities: ['IMAGE'] }), param: 'generationConfig.responseModalities' },
  'generationConfig.topK': { set: settings({ topK: 5, seed: 1 }) },
  'tools[].googleSearch|there are no functions': { set: { tools: [{ googleSearch: {} }] } },
  "tools[].googleSearch|the provider's own tools beside functions": { base: geminiFunction(), set: { tools: [...geminiFunction().tools, { googleSearch: {} }] } },
  'contents[].parts[].thought': { base: answered, set: { contents: [{ role: 'model', parts: [{ text: 'x', thought: true }, { text: 'hi' }] }] } },
  'contents[].parts[].executableCode': { base: answered, set: { contents: [{ role: 'model', parts: [{ executableCode: { code: 'x' } }, { codeExecutionResult: { output: 'y' } }, { text: 'hi' }] }] } },
  'contents[].parts[].fileData|a file of Google': { set: parts({ fileData: { fileUri: 'files/f' } }), param: 'contents[0].parts[0]' },
  contents: { set: parts({ text: 'probe text' }), mark: 'probe text' },
  systemInstruction: { set: { system_instruction: { parts: [{ text: 'probe text' }] } }, mark: 'probe text' },
  'generationConfig.maxOutputTokens': { set: settings({ maxOutputTokens: 777 }), mark: '777' },
  'generationConfig.temperature': { set: { generation_config: { temperature: 0.37 } }, mark: '0.37' },
  'generationConfig.topP': { set: { generation_config: { top_p: 0.37 } }, mark: '0.37' },
  'generationConfig.stopSequences': { set: settings({ stopSequences: ['PROBE'] }), mark: 'PROBE' },
  'generationConfig.responseJsonSchema': { set: settings({ responseMimeType: 'application/json', responseJsonSchema: schema }), mark: 'probe' },
  'generationConfig.thinkingConfig': { set: settings({ thinkingConfig: { thinkingBudget: 100 } }) },
  'tools[].functionDeclarations': { set: geminiFunction({ name: 'probe_tool' }), mark: 'probe_tool' },
  'tools[].functionDeclarations[].parameters': { base: geminiFunction(), set: geminiFunction({ parameters: { type: 'OBJECT', properties: { probe: { type: 'STRING' } } } }), mark: '"probe":{"type":"string"}' },
  'tools[].functionDeclarations[].description': { base: geminiFunction(), set: geminiFunction({ description: 'probe text' }), mark: 'probe text' },
  toolConfig: { base: geminiFunction(), set: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } } }, mark: '"f"' },
  'contents[].parts[].text': { set: parts({ text: 'probe text' }), mark: 'probe text' },
  'contents[].parts[].inlineData': { set: parts({ inline_data: { mime_type: 'image/png', data: 'iVBORw0KGgo=' } }), mark: 'iVBORw0KGgo=' },
  'contents[].parts[].functionCall': { set: geminiCall({ args: { probe: 1 } }), mark: 'probe' },
  'contents[].parts[].functionResponse': { set: geminiCall({}, { output: 'probe text' }), mark: 'probe text' },
};

const embeddings: Probes = {
  model: { set: { model: 'other' } },
  input: { set: { input: ['hello', 'probe text'] }, mark: 'probe text' },
  dimensions: { set: { dimensions: 77 }, mark: '77' },
  encoding_format: { set: { encoding_format: 'base64' } },
};

const content = (part: object) => ({ content: { parts: [part] } });

// biome-ignore format: a case a line
const geminiEmbeddings: Probes = {
  model: { set: { model: 'models/m' } },
  content: { set: content({ text: 'probe text' }), mark: 'probe text' },
  requests: { set: { requests: [content({ text: 'hello' }), content({ text: 'probe text' })] }, mark: 'probe text' },
  'content.parts[].inlineData|anything but text': { set: content({ inline_data: { mime_type: 'image/png', data: 'iVBORw0KGgo=' } }), param: 'content.parts[0]' },
  outputDimensionality: { set: { output_dimensionality: 77 }, mark: '77' },
};

const probes: Readonly<Record<DialectName, Probes>> = {
  ...{ messages, chat, responses, gemini, embeddings },
  gemini_embeddings: geminiEmbeddings,
};

/**
 * The probe of a row of docs/translation.md: its own, or that of its field wherever the row applies. Fields that are dropped or
 * refused without a look at their value need none: any text will do.
 */
export function probeOf(
  client: DialectName,
  { field, when }: Pick<DocumentedField, 'field' | 'when'>,
): Probe {
  const anyText: Probe | undefined = /^\w+$/.test(field) ? { set: { [field]: 'probe' } } : undefined;
  const probe = probes[client][`${field}|${when}`] ?? probes[client][field] ?? anyText;
  if (probe === undefined) throw new Error(`no probe for ${field} (${when ?? 'always'}) of ${client}`);
  const context = contexts[when ?? ''] ?? probe.context;
  return context === undefined ? probe : { ...probe, context };
}
