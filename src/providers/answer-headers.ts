import type { IncomingHttpHeaders } from 'node:http';
import { memoize } from '../memoize.ts';

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

/** A header by its name. */
interface AnswerField {
  /** In lower case. */
  readonly name: string;
  /** The name under which the client gets it; undefined if it is not passed on. */
  readonly passedAs: string | undefined;
  readonly isOfUse: boolean;
  /** Whether it describes the provider's limits on the gateway. */
  readonly isRateLimit: boolean;
}

const answerField = memoize((name): AnswerField => {
  const isPassed = passedNames.has(name) || passedPrefixes.some((prefix) => name.startsWith(prefix));
  const passedAs = requestIds.has(name) ? 'x-provider-request-id' : isPassed ? name : undefined;
  return {
    name,
    passedAs,
    isOfUse: passedAs !== undefined || readNames.has(name),
    isRateLimit: rateLimitPrefixes.some((prefix) => name.startsWith(prefix)),
  };
});

/** Headers of a provider's answer: those that the client gets or the gateway uses, the first of each name. */
export class AnswerHeaders {
  readonly #fields: AnswerField[] = [];
  readonly #values: string[] = [];

  /** Names are in lower case; values are Latin-1 (one character per byte). */
  static from(headers: IncomingHttpHeaders): AnswerHeaders {
    const kept = new AnswerHeaders();
    for (const name in headers) {
      const field = answerField(name);
      if (!field.isOfUse) continue;
      const value = headers[name] ?? '';
      kept.#fields.push(field);
      kept.#values.push(withoutBlanksBehind(typeof value === 'string' ? value : (value[0] ?? '')));
    }
    return kept;
  }

  /** The same with another value of a header that clients get. */
  with(name: string, value: string): AnswerHeaders {
    const changed = new AnswerHeaders();
    changed.#fields.push(answerField(name));
    changed.#values.push(value);
    for (const [i, field] of this.#fields.entries()) {
      if (field.name === name) continue;
      changed.#fields.push(field);
      changed.#values.push(this.#values[i] as string);
    }
    return changed;
  }

  /** The value of a header that the gateway uses, by its lower-case name. */
  get(name: string): string | undefined {
    for (let i = 0; i < this.#fields.length; i += 1)
      if (this.#fields[i]?.name === name) return this.#values[i];
    return undefined;
  }

  /** Whether the provider says how much of its limits is left. */
  get hasRateLimits(): boolean {
    return this.#fields.some(({ isRateLimit }) => isRateLimit);
  }

  /**
   * Adds names and values of the headers for the client to a flat list, cleaned by `clean`; a header whose name is not
   * clean is left out.
   */
  passOn(
    headers: string[],
    clean: (value: string) => string,
    { rateLimits }: { readonly rateLimits: boolean } = { rateLimits: true },
  ): void {
    for (let i = 0; i < this.#fields.length; i += 1) {
      const name = this.#fields[i]?.passedAs;
      if (!rateLimits && this.#fields[i]?.isRateLimit === true) continue;
      if (name !== undefined && clean(name) === name) headers.push(name, clean(this.#values[i] as string));
    }
  }
}

/** Trims trailing blanks, which undici keeps. Not trim(): a no-break space is part of the value (RFC 9110, section 5.5). */
function withoutBlanksBehind(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === ' ' || value[end - 1] === '\t')) end -= 1;
  return end === value.length ? value : value.slice(0, end);
}
