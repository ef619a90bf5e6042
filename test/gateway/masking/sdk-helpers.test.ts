import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { describe, expect, test } from 'vitest';
import { anthropicClient, openaiClient, secrets } from '../../kit/gateway.ts';
import { maskedGateway } from './masked-gateway.ts';
import { dialects, letters, replying } from './saying.ts';

const { host, gateway } = await maskedGateway();

const value = '«quote " and \\ backslash,\n🌿»';
const text = `write to ann@example.com and ${value}`;
const messages = [{ role: 'user' as const, content: text }];
const max_tokens = 64;

interface Asking {
  readonly model: string;
  readonly key: string;
  readonly isStream: boolean;
}

type Ask = (asking: Asking) => Promise<unknown>;

/** The same without and with masking; no value left with the second. */
async function compare(ask: (key: string) => Promise<unknown>): Promise<unknown> {
  const plain = await ask(secrets.OTHER_KEY);
  const before = host.requests.length;
  const masked = await ask(secrets.PROJECT_KEY);
  expect(masked).toEqual(plain);
  const sent = host.requests.slice(before).map(({ body }) => body.toString());
  expect(sent.join('')).not.toMatch(/ann@|quote/);
  expect(sent.join('')).toMatch(/EMAIL_[A-Z]{13}/);
  return masked;
}

interface Result {
  readonly content: unknown;
}

/** The text of the last tool's result in a request; undefined if there is none. */
function toolResult(body: Buffer): string | undefined {
  const {
    messages: turns = [],
    input = [],
    contents = [],
  } = JSON.parse(body.toString()) as {
    contents?: { parts: { functionResponse?: { response: { output: unknown } } }[] }[];
    messages?: { role: string; content: unknown }[];
    input?: { type?: string; output?: unknown }[] | string;
  };
  const results = [
    ...turns.flatMap(({ role, content }): unknown[] => {
      if (role === 'tool') return [content];
      const blocks = Array.isArray(content) ? (content as (Result & { type: string })[]) : [];
      return blocks.filter(({ type }) => type === 'tool_result').map((block) => block.content);
    }),
    ...(typeof input === 'string' ? [] : input)
      .filter(({ type }) => type === 'function_call_output')
      .map(({ output }) => output),
    ...contents.flatMap(({ parts }) => parts.flatMap((part) => part.functionResponse?.response.output ?? [])),
  ];
  const last = results.at(-1);
  if (!Array.isArray(last)) return last as string | undefined;
  return (last as { text?: string }[]).map((part) => part.text ?? '').join('');
}

const inputSchema = {
  type: 'object',
  properties: { command: { type: 'string' } },
  required: ['command'],
} as const;

const runners: Readonly<Record<string, Ask>> = {
  messages: async ({ model, key, isStream }) => {
    const ran: string[] = [];
    const tool = betaTool({
      name: 'run',
      description: 'runs a command',
      inputSchema,
      run: ({ command }) => {
        ran.push(command);
        return `ran ${command}`;
      },
    });
    const { messages: api } = anthropicClient({ url: gateway.url, key }).beta;
    const request = { model, max_tokens, messages, tools: [tool] };
    const runner = isStream
      ? api.toolRunner({ ...request, stream: true })
      : api.toolRunner({ ...request, stream: false });
    const { content } = await runner.runUntilDone();
    return { ran, said: content.map((block) => (block.type === 'text' ? block.text : '')).join('') };
  },
  chat: async ({ model, key, isStream }) => {
    const ran: string[] = [];
    const tool = {
      type: 'function' as const,
      function: {
        name: 'run',
        description: 'runs a command',
        parameters: inputSchema as object as Record<string, unknown>,
        parse: (json: string) => JSON.parse(json) as { command: string },
        function: ({ command }: { command: string }) => {
          ran.push(command);
          return `ran ${command}`;
        },
      },
    };
    const { completions } = openaiClient({ url: gateway.url, key }).chat;
    const request = { model, messages, tools: [tool] };
    const runner = isStream
      ? completions.runTools({ ...request, stream: true })
      : completions.runTools(request);
    return { ran, said: await runner.finalContent() };
  },
};

const rowsOf = (clients: object) =>
  Object.keys(clients).flatMap((client) =>
    dialects.flatMap((provider) => [false, true].map((isStream) => ({ client, provider, isStream }))),
  );

describe('a tool runner', () => {
  test.each(rowsOf(runners))(
    'runs with the values, and its result leaves without: $client at $provider, streamed $isStream',
    async ({ client, provider, isStream }) => {
      host.script(
        replying((body) => {
          const result = toolResult(body);
          if (result !== undefined) return { text: `it says: ${result}` };
          const [email, customer] = heardIn(body);
          return { text: 'I run it', input: JSON.stringify({ command: `mail ${email} ${customer}` }) };
        }, letters),
      );
      const run = runners[client] as Ask;

      const done = await compare((key) => run({ model: `at-${provider}`, key, isStream }));

      const command = `mail ann@example.com ${value}`;
      expect(done).toEqual({ ran: [command], said: `it says: ran ${command}` });
    },
  );
});

/** What the host reads as address and customer, masked or not. */
function heardIn(body: Buffer): readonly string[] {
  const [, email = '', customer = ''] = /write to (\S+) and («.*?»|\w+)/.exec(body.toString()) ?? [];
  return [email, JSON.parse(`"${customer}"`) as string];
}
