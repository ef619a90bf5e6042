import type { ServerResponse } from 'node:http';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { json } from '../../kit/answers.ts';
import { type ScriptedHost, startHost } from '../../kit/host.ts';
import { answerOf, conversationOf, eventsOf, failureOf } from '../masking/saying.ts';

type Counts = readonly [input: unknown, output: unknown];

/** The usage that a host reports; by default the true one. */
const usages = {
  none: () => undefined,
  null: () => null,
  empty: () => [undefined, undefined],
  texts: (input, output) => [String(input), String(output)],
  negative: (input, output) => [-input, -output],
  huge: () => [1e300, 1e300],
  zeros: () => [0, 0],
  'input only': (input) => [input, undefined],
  'output only': (_input, output) => [undefined, output],
} satisfies Record<string, (input: number, output: number) => Counts | null | undefined>;

/** How an answer ends; by default as it should. */
const ends = ['cut', 'without last event', 'half an event', 'error event', 'silence after the head'] as const;

const isJson = { 'content-type': 'application/json' };
/** What a host sends in place of an answer; the work is done all the same. */
const substitutes = {
  page: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>no</p>'),
  'half a JSON': (response) => response.writeHead(200, isJson).end('{"choices":['),
  nothing: (response) => response.writeHead(200, isJson).end(),
  reset: (response) => response.destroy(),
  silence: () => undefined,
  'bad gzip': (response) => response.writeHead(200, { ...isJson, 'content-encoding': 'gzip' }).end('{}'),
  'empty 204': (response) => response.writeHead(204).end(),
  // More than 32 MiB of what is no text of a model.
  'too long': (response) => response.writeHead(200, isJson).end(Buffer.alloc(33 * 1024 * 1024, ' ')),
} satisfies Record<string, (response: ServerResponse) => unknown>;

type Usage = keyof typeof usages;
type Substitute = keyof typeof substitutes;

/** What a host does with a request, apart from writing an answer of its own length. */
export interface Lie {
  readonly name: string;
  readonly usage?: Usage;
  /** Where it reports that; by default at the end. */
  readonly at?: 'first' | 'twice';
  readonly end?: (typeof ends)[number];
  readonly instead?: Substitute;
  /** A status with which it refuses, and charges nothing. */
  readonly status?: number;
  /** Tokens that no text shows. */
  readonly hidesReasoning?: true;
  /** Whether all events leave in one piece. */
  readonly inOnePiece?: true;
  /** Whether texts are where nobody expects them. */
  readonly member?: 'message' | 'unheard_of';
}

const namesOf = <Names extends object>(all: Names) => Object.keys(all) as (keyof Names & string)[];

export const lies: readonly Lie[] = [
  { name: 'the truth' },
  ...namesOf(usages).map((usage) => ({ name: `a usage of ${usage}`, usage })),
  { name: 'a usage before the text only', at: 'first' },
  { name: 'a usage before the text, then zeros', at: 'twice', usage: 'zeros' },
  ...ends.map((end) => ({ name: `no usage, ${end}`, end, usage: 'none' as const })),
  ...namesOf(substitutes).map((instead) => ({ name: `${instead} in place of an answer`, instead })),
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
    const { dialect, model, isStream } = conversationOf(request);
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
    const usage = usageOf(dialect, lie.usage, [input, order.tokens + hidden]);
    if (lie.instead !== undefined || !isStream) {
      bill(order.tokens);
      if (lie.instead !== undefined) return substitutes[lie.instead](response);
      const whole = told(answerOf(dialect, said), lie, usage);
      if (lie.end === undefined || lie.end === 'error event') return json(whole)(response, request);
      response.writeHead(200, { 'content-type': 'application/json' });
      if (lie.end === 'silence after the head') return response.flushHeaders();
      return response.write(whole.slice(0, -9), () => response.destroy());
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const pieces = new RegExp(`(?:${token}){1,${order.perEvent}}`, 'g');
    const events = eventsOf(dialect, said, (all) => all.match(pieces) ?? []);
    const early = lie.at === undefined ? undefined : usageOf(dialect, undefined, [input, 1]);
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
    if (lie.end === 'error event') return response.end(failureOf[dialect]);
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

const usageNames = {
  messages: ['input_tokens', 'output_tokens'],
  chat: ['prompt_tokens', 'completion_tokens'],
  responses: ['input_tokens', 'output_tokens'],
  gemini: ['promptTokenCount', 'candidatesTokenCount'],
} as const satisfies Record<TextDialectName, readonly [string, string]>;

function usageOf(dialect: TextDialectName, usage: Usage | undefined, counts: readonly [number, number]) {
  const told: Counts | null | undefined = usage === undefined ? counts : usages[usage](...counts);
  const [input, output] = usageNames[dialect];
  return told && { [input]: told[0], [output]: told[1] };
}
