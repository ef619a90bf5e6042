import type { ProviderConfig } from '../config/build/providers.ts';
import { isAboutScope, retryDelayS } from '../dialects/failure.ts';
import { parseJson } from '../dialects/fields.ts';
import { GatewayError } from '../errors.ts';
import { backoffMs } from '../lib/backoff.ts';
import { Lifetime } from '../lib/lifetime.ts';
import type { AnswerHeaders } from './headers.ts';
import { decodedAnswer, errorLimitBytes, readWhole } from './read-whole.ts';
import type { ProviderAnswer } from './transport/pool.ts';

const capS = 60;
/** How long the body of a refusal may take. */
const refusalMs = 5_000;
const wait = { firstMs: 500, maxMs: Number.POSITIVE_INFINITY };
// Retries that are allowed before any request has earned them.
const initialRetries = 10;

/** The attempts in total, and the most retries as a share of the requests. */
type RetryOptions = ProviderConfig['retries'];

/** How many retries a provider may still get, so that the gateway doesn't make an outage worse. */
export class RetryBudget {
  readonly #options: RetryOptions;
  #saved: number;

  constructor(options: RetryOptions) {
    this.#options = options;
    this.#saved = initialRetries;
  }

  noteRequest(): void {
    this.#saved = Math.min(initialRetries, this.#saved + this.#options.budget);
  }

  /** Takes one retry after this many attempts, if one is left. */
  take(attemptsMade: number): boolean {
    if (attemptsMade >= this.#options.attempts || this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }
}

/**
 * Milliseconds to wait before the retry, or undefined if the provider asks for a longer wait than is allowed. `random` is
 * a number from 0 to 1, for the jitter.
 */
export function retryWaitMs(
  headers: Pick<AnswerHeaders, 'get'> | undefined,
  attemptsMade: number,
  random: number,
  nowMs: number,
): number | undefined {
  const requestedMs = headers === undefined ? undefined : requestedWaitMs(headers, nowMs);
  if (requestedMs !== undefined)
    return requestedMs > capS * 1_000 ? undefined : requestedMs * (1 + random / 10);
  return backoffMs(attemptsMade, wait, 1 - random);
}

/** What a provider asks to wait: by Azure's and OpenAI's own header, which is exact, else by HTTP's. */
export function requestedWaitMs(headers: Pick<AnswerHeaders, 'get'>, nowMs: number): number | undefined {
  const exact = /^\d{1,9}(?:\.\d+)?$/.exec(headers.get('retry-after-ms')?.trim() ?? '')?.[0];
  if (exact !== undefined) return Number(exact);
  const value = headers.get('retry-after');
  return value === undefined ? undefined : retryAfterMs(value, nowMs);
}

/** Retry-After in milliseconds: seconds or an HTTP date (RFC 9110, section 10.2.3). */
export function retryAfterMs(value: string, nowMs: number): number | undefined {
  const text = value.trim();
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Math.max(0, Number(text) * 1_000);
  // Date.parse accepts nearly anything; HTTP dates contain the month's name.
  if (!/\b[A-Z][a-z]{2}\b/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/**
 * A refusal for load whose headers say how long to wait, if it says it at all: Google's say it in the body alone, which is
 * read for that and kept. Rejects with the lifetime's reason.
 */
export async function withRetryAfter(answer: ProviderAnswer, lifetime: Lifetime): Promise<ProviderAnswer> {
  if (requestedWaitMs(answer.headers, Date.now()) !== undefined) return answer;
  const { said, kept } = await readAhead(answer, lifetime);
  const delayS = retryDelayS(said);
  return delayS === undefined ? kept : { ...kept, headers: kept.headers.with('retry-after', String(delayS)) };
}

/**
 * A 401 to the gateway's own key, as 403 if its body says that the key is accepted, and may not do what was asked for: that
 * is about the request. The body is kept. Rejects with the lifetime's reason.
 */
export async function withMeantStatus(answer: ProviderAnswer, lifetime: Lifetime): Promise<ProviderAnswer> {
  const { said, kept } = await readAhead(answer, lifetime);
  return isAboutScope(said) ? { ...kept, status: 403 } : kept;
}

/** What a refusal says, and the refusal with its body still to come. Rejects with the lifetime's reason. */
async function readAhead(
  answer: ProviderAnswer,
  lifetime: Lifetime,
): Promise<{ readonly said: unknown; readonly kept: ProviderAnswer }> {
  const body = await readRefusal(answer, lifetime);
  if (lifetime.reason !== undefined) throw lifetime.reason;
  const text = body.toString();
  const { status, headers } = answer;
  const kept: ProviderAnswer = {
    status,
    headers: headers.with('content-encoding', 'identity').with('content-length', String(body.length)),
    isBehind: false,
    pipe: (sink) => {
      sink.data(body);
      sink.end();
    },
    resume: () => undefined,
    flush: () => undefined,
    abort: () => answer.abort(),
  };
  return { said: parseJson(text) ?? text, kept };
}

/** The body, or in its place why there is none: the status is known, and must neither be lost nor hold the next try. */
async function readRefusal(answer: ProviderAnswer, lifetime: Lifetime): Promise<Buffer> {
  const reading = new Lifetime();
  const late = new GatewayError('provider.timeout', 'the provider did not finish its answer');
  const forget = lifetime.onEnd(() => reading.end(lifetime.reason ?? late));
  const timer = setTimeout(() => reading.end(late), refusalMs);
  try {
    return await readWhole(decodedAnswer(answer), errorLimitBytes, reading);
  } catch (error) {
    return Buffer.from((error as GatewayError).message); // nothing else is thrown
  } finally {
    clearTimeout(timer);
    forget();
  }
}
