// What agents send, as far as it shows the detectors and automata what they will read: prose, code, settings, addresses,
// numbers, ids. Short texts, between which the work can be interrupted.
const texts = [
  'You are a coding agent that works in a terminal. Follow what the user asks for, and keep answers short.',
  'Please look at src/server/http.ts and explain why the request takes so long; the key question is whether we pass the token twice.',
  "I'll read the file first, then run the tests. The password field isn't used anywhere, as far as I can see.",
  'async function load(path: string): Promise<Config> {\n  const text = await readFile(path, "utf8");\n  return JSON.parse(text) as Config;\n}\nconst { name, version } = await load("package.json");\n',
  'def authenticate(user, password=None):\n    """Return a session or raise."""\n    if not password:\n        raise ValueError("password is required")\n    return Session(user_id=user.id, expires=3600)\n',
  '     1→{\n     2→  "name": "example",\n     3→  "version": "1.4.2",\n     4→  "scripts": { "build": "tsc -p .", "test": "vitest run" },\n     5→  "dependencies": { "undici": "^7.10.0" }\n',
  "On branch main\nYour branch is up to date with 'origin/main'.\n\nChanges not staged for commit:\n\tmodified:   docs/setup.md\n\tmodified:   package-lock.json\n",
  'See https://docs.example.com/guides/getting-started?tab=node#install or write to the support team at help@example.com.',
  '2026-03-14T09:26:53.589Z INFO [worker-3] GET /api/v2/orders/81724 200 in 35 ms, 10.0.12.7, id 7f3a9c1e-52d4-4b6a-9f08-1c2d3e4f5a6b',
  'DATABASE_URL=postgres://localhost:5432/shop\nAPI_KEY=$API_KEY\nSECRET_TOKEN=changeme\nDEBUG=true\n',
  'The total is 1,284.50 for 37 items; call 555 0100 or use the order number 4021-77-9313 if anything is wrong. Thanks!',
  'Usage: deploy [options] <target>\n  -e, --env <name>      which environment\n  -t, --token <value>   credentials of the service\n  --dry-run             only show what would happen\n',
  '# Ergebnis\n\n- Größe geändert: 12 → 48 Zeilen\n- naïve façade, 你好，世界, “quoted” text – done ✓\n\n| column | value |\n|---|---:|\n| total | 99 % |\n',
  'Error: connect ECONNREFUSED 127.0.0.1:3000\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1607:16)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)\n',
  'diff --git a/lib/auth.go b/lib/auth.go\nindex 83db48f..bf269f4 100644\n@@ -14,7 +14,7 @@ func NewClient(secret string) *Client {\n-\treturn &Client{key: secret}\n+\treturn &Client{apiKey: secret, retries: 3}\n',
];

/** In two pieces, so that no scanner takes the source for a leak. */
const secret = `Set api_key = "${'q8Zk2vX7'}${'mB4tLw9RcY3nHs6J'}" and run it again.`;

const tools = [
  {
    name: 'Bash',
    description: 'Runs a command in the shell and returns its output.',
    input_schema: {
      type: 'object',
      properties: {
        command: { type: 'string', description: 'The command to run.' },
        timeout: { type: 'number', description: 'In milliseconds, at most 600000.' },
      },
      required: ['command'],
      additionalProperties: false,
    },
  },
];

const call = {
  type: 'tool_use',
  id: 'toolu_01A09q90qw90lq917835lq9',
  name: 'Bash',
  input: { command: 'grep -rn "token" src | head -20' },
};

/** Bodies in the dialects from which all others are made by translation. */
export function madeUpBody(dialect: 'messages' | 'embeddings', hasMatch: boolean): object {
  const said = hasMatch ? [...texts.slice(0, 2), secret] : texts;
  if (dialect === 'embeddings') return { model: madeUpModel, input: said };
  const [system, ...rest] = said;
  const messages = rest.map((text, at) => {
    const role = at % 2 === 0 ? 'user' : 'assistant';
    return { role, content: at % 4 < 2 ? text : [{ type: 'text', text }] };
  });
  return {
    model: madeUpModel,
    max_tokens: 1_024,
    stream: true,
    system: [{ type: 'text', text: system }],
    messages: [
      ...messages,
      ...(hasMatch ? [] : [{ role: 'assistant', content: [{ type: 'text', text: 'I look for it.' }, call] }]),
      ...(hasMatch
        ? []
        : [
            {
              role: 'user',
              content: [
                { type: 'tool_result', tool_use_id: call.id, content: [{ type: 'text', text: texts[7] }] },
              ],
            },
          ]),
    ],
    tools,
  };
}

export const madeUpModel = 'made-up-model';

/** A streamed answer of the messages dialect, in the pieces in which it might come. */
export function madeUpStream(): readonly Buffer[] {
  const events: readonly { readonly type: string; readonly [field: string]: unknown }[] = [
    messageStart,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...texts.slice(0, 9).flatMap((text) => deltas(0, text)),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: call.id, name: call.name, input: {} },
    },
    {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(call.input) },
    },
    { type: 'content_block_stop', index: 1 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 212 },
    },
    { type: 'message_stop' },
  ] as const;
  return events.map((event) => Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
}

const messageStart = {
  type: 'message_start',
  message: {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: madeUpModel,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1_240, output_tokens: 1 },
  },
};

function deltas(index: number, text: string) {
  const pieces = text.match(/[\s\S]{1,24}/g) ?? [];
  return pieces.map((piece) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'text_delta', text: piece },
  }));
}
