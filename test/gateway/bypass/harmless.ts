import { type Bypass, base64, model, saying } from './case.ts';
import { harmlessTexts } from './harmless-texts.ts';

export interface Harmless {
  readonly name: string;
  readonly endpoint: Bypass['endpoint'];
  readonly body: unknown;
  readonly target?: string;
  readonly headers?: readonly string[];
}

const signature = base64(
  'the signature of a provider over the block of thinking before it, as long as they are '.repeat(4),
);
const uuid = '0b9c6d8e-3f0a-4a54-9f0e-6f6a1c1d2e3f';
const userId = `user_${'9f2b'.repeat(16)}_account_${uuid}_session_${uuid}`;
const ephemeral = { cache_control: { type: 'ephemeral' } };

const schema = (properties: object, required: readonly string[] = []) => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const agentTools = [
  {
    name: 'Bash',
    description:
      'Executes a given bash command in a persistent shell session with optional timeout (up to 600000ms / 10 minutes).\n\nUsage notes:\n  - Never use it to print secrets, passwords or tokens.\n  - Quote paths that contain spaces.',
    input_schema: schema({ command: { type: 'string' }, timeout: { type: 'number', maximum: 600000 } }, [
      'command',
    ]),
  },
  {
    name: 'Read',
    description: 'Reads a file from the local filesystem. By default it reads up to 2000 lines.',
    input_schema: schema(
      { file_path: { type: 'string' }, offset: { type: 'number' }, limit: { type: 'number' } },
      ['file_path'],
    ),
  },
  {
    name: 'Edit',
    description: 'Performs exact string replacements in files.',
    input_schema: schema({
      file_path: { type: 'string' },
      old_string: { type: 'string' },
      new_string: { type: 'string' },
      replace_all: { type: 'boolean', default: false },
    }),
  },
  {
    name: 'WebFetch',
    description: 'Fetches a URL and answers a question about it.',
    input_schema: schema({ url: { type: 'string', format: 'uri' }, prompt: { type: 'string' } }),
  },
];
const claudeCode = (messages: readonly unknown[], more: object = {}) => ({
  model: model.messages,
  max_tokens: 1000,
  stream: false,
  metadata: { user_id: userId },
  system: [
    { type: 'text', text: 'You are an agent that helps with software engineering tasks.', ...ephemeral },
    {
      type: 'text',
      text: 'Here is useful information about the environment:\n<env>\nWorking directory: /home/dev/shop\nIs directory a git repo: Yes\nPlatform: linux\nOS Version: Linux 6.8.0-49-generic\nToday is 2026-01-07\n</env>',
      ...ephemeral,
    },
  ],
  tools: agentTools,
  messages,
  ...more,
});
const toolId = 'toolu_01A09q90qw90lq917835lq9';
const agentTurns = (result: unknown) => [
  {
    role: 'user',
    content: [
      { type: 'text', text: '<system-reminder>\nThe todo list is empty.\n</system-reminder>' },
      { type: 'text', text: 'fix the failing test' },
    ],
  },
  {
    role: 'assistant',
    content: [
      {
        type: 'thinking',
        thinking: 'The test fails since the limit is off by one. I should look at line 42 first.',
        signature,
      },
      { type: 'text', text: 'I look at the test first.' },
      {
        type: 'tool_use',
        id: toolId,
        name: 'Bash',
        input: { command: 'npx vitest run test/http 2>&1 | tail -n 40', timeout: 120000 },
      },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: toolId, content: result, ...ephemeral }] },
];
const codexTools = [
  {
    type: 'function',
    name: 'shell',
    description: 'Runs a shell command and returns its output.',
    strict: false,
    parameters: schema(
      {
        command: { type: 'array', items: { type: 'string' } },
        workdir: { type: 'string' },
        timeout_ms: { type: 'number' },
      },
      ['command'],
    ),
  },
  {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edits files by a patch.',
    format: {
      type: 'grammar',
      syntax: 'lark',
      definition: 'start: begin_patch hunk+ end_patch\nbegin_patch: "*** Begin Patch" LF',
    },
  },
  { type: 'web_search' },
];
const codex = (input: readonly unknown[], more: object = {}) => ({
  model: model.responses,
  instructions: 'You are a coding agent running in a terminal. Be precise, safe and helpful.',
  input,
  tools: codexTools,
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'medium', summary: 'auto' },
  store: false,
  stream: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: uuid,
  ...more,
});
const patch =
  '*** Begin Patch\n*** Update File: src/a.ts\n@@ export function a() {\n-  return 1;\n+  return 2;\n*** End Patch';
const message = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
});
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather at a place.',
    strict: true,
    parameters: schema({ city: { type: 'string' }, unit: { enum: ['c', 'f'] } }, ['city', 'unit']),
  },
};
const chat = (messages: readonly unknown[], more: object = {}) => ({ model: model.chat, messages, ...more });

const shapes: readonly Harmless[] = [
  {
    name: 'Claude Code: the first turn',
    endpoint: 'messages',
    target: '/v1/messages?beta=true',
    headers: [
      'anthropic-beta: claude-code-20250219,interleaved-thinking-2025-05-14',
      'anthropic-version: 2023-06-01',
      'x-app: cli',
      'X-Stainless-Lang: js',
    ],
    body: claudeCode([{ role: 'user', content: 'what does this project do?' }]),
  },
  {
    name: 'Claude Code: a turn with a result',
    endpoint: 'messages',
    body: claudeCode(agentTurns(harmlessTexts['test results'])),
  },
  {
    name: 'Claude Code: a result in blocks',
    endpoint: 'messages',
    body: claudeCode(agentTurns([{ type: 'text', text: harmlessTexts['a stack trace'] }])),
  },
  {
    name: 'Claude Code: a result that failed',
    endpoint: 'messages',
    body: claudeCode([
      ...agentTurns('x').slice(0, 2),
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: toolId,
            is_error: true,
            content: 'Exit code 127\nbash: vitest: command not found',
          },
        ],
      },
    ]),
  },
  {
    name: 'Claude Code: a file with numbered lines',
    endpoint: 'messages',
    body: claudeCode(
      agentTurns(
        String(harmlessTexts.TypeScript)
          .split('\n')
          .map((line, at) => `${String(at + 1).padStart(6)}→${line}`)
          .join('\n'),
      ),
    ),
  },
  {
    name: 'Claude Code: thinking switched on',
    endpoint: 'messages',
    body: claudeCode(agentTurns('ok'), {
      thinking: { type: 'enabled', budget_tokens: 1024 },
      max_tokens: 1000,
    }),
  },
  {
    name: 'Claude Code: a title for the session',
    endpoint: 'messages',
    body: {
      model: model.messages,
      max_tokens: 512,
      temperature: 0,
      system: [{ type: 'text', text: 'Write a title of at most 50 characters.' }],
      messages: [
        { role: 'user', content: 'fix the failing test' },
        { role: 'assistant', content: '{' },
      ],
      metadata: { user_id: userId },
    },
  },
  {
    name: 'Claude Code: counting tokens',
    endpoint: 'count_tokens',
    target: '/v1/messages/count_tokens?beta=true',
    body: { model: model.messages, messages: [{ role: 'user', content: 'foo' }], tools: agentTools },
  },
  {
    name: 'Claude Code: context management',
    endpoint: 'messages',
    body: claudeCode(agentTurns('ok'), {
      context_management: {
        edits: [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 3 } }],
      },
    }),
  },
  {
    name: 'Claude Code: a picture',
    endpoint: 'messages',
    body: claudeCode([
      {
        role: 'user',
        content: [
          {
            type: 'image',
            source: {
              type: 'base64',
              media_type: 'image/png',
              data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
            },
          },
          { type: 'text', text: 'what is this?' },
        ],
      },
    ]),
  },
  {
    name: 'Claude Code: many small tool calls',
    endpoint: 'messages',
    body: claudeCode(
      Array.from({ length: 40 }, (_, at) => [
        {
          role: 'assistant',
          content: [
            {
              type: 'tool_use',
              id: `toolu_${String(at).padStart(24, '0')}`,
              name: 'Read',
              input: { file_path: `/home/dev/shop/src/part-${at}.ts`, offset: at * 100, limit: 100 },
            },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: `toolu_${String(at).padStart(24, '0')}`,
              content: `${at}\n${at + 1}\n${at + 2}`,
            },
          ],
        },
      ]).flat(),
    ),
  },
  {
    name: 'Codex: the first turn',
    endpoint: 'responses',
    headers: ['originator: codex_cli_rs', `session_id: ${uuid}`, 'OpenAI-Beta: responses=experimental'],
    body: codex([
      message('developer', '<permissions>workspace-write</permissions>'),
      message(
        'user',
        `<environment_context>\n  <cwd>/home/dev/shop</cwd>\n  <shell>bash</shell>\n</environment_context>`,
      ),
      message('user', 'run the tests'),
    ]),
  },
  {
    name: 'Codex: a call and its output',
    endpoint: 'responses',
    body: codex([
      message('user', 'run the tests'),
      {
        type: 'reasoning',
        id: 'rs_68f1',
        summary: [{ type: 'summary_text', text: '**Running tests**' }],
        encrypted_content: signature,
      },
      {
        type: 'function_call',
        call_id: 'call_4T0bq',
        name: 'shell',
        arguments:
          '{"command":["bash","-lc","npm test 2>&1 | tail -n 20"],"workdir":"/home/dev/shop","timeout_ms":120000}',
      },
      {
        type: 'function_call_output',
        call_id: 'call_4T0bq',
        output: JSON.stringify({
          output: harmlessTexts['test results'],
          metadata: { exit_code: 0, duration_seconds: 1.8 },
        }),
      },
    ]),
  },
  {
    name: 'Codex: a patch',
    endpoint: 'responses',
    body: codex([
      message('user', 'return 2'),
      { type: 'custom_tool_call', call_id: 'call_9', name: 'apply_patch', input: patch, status: 'completed' },
      {
        type: 'custom_tool_call_output',
        call_id: 'call_9',
        output: 'Success. Updated the following files:\nM src/a.ts\n',
      },
    ]),
  },
  {
    name: 'Codex: an answer of its own',
    endpoint: 'responses',
    body: codex([
      message('user', 'hi'),
      message('assistant', 'Hello! What should we build?'),
      message('user', 'a parser'),
    ]),
  },
  {
    name: 'Codex: the compacting of a conversation',
    endpoint: 'responses',
    body: codex([
      message('user', harmlessTexts['a server log'] ?? ''),
      message('user', 'Summarise the work so far for another agent that takes over.'),
    ]),
  },
  {
    name: 'an SDK: hello over chat',
    endpoint: 'chat',
    headers: ['X-Stainless-Package-Version: 6.9.1', 'X-Stainless-Retry-Count: 0'],
    body: chat([{ role: 'user', content: 'hello' }]),
  },
  {
    name: 'an SDK: tools over chat',
    endpoint: 'chat',
    body: chat(
      [
        { role: 'user', content: 'weather in Berlin?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_abc123',
              type: 'function',
              function: { name: 'get_weather', arguments: '{"city":"Berlin","unit":"c"}' },
            },
          ],
        },
        {
          role: 'tool',
          tool_call_id: 'call_abc123',
          content: '{"temp":-1.5,"wind":{"speed":12.25,"deg":310}}',
        },
      ],
      { tools: [weather], tool_choice: 'auto', parallel_tool_calls: true },
    ),
  },
  {
    name: 'an SDK: an answer by a schema',
    endpoint: 'chat',
    body: chat([{ role: 'user', content: 'one plant' }], {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'plant',
          strict: true,
          schema: schema({
            name: { type: 'string' },
            email: { type: 'string', format: 'email', pattern: '^\\S+@\\S+$' },
            iban: { type: 'string', pattern: '^[A-Z]{2}\\d{2}' },
          }),
        },
      },
    }),
  },
  {
    name: 'an SDK: all the options of chat',
    endpoint: 'chat',
    body: chat(
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', name: 'anna', content: [{ type: 'text', text: 'hi' }] },
      ],
      {
        temperature: 0.7,
        top_p: 0.95,
        n: 1,
        seed: 1234567890,
        logit_bias: { 50256: -100 },
        stop: ['\n\n'],
        user: uuid,
        max_completion_tokens: 900,
        frequency_penalty: 0.1,
        metadata: { run: '2026-01-07-3' },
      },
    ),
  },
  {
    name: 'an SDK: a long number that is only a number',
    endpoint: 'chat',
    body: chat([{ role: 'user', content: 'go' }], {
      seed: 9007199254740991,
      metadata: { trace: '4bf92f3577b34da6a3ce929d0e0e4736' },
    }),
  },
  {
    name: 'an SDK: a stream over messages',
    endpoint: 'messages',
    body: saying('messages', 'hello', { temperature: 1, top_k: 40, stop_sequences: ['\n\nHuman:'] }),
  },
  {
    name: 'an SDK: a document in text',
    endpoint: 'messages',
    body: saying('messages', [
      {
        type: 'document',
        title: 'Notes',
        citations: { enabled: true },
        source: { type: 'text', media_type: 'text/plain', data: harmlessTexts['a table of numbers'] },
      },
      { type: 'text', text: 'Summarise.' },
    ]),
  },
  {
    name: 'an SDK: a document in base64',
    endpoint: 'messages',
    body: saying('messages', [
      {
        type: 'document',
        source: { type: 'base64', media_type: 'text/plain', data: base64(harmlessTexts.CSV ?? '') },
      },
    ]),
  },
  {
    name: 'an SDK: a server tool',
    endpoint: 'messages',
    body: saying('messages', 'news?', {
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }],
    }),
  },
  {
    name: 'an SDK: responses with a schema',
    endpoint: 'responses',
    body: {
      model: model.responses,
      input: 'one plant',
      text: {
        format: {
          type: 'json_schema',
          name: 'plant',
          schema: schema({ name: { type: 'string' } }),
          strict: true,
        },
      },
      metadata: { a: 'b' },
    },
  },
  {
    name: 'an SDK: embeddings of one text',
    endpoint: 'embeddings',
    body: { model: model.embeddings, input: 'a fern in the shade', encoding_format: 'float' },
  },
  {
    name: 'an SDK: embeddings of many texts',
    endpoint: 'embeddings',
    body: {
      model: model.embeddings,
      input: Object.values(harmlessTexts),
      encoding_format: 'base64',
      dimensions: 256,
    },
  },
  {
    name: 'a chart of values in tool output',
    endpoint: 'chat',
    body: chat([
      {
        role: 'tool',
        tool_call_id: 'c',
        content: JSON.stringify({
          series: Array.from({ length: 200 }, (_, at) => [
            1736253296 + at * 60,
            Math.round(at * at * 7.31) / 100,
          ]),
        }),
      },
    ]),
  },
  {
    name: 'coordinates in tool output',
    endpoint: 'chat',
    body: chat([
      {
        role: 'tool',
        tool_call_id: 'c',
        content: JSON.stringify({
          type: 'Polygon',
          coordinates: [
            [
              [13.404954, 52.520008],
              [13.4132789, 52.5219184],
              [13.37769, 52.51628],
            ],
          ],
        }),
      },
    ]),
  },
  {
    name: 'a model of tools with every kind of schema',
    endpoint: 'chat',
    body: chat([{ role: 'user', content: 'x' }], {
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            parameters: {
              type: 'object',
              properties: {
                phone: { type: 'string', description: 'in E.164, begins with +' },
                ssn: { type: 'string', pattern: '^\\d{3}-\\d{2}-\\d{4}$' },
                card: { type: 'string', minLength: 14, maxLength: 19 },
                ip: { type: 'string', format: 'ipv4' },
                at: { type: 'integer', minimum: 1000000000000, maximum: 9999999999999 },
              },
            },
          },
        },
      ],
    }),
  },
];

const rotation = ['messages', 'chat', 'responses', 'embeddings'] as const;

/** Requests of real shape that must pass with every detector and text rule switched on. */
export const harmless: readonly Harmless[] = [
  ...shapes,
  ...Object.entries(harmlessTexts).map(([name, text], at): Harmless => {
    const endpoint = rotation[at % rotation.length] ?? 'chat';
    return { name: `${endpoint}: ${name}`, endpoint, body: saying(endpoint, text) };
  }),
];
