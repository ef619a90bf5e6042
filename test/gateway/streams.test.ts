import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { chunkFrame } from '../kit/amazon-stream.ts';
import { pathFor } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { textDialects } from '../kit/dialects.ts';
import { post, projects, secrets, startGateway } from '../kit/gateway.ts';
import { type Script, startHost } from '../kit/host.ts';
import { scale } from '../kit/scale.ts';
import { textDelta } from '../kit/stream-events.ts';
import { bodies, type Cut, eventsOf, letters, type Said, saying } from './masking/saying.ts';
import { exactStream } from './relaying.ts';

// What holds for the streams of every dialect and in every form.

const host = await startHost(saying((text) => ({ text })));
const gateway = await startGateway(`
providers:
${providersAt(host.url)}
  bedrock: { dialect: bedrock, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}", retries: { attempts: 1 } }
models:
${modelsAt('at-', { model: 'm' })}
  - { match: at-bedrock, provider: bedrock, model: m }
${projects}`);
const key = secrets.PROVIDER_KEY;

type Client = (typeof textDialects)[number];
type Provider = Client | 'bedrock';
const providers: readonly Provider[] = [...textDialects, 'bedrock'];

/** A Gemini client that doesn't ask for events gets an array. */
const clients = [...textDialects, 'gemini, an array'] as const;

async function ask(client: (typeof clients)[number], provider: Provider, isStream = true): Promise<string> {
  const name = client === 'gemini, an array' ? 'gemini' : client;
  const model = `at-${provider}`;
  const path = pathFor(name, model, isStream);
  const body = { ...(name !== 'gemini' && { model, stream: isStream }), ...bodies[name]('hello') };
  const answer = await post(gateway, client === name ? path : path.replace('?alt=sse', ''), body);
  return answer.text();
}

/** A host that says this in pieces, in whatever dialect or form it is asked. */
function streaming(said: Said, cut: Cut): Script {
  const inEvents = saying(() => said, cut);
  return (response, request) => {
    if (!request.target.startsWith('/model/')) return inEvents(response, request);
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    const events = eventsOf('messages', said, cut).map((event) => event.slice(event.indexOf('data: ') + 6));
    return response.end(Buffer.concat(events.map((data) => chunkFrame(JSON.parse(data)))));
  };
}

function valuesOf(came: string): readonly unknown[] {
  if (came.startsWith('[')) return JSON.parse(came) as unknown[];
  return [...came.matchAll(/^data: (\{[^\n]*)$/gm)].map(([, data = '']) => JSON.parse(data) as unknown);
}

/** What clients put together: the texts at one path, with the numbers of blocks and without. */
function putTogether(values: readonly unknown[]): readonly string[] {
  const texts = new Map<string, string>();
  const add = (path: string, text: string) => texts.set(path, (texts.get(path) ?? '') + text);
  const walk = (value: unknown, path: string, numbers: string): void => {
    if (typeof value === 'string') {
      add(path, value);
      add(`${path} ${numbers}`, value);
    } else if (typeof value === 'object' && value !== null) {
      const { index = '', output_index = '', content_index = '' } = value as Record<string, string>;
      for (const [name, inner] of Object.entries(value))
        walk(
          inner,
          Array.isArray(value) ? path : `${path}/${name}`,
          `${numbers}${index}${output_index}${content_index}`,
        );
    }
  };
  for (const value of values) walk(value, '', '');
  return [...texts.values()];
}

/** More than its first three characters, and less than half of what follows them. */
const telling = key.slice(3, 12);
const isLeaked = (came: string) =>
  came.includes(telling) || putTogether(valuesOf(came)).some((text) => text.includes(telling));

const fields = {
  text: (said: string): Said => ({ text: `it is ${said}, so` }),
  arguments: (said: string): Said => ({ text: 'x', input: JSON.stringify({ a: `it is ${said}` }) }),
  thinking: (said: string): Said => ({ text: 'x', thinking: `it is ${said}, so` }),
} as const;

describe.each(clients)('a stream for a client of %s', (client) => {
  test.each(providers)('from %s is whole, in the form that was asked for', async (provider) => {
    host.script(streaming({ text: 'hello there' }, letters));

    const came = await ask(client, provider);

    if (client === 'gemini, an array') JSON.parse(came);
    expect(putTogether(valuesOf(came))).toContain('hello there');
  });

  test.each(providers)(
    'from %s has nothing of the provider’s key, wherever it is split',
    async (provider) => {
      const counts = { streams: 0, leaked: 0, unmarked: 0 };
      const places = Array.from({ length: key.length + 1 }, (_, at) => at).filter(
        (at) => at % scale(9, 1) === 0,
      );
      // In short runs each field at some of the pairs.
      const shift = clients.indexOf(client) + providers.indexOf(provider);
      const tried = Object.values(fields).filter((_, at) => (at + shift) % scale(3, 1) === 0);
      for (const field of tried) {
        const said = field(key);
        const cuts: readonly Cut[] = [
          letters,
          (text) => text.match(/[\s\S]{1,3}/g) ?? [],
          ...places.map(
            (place): Cut =>
              (text) => {
                const at = text.indexOf(key);
                return at < 0 ? [text] : [text.slice(0, at + place), text.slice(at + place)].filter(Boolean);
              },
          ),
        ];
        for (const cut of cuts) {
          host.script(streaming(said, cut));
          const came = await ask(client, provider);
          counts.streams += 1;
          counts.leaked += isLeaked(came) ? 1 : 0;
          // A dialect without thinking leaves it out.
          counts.unmarked += came.includes('[secret]') || said.thinking !== undefined ? 0 : 1;
        }
      }

      expect(counts).toEqual({ streams: tried.length * (places.length + 2), leaked: 0, unmarked: 0 });
    },
  );
});

const message = (blocks: readonly string[]) =>
  blocks.map((text, index) => ({
    events: [
      { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
      textDelta(index, text),
      { type: 'content_block_stop', index },
    ],
    block: { type: 'text', text },
  }));

/** A text that is spread over blocks, parts and events, in each dialect; and the same in a whole answer. */
const spread: Readonly<Record<Client, (pieces: readonly string[]) => { stream: object[]; whole: object }>> = {
  messages: (pieces) => ({
    stream: [...message(pieces).flatMap(({ events }) => events), { type: 'message_stop' }],
    whole: { type: 'message', content: message(pieces).map(({ block }) => block) },
  }),
  chat: (pieces) => ({
    stream: pieces.map((text) => ({ choices: [{ index: 0, delta: { content: [{ type: 'text', text }] } }] })),
    whole: { choices: [{ message: { content: pieces.map((text) => ({ type: 'text', text })) } }] },
  }),
  responses: (pieces) => ({
    stream: [
      ...pieces.map((delta, content_index) => ({
        type: 'response.output_text.delta',
        output_index: 0,
        content_index,
        delta,
      })),
      { type: 'response.completed', response: { output: [{ content: pieces.map((text) => ({ text })) }] } },
    ],
    whole: { output: pieces.map((text) => ({ content: [{ type: 'output_text', text }] })) },
  }),
  gemini: (pieces) => ({
    stream: [{ candidates: [{ content: { parts: pieces.map((text) => ({ text })) }, index: 0 }] }],
    whole: { candidates: [{ content: { parts: pieces.map((text) => ({ text })) }, finishReason: 'STOP' }] },
  }),
};

test.each(textDialects)(
  'a key spread over blocks and parts of %s stays here, streamed and whole',
  async (name) => {
    const counts = { tried: 0, leaked: 0, unmarked: 0 };
    for (let at = 1; at < key.length; at += 1) {
      for (const pieces of [[`it is ${key.slice(0, at)}`, `${key.slice(at)}, so`], [...key]]) {
        const { stream: events, whole } = spread[name](pieces);
        const stream = exactStream(name, [key]);
        const chunks = events.map((event) =>
          stream.transform(Buffer.from(`data: ${JSON.stringify(event)}\n\n`)),
        );
        host.script((response) => {
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
        });
        const error = stream.fail(new GatewayError('provider.broken_response', 'it broke off'), 'r');
        const streamed = Buffer.concat([...chunks, error]).toString();
        const answered = await ask(name, name, false);
        counts.tried += 1;
        counts.leaked +=
          isLeaked(streamed) || putTogether([JSON.parse(answered)]).some((text) => text.includes(telling))
            ? 1
            : 0;
        counts.unmarked += streamed.includes('[secret]') && answered.includes('[secret]') ? 0 : 1;
      }
    }

    expect(counts).toEqual({ tried: 2 * (key.length - 1), leaked: 0, unmarked: 0 });
  },
);

test('what only begins like a key passes, and nearly all events in their own bytes', () => {
  const stream = exactStream('chat', [key]);
  const chunk = (content: string) =>
    Buffer.from(`data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]}\n\n`);
  const pieces = [
    ...'it is provided by a provider-secretary of the province, p',
    'pro',
    'provider-secret-987654321',
  ];

  const came = pieces.map((piece) => stream.transform(chunk(piece)).toString()).join('');
  const rest = stream.transform(Buffer.from('data: [DONE]\n\n')).toString();

  expect(putTogether(valuesOf(came + rest))).toContain(`${pieces.slice(0, -1).join('')}[secret]`);
  const plain = chunk('nothing of it');
  expect(exactStream('chat', [key]).transform(plain)).toBe(plain);
});
