const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Follows JSON that arrives in pieces, reading every character once. Assumes well-formed JSON; for anything else the
 * result is arbitrary.
 */
export class JsonProgress {
  #open = 0;
  #hasBegun = false;
  #isInString = false;
  #isEscaped = false;

  /** How many brackets are open. */
  get open(): number {
    return this.#open;
  }

  get isInString(): boolean {
    return this.#isInString;
  }

  /** Whether an object or an array has ended. */
  get isComplete(): boolean {
    return this.#hasBegun && this.#open <= 0 && !this.#isInString;
  }

  add(piece: string): void {
    for (let index = 0; index < piece.length; index += 1) this.step(piece.charCodeAt(index));
  }

  step(code: number): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === backslash) this.#isEscaped = true;
      else if (code === quote) this.#isInString = false;
      return;
    }
    if (code === quote) this.#isInString = true;
    else if (code === openBrace || code === openBracket) {
      this.#open += 1;
      this.#hasBegun = true;
    } else if (code === closeBrace || code === closeBracket) this.#open -= 1;
  }
}

/** How deep JSON texts in texts are followed, as the search for values does. */
const deepest = 4;
/** What may be outside the strings of a JSON text; after its first bracket also what begins a value. */
const outside = /[\s"[\]{},:\d+\-.eEtrufalsn]/;
const begins = /[\s"[\]{}\d\-tfn]/;
const decoded: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Follows a text that comes in pieces, and knows at each position in how many JSON strings, one in the other, it is: in
 * none unless the text is JSON. It has to be known before the text ends, so JSON is what begins like it and has nothing
 * so far that JSON can't have.
 */
export class JsonDepth {
  readonly #json = new JsonProgress();
  /** `before`: only white space so far. `first`: right behind its first bracket. */
  #state: 'before' | 'first' | 'json' | 'text' = 'before';
  /** An escape that is not complete, its backslash included. */
  #escape = '';
  readonly #level: number;
  /** The text of the string that is open. */
  #inner: JsonDepth | undefined;

  constructor(level = 0) {
    this.#level = level;
  }

  /** In how many strings the end of the text so far is. */
  get depth(): number {
    return this.#json.isInString ? 1 + (this.#inner?.depth ?? 0) : 0;
  }

  add(piece: string): void {
    for (let at = 0; at < piece.length && this.#state !== 'text'; at += 1) this.#step(piece[at] as string);
  }

  #step(letter: string): void {
    const wasInString = this.#json.isInString;
    if (!wasInString && !this.#mayBeJson(letter)) {
      this.#state = 'text';
      return;
    }
    this.#json.step(letter.charCodeAt(0));
    if (wasInString && this.#json.isInString) this.#readInString(letter);
    else if (this.#json.isInString) {
      this.#inner = this.#level + 1 < deepest ? new JsonDepth(this.#level + 1) : undefined;
    }
  }

  /** Whether a letter outside of strings may be of JSON. */
  #mayBeJson(letter: string): boolean {
    if (letter.trim() === '') return true;
    const state = this.#state;
    if (state === 'before') {
      this.#state = 'first';
      return letter === '{' || letter === '[';
    }
    this.#state = 'json';
    if (state === 'first' && !begins.test(letter)) return false;
    return this.#json.open !== 0 && outside.test(letter);
  }

  #readInString(letter: string): void {
    if (this.#escape === '') {
      if (letter.charCodeAt(0) === backslash) this.#escape = letter;
      else this.#inner?.add(letter);
      return;
    }
    this.#escape += letter;
    const isUnicode = this.#escape.charCodeAt(1) === letterU;
    if (isUnicode && this.#escape.length < 6) return;
    const text = isUnicode
      ? String.fromCharCode(Number.parseInt(this.#escape.slice(2), 16))
      : (decoded[letter] ?? letter);
    this.#escape = '';
    this.#inner?.add(text);
  }
}

/** A value as it is written inside `depth` nested JSON strings. */
export function escapeAt(depth: number, value: string): string {
  let text = value;
  for (let level = 0; level < depth; level += 1) text = JSON.stringify(text).slice(1, -1);
  return text;
}
