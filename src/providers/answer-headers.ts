import type { ShortTexts } from '../dialects/short-texts.ts';
import { remembered } from '../remember.ts';

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

interface AnswerFate {
  readonly name: string;
  /** The name that the client gets it under; undefined for what stays here. */
  readonly passedAs: string | undefined;
  readonly isOfUse: boolean;
}

const answerFate = remembered((spelling): AnswerFate => {
  const name = spelling.toLowerCase();
  const isPassed = passedNames.has(name) || passedPrefixes.some((prefix) => name.startsWith(prefix));
  const passedAs = name === 'x-request-id' ? 'x-provider-request-id' : isPassed ? name : undefined;
  return { name, passedAs, isOfUse: passedAs !== undefined || readNames.has(name) };
});

/** Headers of a provider's answer: those that the client gets or the gateway goes by, the first of equal names. */
export class AnswerHeaders {
  readonly #fates: AnswerFate[] = [];
  readonly #values: string[] = [];

  /** Takes undici's raw header buffers: name, value, name, value. `texts` are those that the provider's others had. */
  constructor(raw: readonly Buffer[], texts?: ShortTexts) {
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const fate = answerFate(textOf(raw[i] as Buffer, texts));
      if (!fate.isOfUse || this.get(fate.name) !== undefined) continue;
      this.#fates.push(fate);
      this.#values.push(textOf(raw[i + 1] as Buffer, texts));
    }
  }

  /** The value of a header that the gateway goes by, by its lower-case name. */
  get(name: string): string | undefined {
    for (let i = 0; i < this.#fates.length; i += 1) if (this.#fates[i]?.name === name) return this.#values[i];
    return undefined;
  }

  /** Adds names and values of what the client gets to a flat list, after `clean` has seen the values. */
  passOn(headers: string[], clean: (value: string) => string): void {
    for (let i = 0; i < this.#fates.length; i += 1) {
      const name = this.#fates[i]?.passedAs;
      if (name !== undefined) headers.push(name, clean(this.#values[i] as string));
    }
  }
}

function textOf(bytes: Buffer, texts: ShortTexts | undefined): string {
  return texts?.read(bytes, 0, bytes.length) ?? bytes.toString('latin1');
}
