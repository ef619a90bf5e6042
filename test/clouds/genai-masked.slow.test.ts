import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { maskedGateway } from '../gateway/masking/masked-gateway.ts';
import {
  type Cut,
  dialects,
  letters,
  replying,
  type Said,
  saying,
  whole,
} from '../gateway/masking/saying.ts';
import { secrets } from '../kit/gateway.ts';

// Google's SDK with and without masking, at providers of every dialect: equal results, and no value leaves. Run by
// `npm run test:all`, which installs the packages of this folder; those of the other SDKs are in test/gateway/masking.

const isInstalled = existsSync(join(import.meta.dirname, 'node_modules', '@google', 'genai'));
const load = createRequire(join(import.meta.dirname, 'package.json'));
const running = await maskedGateway();

const value = '«quote " and \\ backslash,\n🌿»';
const text = `write to ann@example.com and ${value}`;

interface Content {
  readonly parts?: readonly { readonly text?: string }[];
}

interface Answer {
  readonly text?: string;
  readonly functionCalls?: readonly object[];
  readonly candidates?: readonly { readonly content?: Content }[];
}

interface Client {
  readonly models: {
    generateContent(request: object): Promise<Answer>;
    generateContentStream(request: object): Promise<AsyncIterable<Answer>>;
  };
  readonly chats: {
    create(request: object): {
      sendMessage(message: object): Promise<Answer>;
      sendMessageStream(message: object): Promise<AsyncIterable<Answer>>;
      getHistory(): readonly Content[];
    };
  };
}

function clientFor(apiKey: string): Client {
  const { GoogleGenAI } = load('@google/genai');
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: running.gateway.url } });
}

/** The texts and calls of an answer, put together. */
async function heard(answers: AsyncIterable<Answer> | readonly Answer[]): Promise<unknown> {
  let said = '';
  const calls: object[] = [];
  for await (const answer of answers) {
    said += textOf(answer.candidates?.[0]?.content);
    calls.push(...(answer.functionCalls ?? []));
  }
  return { said, calls };
}

/** Without the SDK's warning that there are calls, too. */
function textOf(content: Content | undefined): string {
  return (content?.parts ?? []).map((part) => part.text ?? '').join('');
}

/** The same without and with masking; no value left with the second. */
async function compare(ask: (client: Client) => Promise<unknown>): Promise<unknown> {
  const plain = await ask(clientFor(secrets.OTHER_KEY));
  const before = running.host.requests.length;
  const masked = await ask(clientFor(secrets.PROJECT_KEY));
  expect(masked).toEqual(plain);
  const sent = running.host.requests.slice(before).map(({ body }) => body.toString());
  expect(sent.join('')).not.toMatch(/ann@|quote/);
  expect(sent.join('')).toMatch(/EMAIL_[A-Z]{13}/);
  return masked;
}

/** What the host reads as address and customer, masked or not. */
function heardIn(body: Buffer): readonly string[] {
  const [, email = '', customer = ''] = /write to (\S+) and («.*?»|\w+)/.exec(body.toString()) ?? [];
  return [email, JSON.parse(`"${customer}"`) as string];
}

const cuts: readonly (readonly [string, Cut])[] = [
  ['whole', whole],
  ['letter by letter', letters],
];

describe.skipIf(!isInstalled).each(dialects)('@google/genai at a %s provider', (provider) => {
  const model = `at-${provider}`;

  test.each(cuts)('hears the values again, in texts and calls: %s', async (_name, cut) => {
    const said = (all: string): Said => ({
      text: `I heard ${all}`,
      input: JSON.stringify({ command: all, list: [all] }),
    });
    running.host.script(saying(said, cut));
    const tools = [{ functionDeclarations: [{ name: 'run', parametersJsonSchema: { type: 'object' } }] }];
    const request = { model, contents: text, config: { tools } };

    const whole = await compare(async ({ models }) => heard([await models.generateContent(request)]));
    const streamed = await compare(async ({ models }) => heard(await models.generateContentStream(request)));

    const call = { name: 'run', args: { command: text, list: [text] } };
    expect(whole).toMatchObject({ said: `I heard ${text}`, calls: [call] });
    expect(streamed).toEqual(whole);
  });

  test('has a conversation of two turns, the second streamed', async () => {
    running.host.script(saying((all) => ({ text: `I heard ${all}` }), letters));

    const done = await compare(async ({ chats }) => {
      const chat = chats.create({ model });
      const first = await chat.sendMessage({ message: text });
      const second = await heard(await chat.sendMessageStream({ message: `again: ${text}` }));
      // Of a stream it keeps a turn for each event.
      return { first: first.text, second, history: chat.getHistory().map(textOf).join('') };
    });

    expect(done).toMatchObject({
      first: `I heard ${text}`,
      second: { said: `I heard again: ${text}`, calls: [] },
      history: expect.stringContaining(`${text}I heard ${text}again: ${text}`),
    });
  });

  test('gets JSON by a schema', async () => {
    running.host.script(saying((all) => ({ text: JSON.stringify({ all, list: [all] }) }), letters));
    const responseSchema = { type: 'OBJECT', properties: { all: { type: 'STRING' } } };
    const config = { responseMimeType: 'application/json', responseSchema };

    const parsed = await compare(async ({ models }) => {
      const answer = await models.generateContent({ model, contents: text, config });
      return JSON.parse(answer.text ?? '');
    });

    expect(parsed).toEqual({ all: text, list: [text] });
  });

  test('calls a tool by itself with the values, and its result leaves without', async () => {
    running.host.script(
      replying((body) => {
        if (body.includes('ran mail')) return { text: 'it ran' };
        const [email, customer] = heardIn(body);
        return { text: 'I run it', input: JSON.stringify({ command: `mail ${email} ${customer}` }) };
      }, letters),
    );

    const done = await compare(async ({ models }) => {
      const ran: unknown[] = [];
      const tool = {
        tool: async () => ({
          functionDeclarations: [{ name: 'run', parametersJsonSchema: { type: 'object' } }],
        }),
        callTool: async (calls: readonly { name: string; id?: string; args?: { command?: string } }[]) => {
          ran.push(...calls.map(({ args }) => args));
          return calls.map(({ name, id, args }) => ({
            functionResponse: { name, id, response: { output: `ran ${args?.command}` } },
          }));
        },
      };
      const answer = await models.generateContent({ model, contents: text, config: { tools: [tool] } });
      return { ran, said: answer.text };
    });

    expect(done).toEqual({ ran: [{ command: `mail ann@example.com ${value}` }], said: 'it ran' });
  });
});
