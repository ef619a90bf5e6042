import type { ServerResponse } from 'node:http';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { json } from '../../kit/answers.ts';
import { type ScriptedHost, startHost } from '../../kit/host.ts';
import { answerOf, askedOf, eventsOf } from '../masking/saying.ts';

/** The usage that a host reports; by default the true one. */
const usages = [
  'none',
  'empty',
  'texts',
  'negative',
  'huge',
  'zeros',
  'input only',
  'output only',
  'null',
] as const;
/** How an answer ends; by default as it should. */
const ends = ['cut', 'without last event', 'half an event', 'error event', 'silence after the head'] as const;
/** What a host sends in place of an answer; the work is done all the same. */
const substitutes = [
  'page',
  'half a JSON',
  'nothing',
  'reset',
  'silence',
  'bad gzip',
  'empty 204',
  'too long',
] as const;

/** What a host does with a request, apart from writing an answer of its own length. */
export interface Lie {
  readonly name: string;
  readonly usage?: (typeof usages)[number];
  /** Where it reports that; by default at the end. */
  readonly at?: 'first' | 'twice';
  readonly end?: (typeof ends)[number];
  readonly instead?: (typeof substitutes)[number];
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
  ...usages.map((usage) => ({ name: `a usage of ${usage}`, usage })),
  { name: 'a usage before the text only', at: 'first' },
  { name: 'a usage before the text, then zeros', at: 'twice', usage: 'zeros' },
  ...ends.map((end) => ({ name: `no usage, ${end}`, end, usage: 'none' as const })),
  ...substitutes.map((instead) => ({ name: `${instead} in place of an answer`, instead })),
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

export interface LyingHost extends ScriptedHost {
  /** Tokens that the host has worked for: what a provider would bill. */
  readonly billed: () => { readonly input: number; readonly output: number };
}

/** English prose has more bytes per token, code about as many. */
const token = 'abcd';
const tokensIn = (text: string) => text.split(token).length - 1;

/** A provider that keeps its own count of what it worked for, whatever it says. */
export async function startLyingHost(): Promise<LyingHost> {
  const billed = { input: 0, output: 0 };
  const host = await startHost(async (response, request): Promise<unknown> => {
    const text = request.body.toString();
    const { dialect, model, isStream } = askedOf(request);
    const order = JSON.parse(decodeURIComponent(/order:([^"\s\\]+)/.exec(text)?.[1] ?? '')) as Order;
    const lie = lies[order.lie] ?? lies[0];
    if (lie === undefined) throw new Error('no lie');
    const bill = (output: number) => {
      billed.output += output;
    };
    if (model === 'broken') return response.writeHead(503).end('{}');
    if (lie.status !== undefined)
      return json('{"error":{"message":"no","type":"x"}}', lie.status)(response, request);
    const input = Math.ceil(text.length / 3);
    const hidden = lie.hidesReasoning === true ? order.cap - order.tokens : 0;
    billed.input += input;
    bill(hidden);
    const said = { text: token.repeat(order.tokens) };
    const usage = usageOf(dialect, lie.usage, { input, output: order.tokens + hidden });
    if (lie.instead !== undefined || !isStream) {
      bill(order.tokens);
      if (lie.instead !== undefined) return sendInstead(response, lie.instead);
      const whole = told(answerOf(dialect, said), lie, usage);
      if (lie.end === undefined || lie.end === 'error event') return json(whole)(response, request);
      response.writeHead(200, { 'content-type': 'application/json' });
      if (lie.end === 'silence after the head') return response.flushHeaders();
      return response.write(whole.slice(0, -9), () => response.destroy());
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const pieces = new RegExp(`(?:${token}){1,${order.perEvent}}`, 'g');
    const events = eventsOf(dialect, said, (all) => all.match(pieces) ?? []);
    const early = lie.at === undefined ? undefined : usageOf(dialect, undefined, { input, output: 1 });
    const withUsage = events.findLastIndex((event) => usageMember.test(event));
    const sent = events.map((event, at) => {
      if (at === 0) return told(event, lie, early);
      return told(event, lie, at === withUsage && lie.at !== 'first' ? usage : undefined);
    });
    if (lie.end === 'silence after the head') {
      bill(order.tokens);
      return response.write(sent[0]);
    }
    // What comes behind the last piece may repeat the text.
    const last = events.findLastIndex((event) => /"(?:delta|parts)"/.test(event) && tokensIn(event) > 0);
    for (const [at, event] of sent.slice(0, last + 1).entries()) {
      if (response.destroyed) return undefined;
      bill(tokensIn(event));
      if (at === last && lie.end === 'half an event')
        return response.write(event.slice(0, -6), () => response.destroy());
      if (!lie.inOnePiece)
        await new Promise<void>((resolve) => response.write(event, () => setImmediate(resolve)));
    }
    if (lie.inOnePiece) response.write(sent.slice(0, last + 1).join(''));
    if (lie.end === 'cut') return response.destroy();
    if (lie.end === 'without last event') return response.end();
    if (lie.end === 'error event') return response.end(failed[dialect]);
    return response.end(sent.slice(last + 1).join(''));
  });
  return { ...host, billed: () => ({ ...billed }) };
}

const usageMember = /"(usage|usageMetadata)":\{[^}]*\}/;

/** An answer or an event as the lie has it: with another usage, and its text elsewhere. */
function told(written: string, { member }: Lie, usage: object | null | undefined): string {
  const reported = JSON.stringify(usage);
  const withUsage = usageMember.test(written)
    ? written.replace(usageMember, reported === undefined ? '"nothing":0' : `"$1":${reported}`)
    : written.replace('"choices"', reported === undefined ? '$&' : `"usage":${reported},$&`);
  if (member === 'message') return withUsage.replace('"delta":{"content"', '"message":{"content"');
  if (member === undefined) return withUsage;
  return withUsage.replace(new RegExp(`"(?:text|content)":"${token}`), `"${member}":"${token}`);
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

const usageNames = {
  messages: { input: 'input_tokens', output: 'output_tokens' },
  chat: { input: 'prompt_tokens', output: 'completion_tokens' },
  responses: { input: 'input_tokens', output: 'output_tokens' },
  gemini: { input: 'promptTokenCount', output: 'candidatesTokenCount' },
} satisfies Record<TextDialectName, object>;

function usageOf(
  dialect: TextDialectName,
  usage: Lie['usage'],
  { input, output }: { readonly input: number; readonly output: number },
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

const event = (data: object) => `event: error\ndata: ${JSON.stringify(data)}\n\n`;
const error = { error: { message: 'no', type: 'server_error' } };
const failed: Readonly<Record<TextDialectName, string>> = {
  messages: event({ type: 'error', ...error }),
  chat: `data: ${JSON.stringify(error)}\n\n`,
  responses: event({ type: 'error', message: 'no', code: 'x' }),
  gemini: `${JSON.stringify({ error: { code: 503, message: 'no', status: 'UNAVAILABLE' } })}\n\n`,
};
