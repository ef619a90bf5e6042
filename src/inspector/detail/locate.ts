/** A range of a text, in UTF-16 code units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

const deepest = 200;
/** A hostile body matches in every one of its texts. */
const maxPointers = 1_000;

/**
 * Where the values at JSON pointers are in a JSON text. A pointer that leads into a string (JSON inside JSON) gives that
 * string; one that leads nowhere has no range. Text that is not JSON has none at all.
 */
export function locate(text: string, pointers: readonly string[]): ReadonlyMap<string, TextRange> {
  const found = new Map<string, TextRange>();
  const inText = pointers.filter((pointer) => pointer === '' || pointer.startsWith('/'));
  const wanted = new Set(inText.slice(0, maxPointers));
  if (wanted.size === 0) return found;
  try {
    new Scanner(text, wanted, found).value('', 0);
  } catch {
    return found; // everything was found; or the text is cut or malformed, and what was found before that counts
  }
  return found;
}

class Scanner {
  readonly #text: string;
  readonly #wanted: ReadonlySet<string>;
  /** Pointers that lead into a string, keyed by the string's own pointer. */
  readonly #within: ReadonlyMap<string, readonly string[]>;
  readonly #found: Map<string, TextRange>;
  #at = 0;

  constructor(text: string, wanted: ReadonlySet<string>, found: Map<string, TextRange>) {
    this.#text = text;
    this.#wanted = wanted;
    this.#within = byParent(wanted);
    this.#found = found;
  }

  value(pointer: string, depth: number): void {
    if (depth > deepest) throw new RangeError('too deep');
    this.#space();
    const start = this.#at;
    const first = this.#text[this.#at];
    if (first === '{') this.#object(pointer, depth);
    else if (first === '[') this.#array(pointer, depth);
    else if (first === '"') this.#string();
    else this.#scalar();
    if (this.#wanted.has(pointer)) this.#note(pointer, start);
    if (first === '"') for (const each of this.#within.get(pointer) ?? []) this.#note(each, start);
  }

  /** Throws to stop once everything has been found. */
  #note(pointer: string, start: number): void {
    if (!this.#found.has(pointer)) this.#found.set(pointer, { start, end: this.#at });
    if (this.#found.size === this.#wanted.size) throw new Error('all is found');
  }

  #object(pointer: string, depth: number): void {
    this.#at += 1;
    for (this.#space(); this.#text[this.#at] !== '}'; this.#space()) {
      const key = JSON.parse(this.#string()) as string; // a JSON string
      this.#space();
      this.#expect(':');
      this.value(`${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1);
      this.#space();
      if (this.#text[this.#at] === ',') this.#at += 1;
      else if (this.#text[this.#at] !== '}') throw new SyntaxError('expected , or }');
    }
    this.#at += 1;
  }

  #array(pointer: string, depth: number): void {
    this.#at += 1;
    this.#space();
    for (let index = 0; this.#text[this.#at] !== ']'; index += 1) {
      this.value(`${pointer}/${index}`, depth + 1);
      this.#space();
      if (this.#text[this.#at] === ',') this.#at += 1;
      else if (this.#text[this.#at] !== ']') throw new SyntaxError('expected , or ]');
    }
    this.#at += 1;
  }

  /** The string as it is written, with its quotes. */
  #string(): string {
    this.#space();
    const start = this.#at;
    this.#expect('"');
    for (;;) {
      const quote = this.#text.indexOf('"', this.#at);
      if (quote < 0) throw new SyntaxError('a string does not end');
      let escapes = 0;
      while (this.#text[quote - 1 - escapes] === '\\') escapes += 1;
      this.#at = quote + 1;
      if (escapes % 2 === 0) return this.#text.slice(start, this.#at);
    }
  }

  #scalar(): void {
    const start = this.#at;
    while (this.#at < this.#text.length && !',]}: \t\r\n'.includes(this.#text[this.#at] as string))
      this.#at += 1;
    if (this.#at === start) throw new SyntaxError('expected a value');
  }

  #expect(character: string): void {
    if (this.#text[this.#at] !== character) throw new SyntaxError(`expected ${character}`);
    this.#at += 1;
  }

  #space(): void {
    while (this.#at < this.#text.length && ' \t\r\n'.includes(this.#text[this.#at] as string)) this.#at += 1;
  }
}

function byParent(pointers: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const within = new Map<string, string[]>();
  for (const pointer of pointers) {
    for (let at = pointer.lastIndexOf('/'); at > 0; at = pointer.lastIndexOf('/', at - 1)) {
      const parent = pointer.slice(0, at);
      const known = within.get(parent);
      if (known === undefined) within.set(parent, [pointer]);
      else known.push(pointer);
    }
  }
  return within;
}

/** A JSON value as text: a string without quotes and escapes. */
export function textOf(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : json;
  } catch {
    return json; // cut at the end of what is shown
  }
}
