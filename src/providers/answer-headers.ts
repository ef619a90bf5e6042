import { token } from '../http/field-lines.ts';
import { memoize } from '../memoize.ts';

const passedNames = new Set([
  'content-type',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'request-id',
]);
const passedPrefixes = ['anthropic-', 'openai-', 'x-ratelimit-', 'x-codex-'];
// What the gateway itself goes by.
const readNames = new Set([...passedNames, 'content-length', 'content-encoding']);

// What tells where the answer ends and what becomes of the connection.
const roles = ['content-length', 'transfer-encoding', 'connection', 'keep-alive'] as const;

/** A header by its name. */
export interface AnswerField {
  /** In lower case. */
  readonly name: string;
  /** Whether it can be one at all. */
  readonly isProper: boolean;
  readonly role: (typeof roles)[number] | undefined;
  /** The name that the client gets it under; undefined for what stays here. */
  readonly passedAs: string | undefined;
  readonly isOfUse: boolean;
}

/** All there is to know of a header by its name, in any spelling. */
export const answerField = memoize((spelling): AnswerField => {
  const name = spelling.toLowerCase();
  const isPassed = passedNames.has(name) || passedPrefixes.some((prefix) => name.startsWith(prefix));
  const passedAs = name === 'x-request-id' ? 'x-provider-request-id' : isPassed ? name : undefined;
  return {
    name,
    isProper: token.test(spelling),
    role: roles.find((role) => role === name),
    passedAs,
    isOfUse: passedAs !== undefined || readNames.has(name),
  };
});

/** Headers of a provider's answer: those that the client gets or the gateway goes by, the first of equal names. */
export class AnswerHeaders {
  readonly #fields: AnswerField[] = [];
  readonly #values: string[] = [];

  add(field: AnswerField, value: string): void {
    if (!field.isOfUse || this.get(field.name) !== undefined) return;
    this.#fields.push(field);
    this.#values.push(value);
  }

  /** The value of a header that the gateway goes by, by its lower-case name. */
  get(name: string): string | undefined {
    for (let i = 0; i < this.#fields.length; i += 1)
      if (this.#fields[i]?.name === name) return this.#values[i];
    return undefined;
  }

  /** Adds names and values of what the client gets to a flat list, after `clean` has seen the values. */
  passOn(headers: string[], clean: (value: string) => string): void {
    for (let i = 0; i < this.#fields.length; i += 1) {
      const name = this.#fields[i]?.passedAs;
      if (name !== undefined) headers.push(name, clean(this.#values[i] as string));
    }
  }
}
