/** How deep JSON texts in texts are followed, as the search for values does. */
const deepest = 4;
const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
/** What may be outside the strings of a JSON text; after its first bracket also what begins a value. */
const outside = /[\s[\]{},:\d+\-.eEtrufalsn]/;
const begins = /[\s"[\]{}\d\-tfn]/;
const decoded: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Follows a text that comes in pieces, and knows at each position in how many JSON strings, one in the other, it is: in
 * none unless the text is JSON. It has to be known before the text ends, so JSON is what begins like it and has nothing
 * so far that JSON can't have.
 */
export class JsonDepth {
  /** `before`: only white space so far. `first`: right behind its first bracket. */
  #state: 'before' | 'first' | 'outside' | 'string' | 'text' = 'before';
  /** How many brackets are open. */
  #open = 0;
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
    return this.#state === 'string' ? 1 + (this.#inner?.depth ?? 0) : 0;
  }

  add(piece: string): void {
    for (let at = 0; at < piece.length && this.#state !== 'text'; at += 1) this.#step(piece, at);
  }

  #step(piece: string, at: number): void {
    const letter = piece[at] as string;
    if (this.#state === 'string') return this.#inString(letter);
    if (this.#state === 'before') {
      if (letter === '{' || letter === '[') this.#openBracket('first');
      else if (letter.trim() !== '') this.#state = 'text';
      return;
    }
    if (this.#state === 'first' && !begins.test(letter)) this.#state = 'text';
    else if (letter === '"') this.#openString();
    else if (this.#open === 0 ? letter.trim() !== '' : !outside.test(letter)) this.#state = 'text';
    else if (letter === '{' || letter === '[') this.#openBracket('outside');
    else if (letter.trim() !== '') {
      this.#state = 'outside';
      if (letter === '}' || letter === ']') this.#open -= 1;
    }
  }

  #openBracket(state: 'first' | 'outside'): void {
    this.#open += 1;
    this.#state = state;
  }

  #openString(): void {
    if (this.#open === 0) {
      this.#state = 'text';
      return;
    }
    this.#state = 'string';
    this.#inner = this.#level + 1 < deepest ? new JsonDepth(this.#level + 1) : undefined;
  }

  #inString(letter: string): void {
    const code = letter.charCodeAt(0);
    if (this.#escape !== '') {
      this.#escape += letter;
      const isUnicode = this.#escape.charCodeAt(1) === letterU;
      if (isUnicode && this.#escape.length < 6) return;
      const text = isUnicode
        ? String.fromCharCode(Number.parseInt(this.#escape.slice(2), 16))
        : (decoded[letter] ?? letter);
      this.#escape = '';
      this.#inner?.add(text);
    } else if (code === backslash) this.#escape = letter;
    else if (code === quote) this.#state = 'outside';
    else this.#inner?.add(letter);
  }
}

/** A value as it is written inside so many JSON strings. */
export function escapeAt(depth: number, value: string): string {
  let text = value;
  for (let level = 0; level < depth; level += 1) text = JSON.stringify(text).slice(1, -1);
  return text;
}
