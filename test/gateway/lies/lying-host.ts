import { createServer, type ServerResponse } from 'node:http';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { type Listening, listening } from '../../kit/listening.ts';

/** What a host does with a request, apart from writing an answer of its own length. */
export interface Lie {
  readonly name: string;
  /** The usage that it reports; by default the true one. */
  readonly usage?:
    | 'none'
    | 'empty'
    | 'texts'
    | 'negative'
    | 'huge'
    | 'zeros'
    | 'input only'
    | 'output only'
    | 'null';
  /** Where it reports that; by default at the end. */
  readonly at?: 'first' | 'twice';
  /** How it ends; by default as it should. */
  readonly end?: 'cut' | 'without last event' | 'half an event' | 'error event' | 'silence after the head';
  /** What it sends in place of an answer; the work is done all the same. */
  readonly instead?:
    | 'page'
    | 'half a JSON'
    | 'nothing'
    | 'reset'
    | 'silence'
    | 'bad gzip'
    | 'empty 204'
    | 'too long';
  /** A status with which it refuses, and charges nothing. */
  readonly status?: number;
  /** Tokens that no text shows. */
  readonly hidesReasoning?: true;
  /** Whether all events leave in one piece. */
  readonly inOnePiece?: true;
  /** Whether texts are where nobody expects them. */
  readonly member?: 'message' | 'unheard_of';
}

export const lies: readonly Lie[] = [
  { name: 'the truth' },
  ...(
    ['none', 'empty', 'texts', 'negative', 'huge', 'zeros', 'input only', 'output only', 'null'] as const
  ).map((usage) => ({ name: `a usage of ${usage}`, usage })),
  { name: 'a usage before the text only', at: 'first' },
  { name: 'a usage before the text, then zeros', at: 'twice', usage: 'zeros' },
  ...(['cut', 'without last event', 'half an event', 'error event', 'silence after the head'] as const).map(
    (end) => ({ name: `no usage, ${end}`, end, usage: 'none' as const }),
  ),
  ...(
    ['page', 'half a JSON', 'nothing', 'reset', 'silence', 'bad gzip', 'empty 204', 'too long'] as const
  ).map((instead) => ({
    name: `${instead} in place of an answer`,
    instead,
  })),
  ...[302, 400, 429, 500, 503].map((status) => ({ name: `status ${status}`, status })),
  { name: 'hidden reasoning, no usage', hidesReasoning: true, usage: 'none' },
  { name: 'hidden reasoning, cut', hidesReasoning: true, usage: 'none', end: 'cut' },
  { name: 'hidden reasoning, zeros', hidesReasoning: true, usage: 'zeros' },
  { name: 'everything in one piece, no usage', inOnePiece: true, usage: 'none' },
  { name: 'a message in place of a delta', member: 'message', usage: 'none' },
  { name: 'text in a member of its own', member: 'unheard_of', usage: 'none' },
];

/** One request as the host is asked to answer it: in the request's own text, so that retries and fallbacks agree. */
export interface Order {
  readonly lie: number;
  /** Tokens of text, and those of each event. */
  readonly tokens: number;
  readonly perEvent: number;
  readonly cap: number;
}

export interface LyingHost extends Listening {
  /** Tokens that the host has worked for: what a provider would bill. */
  readonly billed: () => { readonly input: number; readonly output: number };
}

/** English prose has more bytes per token, code about as many. */
const tokenText = 'abcd';

/** A provider that keeps its own count of what it worked for, whatever it says. */
export async function startLyingHost(): Promise<LyingHost> {
  const billed = { input: 0, output: 0 };
  const server = createServer(async (request, response): Promise<unknown> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { dialect, model, isStream } = askedOf(request.url ?? '', body);
    const order = JSON.parse(decodeURIComponent(/order:([^"\s\\]+)/.exec(body)?.[1] ?? '')) as Order;
    const lie = lies[order.lie] ?? lies[0];
    if (lie === undefined) throw new Error('no lie');
    const bill = (output: number) => {
      billed.output += output;
    };
    if (model === 'broken') return response.writeHead(503).end('{}');
    if (lie.status !== undefined)
      return response
        .writeHead(lie.status, { 'content-type': 'application/json' })
        .end('{"error":{"message":"no","type":"x"}}');
    billed.input += Math.ceil(body.length / 3);
    const hidden = lie.hidesReasoning === true ? order.cap - order.tokens : 0;
    bill(hidden);
    if (lie.instead !== undefined) {
      bill(order.tokens);
      return sendInstead(response, lie.instead);
    }
    const said = { input: Math.ceil(body.length / 3), output: order.tokens + hidden };
    const writer = writers[dialect];
    if (!isStream) {
      bill(order.tokens);
      response.writeHead(200, { 'content-type': 'application/json' });
      const whole = JSON.stringify(
        writer.whole(tokenText.repeat(order.tokens), usageOf(dialect, lie, said), lie.member),
      );
      if (lie.end === undefined || lie.end === 'error event') return response.end(whole);
      if (lie.end === 'silence after the head') return response.flushHeaders();
      return response.write(whole.slice(0, -9), () => response.destroy());
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const early = lie.at === undefined ? undefined : usageOf(dialect, { name: '' }, { ...said, output: 1 });
    response.write(writer.start(early));
    if (lie.end === 'silence after the head') return bill(order.tokens);
    let pieces = '';
    for (let left = order.tokens; left > 0 && !response.destroyed; left -= order.perEvent) {
      const tokens = Math.min(left, order.perEvent);
      const event = writer.piece(tokenText.repeat(tokens), lie.member);
      bill(tokens);
      if (lie.inOnePiece) pieces += event;
      else if (lie.end === 'half an event' && left <= order.perEvent)
        return response.write(event.slice(0, -6), () => response.destroy());
      else await new Promise<void>((resolve) => response.write(event, () => setImmediate(resolve)));
    }
    if (pieces !== '') response.write(pieces);
    if (lie.end === 'cut') return response.destroy();
    if (lie.end === 'without last event') return response.end();
    if (lie.end === 'error event') return response.end(writer.failed);
    return response.end(writer.end(lie.at === 'first' ? undefined : usageOf(dialect, lie, said)));
  });
  return { ...(await listening(server)), billed: () => ({ ...billed }) };
}

interface Asked {
  readonly dialect: TextDialectName;
  readonly model: string;
  readonly isStream: boolean;
}

function askedOf(path: string, body: string): Asked {
  const [, name, method] = /models\/([^:]+):(\w+)/.exec(path) ?? [];
  if (name !== undefined)
    return { dialect: 'gemini', model: name, isStream: method === 'streamGenerateContent' };
  const { model, stream } = JSON.parse(body) as { readonly stream?: boolean; readonly model: string };
  const isStream = stream === true;
  if (path.endsWith('/messages')) return { dialect: 'messages', model, isStream };
  return { dialect: path.endsWith('/responses') ? 'responses' : 'chat', model, isStream };
}

function sendInstead(response: ServerResponse, what: NonNullable<Lie['instead']>): unknown {
  const json = { 'content-type': 'application/json' };
  switch (what) {
    case 'page':
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<p>no</p>');
    case 'half a JSON':
      return response.writeHead(200, json).end('{"choices":[');
    case 'nothing':
      return response.writeHead(200, json).end();
    case 'bad gzip':
      return response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('{}');
    case 'empty 204':
      return response.writeHead(204).end();
    case 'too long':
      // More than 32 MiB of what is no text of a model.
      return response.writeHead(200, json).end(Buffer.alloc(33 * 1024 * 1024, ' '));
    case 'reset':
      return response.destroy();
    case 'silence':
      return undefined;
  }
}

interface Said {
  readonly input: number;
  readonly output: number;
}

const usageNames = {
  messages: { input: 'input_tokens', output: 'output_tokens' },
  chat: { input: 'prompt_tokens', output: 'completion_tokens' },
  responses: { input: 'input_tokens', output: 'output_tokens' },
  gemini: { input: 'promptTokenCount', output: 'candidatesTokenCount' },
} satisfies Record<TextDialectName, object>;

function usageOf(
  dialect: TextDialectName,
  { usage }: Lie,
  { input, output }: Said,
): object | null | undefined {
  const name = usageNames[dialect];
  switch (usage) {
    case 'none':
      return undefined;
    case 'null':
      return null;
    case 'empty':
      return {};
    case 'texts':
      return { [name.input]: String(input), [name.output]: String(output) };
    case 'negative':
      return { [name.input]: -input, [name.output]: -output };
    case 'huge':
      return { [name.input]: 1e300, [name.output]: 1e300 };
    case 'zeros':
      return { [name.input]: 0, [name.output]: 0 };
    case 'input only':
      return { [name.input]: input };
    case 'output only':
      return { [name.output]: output };
    default:
      return { [name.input]: input, [name.output]: output };
  }
}

interface Writer {
  whole(text: string, usage: unknown, member: Lie['member']): object;
  start(usage: unknown): string;
  piece(text: string, member: Lie['member']): string;
  end(usage: unknown): string;
  readonly failed: string;
}

const event = (data: object) =>
  `${'type' in data ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
const error = { error: { message: 'no', type: 'server_error' } };

const spoken = (text: string, member: Lie['member']) => ({
  [member === 'unheard_of' ? member : 'text']: text,
});
const generated = (
  { parts, ...more }: { readonly parts: readonly object[]; readonly finishReason?: string },
  usage?: unknown,
) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata: usage,
});

const writers: Readonly<Record<TextDialectName, Writer>> = {
  chat: {
    whole: (text, usage, member) => ({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', [member === 'unheard_of' ? member : 'content']: text },
          finish_reason: 'stop',
        },
      ],
      usage,
    }),
    start: (usage) => event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }], usage }),
    piece: (text, member) =>
      event({
        choices: [
          {
            index: 0,
            [member === 'message' ? 'message' : 'delta']: {
              [member === 'unheard_of' ? member : 'content']: text,
            },
          },
        ],
      }),
    end: (usage) =>
      `${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${usage === undefined ? '' : event({ choices: [], usage })}data: [DONE]\n\n`,
    failed: event(error),
  },
  messages: {
    whole: (text, usage) => ({
      ...{
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        stop_reason: 'end_turn',
        stop_sequence: null,
      },
      content: [{ type: 'text', text }],
      usage,
    }),
    start: (usage) =>
      event({
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', content: [], usage },
      }) + event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    piece: (text, member) =>
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', [member === 'unheard_of' ? member : 'text']: text },
      }),
    end: (usage) =>
      event({ type: 'content_block_stop', index: 0 }) +
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }) +
      event({ type: 'message_stop' }),
    failed: event({ type: 'error', ...error }),
  },
  responses: {
    whole: (text, usage) => ({
      ...{ id: 'r', object: 'response', status: 'completed', model: 'm' },
      output: [
        {
          type: 'message',
          id: 'i',
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ],
      usage,
    }),
    start: (usage) =>
      event({ type: 'response.created', response: { id: 'r', status: 'in_progress', output: [], usage } }),
    piece: (text) =>
      event({
        type: 'response.output_text.delta',
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        delta: text,
      }),
    end: (usage) =>
      event({ type: 'response.completed', response: { id: 'r', status: 'completed', output: [], usage } }),
    failed: event({ type: 'error', message: 'no', code: 'x' }),
  },
  gemini: {
    whole: (text, usage, member) => generated({ parts: [spoken(text, member)], finishReason: 'STOP' }, usage),
    start: (usage) => event(generated({ parts: [] }, usage)),
    piece: (text, member) => event(generated({ parts: [spoken(text, member)] })),
    end: (usage) => event(generated({ parts: [], finishReason: 'STOP' }, usage)),
    failed: `${JSON.stringify({ error: { code: 503, message: 'no', status: 'UNAVAILABLE' } })}\n\n`,
  },
};
