import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../src/dialects/registry.ts';
import { GatewayError } from '../../src/errors.ts';
import { stream, streamedIn } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { textDialects } from '../kit/dialects.ts';
import {
  askedAt,
  clientForms,
  createTally,
  providerForms,
  type TextClient,
  type TextProvider,
  textClients,
  textProviders,
} from '../kit/forms.ts';
import { secrets, startGateway } from '../kit/gateway.ts';
import { type Script, startHost } from '../kit/host.ts';
import { postRaw } from '../kit/raw.ts';
import { scale } from '../kit/scale.ts';
import { blockDelta, blockStart, blockStop, chatChunk, textDelta } from '../kit/stream-events.ts';
import {
  bodies,
  type Change,
  type Cut,
  conversationOf,
  eventsOf,
  failureOf,
  finishing,
  letters,
  listing,
  numbering,
  ofSecond,
  type Said,
  saying,
  withOthers,
} from './masking/saying.ts';
import { exactStream } from './relaying.ts';

// What holds for the streams of every dialect and in every form.

const host = await startHost(saying((text) => ({ text })));
const gateway = await startGateway(`
providers:
${providersAt(host.url)}
models:
${modelsAt('at-', { model: 'm' })}
policies:
  answers:
    rules:
      - { id: codename, action: block, apply_to: [response], when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }
      - { id: place, action: redact, apply_to: [response], when: { text: { phrases: ["harbour seven"] } }, reason: content.place }
projects:
  shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { policies: [answers], keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
`);
const key = secrets.PROVIDER_KEY;

interface Asked {
  readonly client: TextClient;
  readonly provider: TextProvider;
  readonly isStream?: boolean;
  /** Whether the rules on answers apply. */
  readonly hasRules?: boolean;
  /** How many answers it asks for. */
  readonly answers?: 1 | 2;
}

/** How a request asks for two answers, in the dialects that have that. */
const askingForTwo: Partial<Record<TextDialectName, object>> = {
  chat: { n: 2 },
  gemini: { generationConfig: { candidateCount: 2 } },
};

async function ask({ client, provider, isStream = true, hasRules = false, answers = 1 }: Asked) {
  const model = `at-${provider}`;
  const dialect = clientForms[client];
  const body = {
    ...(dialect !== 'gemini' && { model, stream: isStream }),
    ...bodies[dialect]('hello'),
    ...(answers === 2 && askingForTwo[dialect]),
  };
  const key = hasRules ? secrets.OTHER_KEY : secrets.PROJECT_KEY;
  return postRaw({ port: gateway.port, key }, askedAt(client, model, isStream), body);
}

const textOf = async (asked: Asked) => (await ask(asked)).body.toString();

/** A host that says this in pieces, in whatever dialect or form it is asked. */
const streaming = (said: Said, cut: Cut, change?: Change) => saying(() => said, cut, change);

/** One that fails in the end. */
function failing(said: Said): Script {
  return (response, request) => {
    const { dialect } = conversationOf(request);
    const before = eventsOf(dialect, said, letters).filter((event) => !isFinished(valuesOf(event)[0]));
    return stream([[...before, failureOf[dialect]].join('')])(response, request);
  };
}

function valuesOf(came: string): readonly unknown[] {
  if (came.startsWith('{')) return [JSON.parse(came)];
  // Of an array that was cut, what came of it.
  if (came.startsWith('[')) return JSON.parse(/\]\s*$/.test(came) ? came : `${came}]`) as unknown[];
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
          // A content in a list of texts goes on from one that is a text, and that from it.
          Array.isArray(value) || /content$/.test(name === 'text' ? path : '') ? path : `${path}/${name}`,
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

const inThrees: Cut = (text) => text.match(/[\s\S]{1,3}/g) ?? [];
/** Splits a text once, within the one that is looked for. */
const atPlaceOf =
  (value: string, place: number): Cut =>
  (text) => {
    const at = text.indexOf(value);
    return at < 0 ? [text] : [text.slice(0, at + place), text.slice(at + place)].filter(Boolean);
  };

const none = 'has no streams, and no texts in its answers';
const withoutEmbeddings = {
  'client embeddings': none,
  'client gemini_embeddings': none,
  'provider embeddings': none,
  'provider gemini_embeddings': none,
};

const fields = {
  text: (said: string): Said => ({ text: `it is ${said}, so` }),
  arguments: (said: string): Said => ({ text: 'x', input: JSON.stringify({ a: `it is ${said}` }) }),
  thinking: (said: string): Said => ({ text: 'x', thinking: `it is ${said}, so` }),
} as const;

const secretTally = createTally('secrets', { without: withoutEmbeddings });

describe.each(textClients)('a stream for a client of %s', (client) => {
  test.each(textProviders)('from %s is whole, in the form that was asked for', async (provider) => {
    host.script(streaming({ text: 'hello there' }, letters));

    const came = await textOf({ client, provider });

    if (client === 'gemini_array') JSON.parse(came);
    expect(putTogether(valuesOf(came))).toContain('hello there');
  });

  test.each(textProviders)(
    'from %s has nothing of the provider’s key, wherever it is split',
    async (provider) => {
      const counts = { streams: 0, leaked: 0, unmarked: 0 };
      const places = Array.from({ length: key.length + 1 }, (_, at) => at).filter(
        (at) => at % scale(9, 1) === 0,
      );
      // In short runs each field at some of the pairs, and all where nothing is translated.
      const shift = textClients.indexOf(client) + textProviders.indexOf(provider);
      const isOwn = client === provider;
      const tried = Object.values(fields).filter((_, at) => isOwn || (at + shift) % scale(3, 1) === 0);
      for (const field of tried) {
        const said = field(key);
        for (const cut of [letters, inThrees, ...places.map((place) => atPlaceOf(key, place))]) {
          host.script(streaming(said, cut));
          const came = await textOf({ client, provider });
          counts.streams += 1;
          counts.leaked += isLeaked(came) ? 1 : 0;
          // A dialect without thinking leaves it out.
          counts.unmarked += came.includes('[secret]') || said.thinking !== undefined ? 0 : 1;
        }
        for (const change of [numbering(), listing()]) {
          host.script(streaming(said, inThrees, change));
          counts.leaked += isLeaked(await textOf({ client, provider })) ? 1 : 0;
        }
      }
      secretTally.add(client, provider, counts.streams);

      expect(counts).toEqual({ streams: tried.length * (places.length + 2), leaked: 0, unmarked: 0 });
    },
  );
});

const ruleTally = createTally('rules on answers', { without: withoutEmbeddings });

/** The rules on answers: what no answer may say, and what is left of one that says it. */
const forbidden = [
  { phrase: 'project nightfall', left: undefined },
  { phrase: 'harbour seven', left: '[REDACTED:content.place]' },
] as const;

describe.each(textClients)('rules on the answers to a client of %s', (client) => {
  test.each(textProviders)(
    'from %s: none is out, streamed or whole, wherever it is split',
    async (provider) => {
      const wrong: string[] = [];
      let cases = 0;
      const shift = textClients.indexOf(client) + textProviders.indexOf(provider);
      const sayings = forbidden.flatMap((each) =>
        Object.entries(fields).map(([name, field]) => ({ ...each, name, said: field(each.phrase) })),
      );
      const isOwn = client === provider;
      for (const { phrase, left, name, said } of sayings.filter(
        (_, at) => isOwn || (at + shift) % scale(3, 1) === 0,
      )) {
        const places = Array.from({ length: phrase.length + 1 }, (_, at) => at).filter(
          (at) => (at + shift) % scale(9, 1) === 0,
        );
        const cuts = [letters, inThrees, ...places.map((place) => atPlaceOf(phrase, place))];
        for (const form of ['whole', 'failing', 'finishing', 'with others', 'in lists', ...cuts] as const) {
          const cut = typeof form === 'string' ? letters : form;
          const change = { finishing, 'with others': withOthers, 'in lists': listing() }[String(form)];
          host.script(form === 'failing' ? failing(said) : streaming(said, cut, change));
          const answer = await ask({ client, provider, isStream: form !== 'whole', hasRules: true });
          const came = answer.body.toString();
          cases += 1;
          const isOut = putTogether(valuesOf(came)).some((text) => text.includes(phrase));
          // A dialect without thinking leaves it out, and what is held when a host fails is dropped.
          const mayLack =
            name === 'thinking' || (form === 'failing' && (left !== undefined || name === 'arguments'));
          const isSaid = left === undefined ? came.includes('content.codename') : came.includes(left);
          if (isOut || !(isSaid || mayLack)) wrong.push(`${name}, ${phrase}: ${came.slice(-300)}`);
        }
      }
      ruleTally.add(client, provider, cases);

      expect(wrong).toEqual([]);
    },
  );
});

const cutTally = createTally('cut streams', { without: withoutEmbeddings });

/** What only looks like an end, in a text and in a call's arguments. */
const ends = [
  '"finishReason":"STOP"',
  '{"type":"message_stop"}',
  'data: [DONE]\n\n',
  '"finish_reason":"stop"',
];
const whole: Cut = (text) => [text];
interface CutStream {
  readonly said: Said;
  readonly cut: Cut;
  readonly answers: 1 | 2;
}

const cutShort: readonly CutStream[] = [
  { said: { text: 'hello there' }, cut: inThrees, answers: 1 },
  { said: { text: ends.join(' '), input: JSON.stringify({ a: ends }) }, cut: whole, answers: 1 },
  { said: { text: ends.join(' ') }, cut: whole, answers: 2 },
];

/** Whether a client takes an answer for finished from this event on. */
function isFinished(event: unknown): boolean {
  if (event === undefined) return true;
  const { type, delta, choices, candidates } = event as {
    readonly type?: string;
    readonly delta?: { readonly stop_reason?: unknown };
    readonly choices?: readonly { readonly finish_reason?: unknown }[];
    readonly candidates?: readonly { readonly finishReason?: unknown }[];
  };
  const reason = choices?.[0]?.finish_reason ?? candidates?.[0]?.finishReason ?? delta?.stop_reason;
  return typeof reason === 'string' || type === 'response.completed' || type === 'message_stop';
}

/** The events of one answer, or of two that are finished one after the other. */
function eventsOfAll(dialect: TextDialectName, { said, cut, answers }: CutStream): readonly string[] {
  const events = eventsOf(dialect, said, cut);
  if (answers === 1) return events;
  const last = events.findIndex((event) => isFinished(valuesOf(event)[0]));
  const [before, finish] = [events.slice(0, last), events.slice(last, last + 1)];
  return [...before, ...before.map(ofSecond), ...finish, ...finish.map(ofSecond), ...events.slice(last + 1)];
}

/** A stream as a host sends it, how much of it a client needs, and where the last events before that end. */
function sentBy(provider: TextProvider, cutStream: CutStream) {
  const events = eventsOfAll(providerForms[provider], cutStream);
  const target = provider === 'bedrock' ? '/model/m/invoke-with-response-stream' : '';
  const { type, pieces } = streamedIn(target, events);
  const inForm = events.map((event) => streamedIn(target, [event]).pieces[0] as string | Buffer);
  const before = events.findIndex((event) => isFinished(valuesOf(event)[0])) + cutStream.answers - 1;
  const bytesOf = (sent: readonly (string | Buffer)[]) =>
    Buffer.concat(sent.map((piece) => Buffer.from(piece as string)));
  const endOf = (event: number) => bytesOf(inForm.slice(0, event + 1)).length;
  return {
    type,
    bytes: bytesOf(pieces as readonly string[]),
    needed: endOf(before) - 4,
    between: [1, 2, 3].map((back) => endOf(before - back)),
  };
}

describe.each(textClients)('a cut stream for a client of %s', (client) => {
  test.each(textProviders)('from %s is never taken for a whole one', async (provider) => {
    const wrong: string[] = [];
    let cases = 0;
    const shift = 7 * textClients.indexOf(client) + textProviders.indexOf(provider);
    // Several answers are not translated.
    const mayHaveTwo = providerForms[provider] === clientForms[client] && clientForms[client] in askingForTwo;
    for (const cutStream of cutShort.filter(({ answers }) => answers === 1 || mayHaveTwo)) {
      const { answers } = cutStream;
      const { type, bytes, needed, between } = sentBy(provider, cutStream);
      const step = scale(Math.ceil(bytes.length / 12), 23);
      // In short runs few of them, but always those between the last events: what looks like an end has come by then.
      const lengths = [needed - 1, ...between.filter((end) => end > 0)];
      for (let length = 1 + (shift % step); length < needed; length += step) lengths.push(length);
      for (const length of lengths) {
        host.script((response) => {
          response.writeHead(200, { 'content-type': type }).end(bytes.subarray(0, length));
        });
        const { isWhole, body, status } = await ask({ client, provider, answers });
        const came = body.toString();
        cases += 1;
        if (status === 200 && (isWhole || (answers === 1 && valuesOf(came).some(isFinished))))
          wrong.push(`${length} of ${bytes.length}: ${came.slice(-200)}`);
      }
    }
    cutTally.add(client, provider, cases);

    expect(wrong).toEqual([]);
  });
});

test('every form has had cases', () => {
  expect([secretTally, ruleTally, cutTally].flatMap((tally) => tally.wrong())).toEqual([]);
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
const spread: Readonly<
  Record<TextDialectName, (pieces: readonly string[]) => { stream: object[]; whole: object }>
> = {
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
        const answered = await textOf({ client: name, provider: name, isStream: false });
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

/** Pieces that are by turns a thought and a text, in each dialect. */
const byTurns: Readonly<Record<TextDialectName, (pieces: readonly string[]) => readonly object[]>> = {
  messages: (pieces) =>
    pieces.flatMap((piece, at) => {
      const [type, delta] = at % 2 === 0 ? ['thinking', 'thinking_delta'] : ['text', 'text_delta'];
      return [
        blockStart(at, { type, [type]: '' }),
        blockDelta(at, { type: delta, [type]: piece }),
        blockStop(at),
      ];
    }),
  chat: (pieces) =>
    pieces.map((piece, at) => chatChunk(at % 2 === 0 ? { reasoning_content: piece } : { content: piece })),
  responses: (pieces) =>
    pieces.map((delta, output_index) => ({
      type: `response.${output_index % 2 === 0 ? 'reasoning_summary_text' : 'output_text'}.delta`,
      output_index,
      delta,
    })),
  gemini: (pieces) => [
    {
      candidates: [
        { content: { parts: pieces.map((text, at) => (at % 2 === 0 ? { text, thought: true } : { text })) } },
      ],
    },
  ],
};
const lastOf: Readonly<Record<TextDialectName, object>> = {
  messages: { type: 'message_stop' },
  chat: chatChunk({}, 'stop'),
  responses: { type: 'response.completed', response: { output: [] } },
  gemini: { candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] },
};
const chatInLists = (pieces: readonly string[]) =>
  pieces.map((text, at) => {
    const part = { type: 'text', text };
    return chatChunk({ content: [at % 2 === 0 ? { type: 'thinking', thinking: [part] } : part] });
  });

test.each([...textDialects.map((name) => [name, byTurns[name]] as const), ['chat', chatInLists] as const])(
  'a key that comes by turns in thoughts and texts of a stream of %s stays here',
  (name, events) => {
    const stream = exactStream(name, [key]);

    const came = [...events(inThrees(`is ${key}, so`)), lastOf[name]]
      .map((event) => stream.transform(Buffer.from(`data: ${JSON.stringify(event)}\n\n`)))
      .join('');

    const texts = came.match(/(?<="(?:text|thinking|delta|content|reasoning_content)":")[^"]*/g)?.join('');
    expect(texts).toContain('is [secret], so');
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
