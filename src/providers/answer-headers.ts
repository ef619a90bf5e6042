import type { IncomingHttpHeaders } from 'node:http';
import { memoize } from '../lib/memoize.ts';

const passedNames = new Set([
  'content-type',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'request-id',
  // Codex counts tokens by it.
  'x-reasoning-included',
]);
const passedPrefixes = ['anthropic-', 'openai-', 'x-ratelimit-', 'x-codex-'];
/** What providers call the id of a request; also AWS and Azure. */
const requestIds = new Set(['x-request-id', 'x-amzn-requestid', 'apim-request-id']);
const rateLimitPrefixes = ['x-ratelimit-', 'anthropic-ratelimit-'];
// Headers that the gateway itself uses.
const readNames = new Set([...passedNames, 'content-length', 'content-encoding', 'date']);

interface HeaderUse {
  /** The name under which the client gets it; undefined if it is not passed on. */
  readonly passedAs: string | undefined;
  readonly isRead: boolean;
  /** Whether it describes the provider's limits on the gateway. */
  readonly isRateLimit: boolean;
}

const useOf = memoize((name): HeaderUse => {
  const isPassed = passedNames.has(name) || passedPrefixes.some((prefix) => name.startsWith(prefix));
  return {
    passedAs: requestIds.has(name) ? 'x-provider-request-id' : isPassed ? name : undefined,
    isRead: readNames.has(name),
    isRateLimit: rateLimitPrefixes.some((prefix) => name.startsWith(prefix)),
  };
});

/** What removes secrets from headers; names are in lower case, even where a secret has capitals. */
interface HeaderScrubber {
  text(value: string): string;
  inName(name: string): string | undefined;
}

/** Headers of a provider's answer: those that the client gets or the gateway uses, the first of each name. */
export class AnswerHeaders {
  /** By their names in lower case. */
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string> = new Map()) {
    this.#values = values;
  }

  /** Names are in lower case; values are Latin-1 (one character per byte). */
  static from(headers: IncomingHttpHeaders): AnswerHeaders {
    const values = new Map<string, string>();
    for (const name in headers) {
      const { passedAs, isRead } = useOf(name);
      if (passedAs === undefined && !isRead) continue;
      const value = headers[name] ?? '';
      values.set(name, withoutBlanksBehind(typeof value === 'string' ? value : (value[0] ?? '')));
    }
    return new AnswerHeaders(values);
  }

  /** The same with another value of a header that clients get. */
  with(name: string, value: string): AnswerHeaders {
    return new AnswerHeaders(new Map([...this.#values, [name, value]]));
  }

  /** The value of a header that the gateway uses, by its lower-case name. */
  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Whether the provider says how much of its limits is left. */
  get hasRateLimits(): boolean {
    return [...this.#values.keys()].some((name) => useOf(name).isRateLimit);
  }

  /** Adds names and values of the headers for the client to a flat list; a header with a secret in its name is left out. */
  passOn(
    headers: string[],
    scrubber: HeaderScrubber,
    { rateLimits }: { readonly rateLimits: boolean } = { rateLimits: true },
  ): void {
    for (const [name, value] of this.#values) {
      const { passedAs, isRateLimit } = useOf(name);
      if (passedAs === undefined || (isRateLimit && !rateLimits)) continue;
      if (scrubber.inName(passedAs) === undefined) headers.push(passedAs, scrubber.text(value));
    }
  }
}

/** Trims trailing blanks, which undici keeps. Not trim(): a no-break space is part of the value (RFC 9110, section 5.5). */
function withoutBlanksBehind(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === ' ' || value[end - 1] === '\t')) end -= 1;
  return end === value.length ? value : value.slice(0, end);
}
