import type { Random } from './random.ts';

const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz0123456789';
const from = (random: Random, alphabet: string, length: number) =>
  Array.from({ length }, () => random.of([...alphabet])).join('');
const hex = (random: Random, length: number) => from(random, '0123456789abcdef', length);
const idOf = (random: Random, length: number) => from(random, letters, length);
const uuid = (random: Random) =>
  [8, 4, 4, 4, 12].map((length, at) => (at === 2 ? `4${hex(random, 3)}` : hex(random, length))).join('-');
const stamp = ({ below }: Random) =>
  `2026-0${1 + below(9)}-${10 + below(18)}T0${below(10)}:${10 + below(50)}:0${below(10)}.${100 + below(900)}Z`;

/** What tools put out. */
// biome-ignore format: a case a line
const outputs: readonly ((random: Random) => string)[] = [
  (random) => `commit ${hex(random, 40)}\nAuthor: A Developer\nDate:   ${stamp(random)}\n\n    parser: fix the build`,
  (random) => `index ${hex(random, 7)}..${hex(random, 7)} 100644\n--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1,4 +1,5 @@\n-const n = ${random.below(1e6)};\n+const n = 0x${hex(random, 6)};`,
  ({ below }) => `-rw-r--r--  1 dev staff  ${below(1e7)} Nov ${1 + below(28)} 10:24 package-lock.json`,
  (random) => `"integrity": "sha512-${idOf(random, 86)}==",\n"resolved": "https://registry.npmjs.org/zod/-/zod-4.${random.below(9)}.${random.below(30)}.tgz"`,
  (random) => `${stamp(random)} INFO request_id=${uuid(random)} took ${random.below(9000)}ms, ${random.below(1e9)} bytes`,
  ({ below }) => `Tests  ${below(2000)} passed (${below(2000)})\nDuration  ${below(99)}.${below(99)}s`,
  (random) => `sha256:${hex(random, 64)}  ${1_700_000_000 + random.below(9e7)}`,
  ({ below }) => `total: €${below(9999)}.${10 + below(90)} for order #${below(99_999)}, version ${below(20)}.${below(20)}.${below(20)}`,
  () => 'import { readFile } from "node:fs/promises";\n\nexport const token = process.env.API_TOKEN;\nconst key = config.get("apiKey");',
  () => 'cd "C:\\Program Files\\app" && npm ci\n\u001b[32m✓\u001b[39m 東京 café naïve 👩‍👩‍👧',
  (random) => JSON.stringify({ id: random.below(1e6), ok: true, items: [1.5, 2e3, -0.25], at: stamp(random), etag: hex(random, 32) }),
  (random) => `rgb(${random.below(256)}, ${random.below(256)}, ${random.below(256)}) #${hex(random, 6)} 10.5px 1920x1080 100%`,
];
const output = (random: Random) => random.of(outputs)(random);
const prompt = (random: Random) =>
  random.of([
    'Fix the failing test in src/parser.ts and explain why it failed.',
    'Why does `npm ci` take so long on CI? Keep it short.',
    'Bitte übersetze die Fehlermeldung ins Englische.',
    'Write a regular expression for ISO dates, e.g. 2026-11-23.',
  ]);

/** Its properties have names that mean something elsewhere. */
const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    file_path: { type: 'string', description: 'The absolute path of the file' },
    file_id: { type: 'string', description: 'An id' },
    image_url: { type: 'string', format: 'uri' },
    max_tokens: { type: 'integer', maximum: 1_000_000 },
    name: { type: 'string', enum: ['python', 'web_search'] },
    model: { type: 'string', default: 'gpt-4o' },
  },
  required: ['file_path'],
  additionalProperties: false,
};
const args = (random: Random) => ({
  file_path: '/repo/src/app.ts',
  file_id: hex(random, 8),
  image_url: 'https://example.org/a.png',
  model: 'gpt-4o',
  limit: random.below(2000),
  text: output(random),
});

export const claudeCode = (random: Random) => {
  const id = `toolu_01${idOf(random, 22)}`;
  const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  return {
    model: 'claude-sonnet-4-5-20250929',
    max_tokens: 32_000,
    metadata: { user_id: `user_${hex(random, 64)}_account__session_${uuid(random)}` },
    thinking: { type: 'enabled', budget_tokens: 31_999 },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    stop_sequences: ['\n\nHuman:'],
    // biome-ignore format: a case a line
    system: [
      { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.${random.below(90)}.${hex(random, 3)};` },
      { type: 'text', text: 'You are a coding agent.', ...cached },
    ],
    tools: [{ name: 'Read', description: 'Reads a file', input_schema: schema }],
    // biome-ignore format: a case a line
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: `<system-reminder>\nToday: ${stamp(random)}\n</system-reminder>` },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: output(random) }, title: 'log.txt', citations: { enabled: true } },
          { type: 'text', text: prompt(random) },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I should read the file first.', signature: idOf(random, 340) },
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id, name: 'Read', input: args(random) },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: output(random) }], is_error: false, ...cached }] },
    ],
    stream: true,
  };
};

export const codex = (random: Random) => {
  const id = `call_${idOf(random, 24)}`;
  const patch = '*** Begin Patch\n*** Update File: a.ts\n+x\n*** End Patch';
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
  return {
    model: 'gpt-5.1-codex',
    instructions: 'You are a coding agent running in a terminal.',
    // biome-ignore format: a case a line
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions>workspace-write</permissions>' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt(random) }] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: '**Reading the file**' }], content: null },
      { type: 'function_call', name: 'shell_command', arguments: JSON.stringify(args(random)), call_id: id },
      { type: 'function_call_output', call_id: id, output: `Exit code: 0\nOutput:\n${output(random)}` },
      { type: 'custom_tool_call', status: 'completed', call_id: `${id}b`, name: 'apply_patch', input: patch },
      { type: 'custom_tool_call_output', call_id: `${id}b`, output: 'Success' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt(random) }] },
    ],
    tools: [
      { type: 'function', name: 'shell_command', description: 'Runs it', strict: false, parameters: schema },
      { type: 'custom', name: 'apply_patch', description: 'Edits files', format },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: uuid(random),
    metadata: { trace: hex(random, 32) },
    text: { verbosity: 'low', format: { type: 'json_schema', strict: true, name: 'response', schema } },
  };
};

const opencode = (random: Random) => {
  const id = `call_${idOf(random, 24)}`;
  const called = { name: 'read', arguments: JSON.stringify(args(random)) };
  return {
    model: 'gpt-5.1',
    max_completion_tokens: 32_000,
    temperature: 0.55,
    n: 1,
    user: uuid(random),
    // biome-ignore format: a case a line
    messages: [
      { role: 'system', content: `<env>\n  Working directory: /repo\n  Today's date: ${stamp(random)}\n</env>` },
      { role: 'user', name: 'example_user', content: [{ type: 'text', text: prompt(random) }] },
      { role: 'assistant', content: null, refusal: null, tool_calls: [{ id, type: 'function', function: called }] },
      { role: 'tool', tool_call_id: id, name: 'read', content: output(random) },
    ],
    tools: [
      { type: 'function', function: { name: 'read', description: 'Reads a file', parameters: schema } },
    ],
    stop: ['\nObservation:', '\n\tObservation:'],
    response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
    stream: true,
    stream_options: { include_usage: true },
  };
};

const geminiCli = (random: Random) => {
  const id = `read_file-${random.below(1e9)}`;
  const response = { id, name: 'read_file', response: { output: output(random) } };
  return {
    systemInstruction: { role: 'user', parts: [{ text: 'You are an interactive CLI agent.' }] },
    contents: [
      { role: 'user', parts: [{ text: `Today is ${stamp(random)}.` }, { text: prompt(random) }] },
      {
        role: 'model',
        parts: [
          { text: 'I should read the file first.', thought: true },
          { functionCall: { name: 'read_file', args: args(random) }, thoughtSignature: idOf(random, 340) },
        ],
      },
      { role: 'user', parts: [{ functionResponse: response }] },
    ],
    tools: [{ functionDeclarations: [{ name: 'read_file', parametersJsonSchema: schema }] }],
    generationConfig: {
      maxOutputTokens: 32_000,
      thinkingConfig: { thinkingBudget: -1, includeThoughts: true },
    },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  };
};

const googleSdk = (random: Random) => ({
  system_instruction: { parts: [{ text: 'Answer from the context only.' }] },
  contents: [{ role: 'user', parts: [{ text: output(random) }, { text: prompt(random) }] }],
  tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['lookup'] } },
  tools: [{ function_declarations: [{ name: 'lookup', description: 'Looks it up', parameters: schema }] }],
  generation_config: {
    max_output_tokens: 2_048,
    stop_sequences: ['\nObservation:'],
    response_mime_type: 'application/json',
    response_json_schema: schema,
  },
});

/** What clients send, by their name. */
export const clients = [
  ['Claude Code', '/v1/messages', claudeCode],
  ['Codex', '/v1/responses', codex],
  ['opencode', '/v1/chat/completions', opencode],
  ['Gemini CLI', '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse', geminiCli],
  ["Google's SDK", '/v1beta/models/gemini-2.5-flash:generateContent', googleSdk],
] as const;
