import { geminiCli, geminiEmbeddings, googleSdk } from './gemini-bodies.ts';
import { args, output, prompts, type Random, schema, stamp, uuid } from './random-source.ts';

const claudeCode = (random: Random) => {
  const id = `toolu_01${random.id(22)}`;
  return {
    model: 'claude-sonnet-4-5-20250929',
    max_tokens: 32_000,
    metadata: { user_id: `user_${random.hex(64)}_account__session_${uuid(random)}` },
    thinking: { type: 'enabled', budget_tokens: 31_999 },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    system: [
      {
        type: 'text',
        text: `x-anthropic-billing-header: cc_version=2.1.${random.number(90)}.${random.hex(3)};`,
      },
      { type: 'text', text: 'You are a coding agent.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ],
    tools: ['Bash', 'Read', 'Edit'].map((name) => ({
      name,
      description: `${name} a file`,
      input_schema: schema,
    })),
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: `<system-reminder>\nToday: ${stamp(random)}\n</system-reminder>` },
          { type: 'text', text: random.pick(prompts) },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I should read the file first.', signature: random.id(340) },
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id, name: 'Read', input: args(random) },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: id,
            content: [{ type: 'text', text: output(random) }],
            is_error: false,
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
    ],
    stream: true,
  };
};

const codex = (random: Random) => {
  const id = `call_${random.id(24)}`;
  return {
    model: 'gpt-5.1-codex',
    instructions: 'You are a coding agent running in a terminal.',
    // biome-ignore format: a case a line
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions>workspace-write</permissions>' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: `<environment_context><cwd>/repo</cwd></environment_context>` }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: random.pick(prompts) }] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: '**Reading the file**' }], content: null },
      { type: 'function_call', name: 'shell_command', arguments: JSON.stringify(args(random)), call_id: id },
      { type: 'function_call_output', call_id: id, output: `Exit code: 0\nOutput:\n${output(random)}` },
      {
        type: 'custom_tool_call',
        status: 'completed',
        call_id: `${id}b`,
        name: 'apply_patch',
        input: '*** Begin Patch\n*** Update File: a.ts\n+x\n*** End Patch',
      },
      { type: 'custom_tool_call_output', call_id: `${id}b`, output: 'Success' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: random.pick(prompts) }] },
    ],
    tools: [
      {
        type: 'function',
        name: 'shell_command',
        description: 'Runs a command',
        strict: false,
        parameters: schema,
      },
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Edits files',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: uuid(random),
    text: { verbosity: 'low' },
  };
};

const called = (random: Random, id: string) => [
  {
    role: 'assistant',
    content: null,
    refusal: null,
    tool_calls: [
      { id, type: 'function', function: { name: 'read', arguments: JSON.stringify(args(random)) } },
    ],
  },
  { role: 'tool', tool_call_id: id, name: 'read', content: output(random) },
];
const chatTools = [
  {
    type: 'function',
    function: { name: 'read', description: 'Reads a file', parameters: schema, strict: true },
  },
];

const opencode = (random: Random) => ({
  model: 'gpt-5.1',
  max_completion_tokens: 32_000,
  temperature: 0.55,
  top_p: 1,
  messages: [
    {
      role: 'system',
      content: `You are opencode.\n<env>\n  Working directory: /repo\n  Today's date: ${stamp(random)}\n</env>`,
    },
    { role: 'user', content: [{ type: 'text', text: random.pick(prompts) }] },
    ...called(random, `call_${random.id(24)}`),
  ],
  tools: chatTools,
  tool_choice: 'auto',
  stream: true,
  stream_options: { include_usage: true },
  reasoning_effort: 'medium',
});

const langChain = (random: Random) => ({
  model: 'gpt-5-mini',
  temperature: 0,
  n: 1,
  stream: false,
  user: uuid(random),
  messages: [
    { role: 'system', content: 'Answer from the context only.' },
    {
      role: 'user',
      name: 'example_user',
      content: `Context:\n${output(random)}\n\nQuestion: ${random.pick(prompts)}`,
    },
    { role: 'assistant', content: 'I do not know.', name: 'example_assistant' },
    { role: 'user', content: random.pick(prompts) },
  ],
  stop: ['\nObservation:', '\n\tObservation:'],
  response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
});

const vercel = (random: Random) => ({
  model: 'gpt-5.1',
  input: [
    { role: 'developer', content: 'You are a helpful assistant.' },
    { role: 'user', content: [{ type: 'input_text', text: `${random.pick(prompts)}\n${output(random)}` }] },
    { role: 'assistant', content: [{ type: 'output_text', text: 'Sure.' }] },
    { role: 'user', content: [{ type: 'input_text', text: random.pick(prompts) }] },
  ],
  max_output_tokens: 2_048,
  tools: [
    { type: 'function', name: 'weather', description: 'The weather', parameters: schema, strict: false },
  ],
  text: { format: { type: 'json_schema', strict: true, name: 'response', schema } },
  metadata: { trace: random.hex(32) },
  store: false,
});

const anthropicSdk = (random: Random) => ({
  model: 'claude-haiku-4-5',
  max_tokens: 1_024,
  temperature: 0.2,
  stop_sequences: ['\n\nHuman:'],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  tools: [{ name: 'lookup', description: 'Looks something up', input_schema: schema }],
  messages: [
    { role: 'user', content: random.pick(prompts) },
    {
      role: 'assistant',
      content: [
        {
          type: 'tool_use',
          id: `toolu_${random.id(24)}`,
          name: 'lookup',
          input: { file_id: random.hex(8), image_url: 'https://example.org/a.png', model: 'gpt-4o' },
        },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: output(random) },
          title: 'log.txt',
          citations: { enabled: true },
        },
        { type: 'text', text: 'And now?' },
      ],
    },
  ],
});

const embeddings = (random: Random) => ({
  model: 'gpt-embedding-3-small',
  input: [random.pick(prompts), output(random), output(random)],
  encoding_format: 'base64',
});

/** What clients send, by their name; the schemas use names that mean something elsewhere. */
export const clients = [
  ['Claude Code', '/v1/messages', claudeCode],
  ['Codex', '/v1/responses', codex],
  ['opencode', '/v1/chat/completions', opencode],
  ['LangChain', '/v1/chat/completions', langChain],
  ['the AI SDK', '/v1/responses', vercel],
  ["Anthropic's SDK", '/v1/messages', anthropicSdk],
  ['Gemini CLI', '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse', geminiCli],
  ["Google's SDK", '/v1beta/models/gemini-2.5-flash:generateContent', googleSdk],
  ['embeddings', '/v1/embeddings', embeddings],
  ['embeddings of Gemini', '/v1beta/models/gemini-embedding-001:batchEmbedContents', geminiEmbeddings],
] as const;
