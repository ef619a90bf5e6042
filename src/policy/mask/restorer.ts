import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import { splice } from '../redact/redact.ts';
import { createRedactable } from '../redact/redactable.ts';
import { escapeAt, JsonDepth } from './json-depth.ts';
import type { MaskedValues } from './masked-values.ts';
import { beginningPattern, kindOf, longestOf, placeholderPattern } from './placeholders.ts';

/** How many of each kind. */
export type KindCounts = Readonly<Record<string, number>>;

/** Characters that JSON escapes in a string. */
const escaped = /["\\\u0000-\u001f]/;
/** So many letters of a placeholder's end are no coincidence. */
const tellingLetters = 6;

/**
 * Restores the values of one exchange: in a text, a document or a whole answer. It restores what this request held and
 * nothing else, and where the next request may have it masked again: signed and encrypted content, ids and names stay as
 * the provider sent them.
 */
export class Restorer {
  /** Matches what has the form of a placeholder of a kind that the request has. */
  readonly pattern: RegExp;
  /** Matches the beginning of one at the end of a text. */
  readonly beginning: RegExp;
  /** Characters of the longest. */
  readonly longest: number;
  /** Whether a value is written differently in JSON, so that it has to be known where it stands. */
  readonly needsDepth: boolean;
  readonly #masked: MaskedValues;
  readonly #restored: Record<string, number> = {};
  readonly #broken: Record<string, number> = {};
  readonly #brokenPattern: RegExp;
  readonly #endsWithBeginning: RegExp;
  readonly #heads: ReadonlySet<string>;

  constructor(masked: MaskedValues) {
    const kindsHere = [...new Set([...masked.keys()].map(kindOf))];
    this.#masked = masked;
    this.pattern = placeholderPattern(kindsHere);
    this.beginning = beginningPattern(kindsHere);
    this.#endsWithBeginning = new RegExp(`${this.beginning.source.slice(0, -1)}"`);
    this.longest = longestOf(kindsHere);
    this.needsDepth = [...masked.values()].some((value) => escaped.test(value));
    this.#brokenPattern = new RegExp(
      `(${kindsHere.join('|')})[^A-Za-z0-9]{1,3}([A-Za-z]{${tellingLetters},})`,
      'gi',
    );
    this.#heads = new Set([...masked.keys()].map(headOf));
  }

  /**
   * One that leaves every placeholder as it is: what a stream passes through it has each of them in one piece, so that
   * the rules on answers see it whole.
   */
  static gathering(masked: MaskedValues): Restorer {
    return new Restorer(new Map([...masked.keys()].map((placeholder) => [placeholder, placeholder])));
  }

  /** By kind, how many values came back, and how many placeholders came back in another form; without what is none. */
  get counts(): { readonly restored?: KindCounts; readonly broken_placeholders?: KindCounts } {
    return {
      ...(Object.keys(this.#restored).length === 0 ? {} : { restored: this.#restored }),
      ...(Object.keys(this.#broken).length === 0 ? {} : { broken_placeholders: this.#broken }),
    };
  }

  /** The value of a placeholder, as it is written in so many JSON strings; undefined if this request had no such one. */
  value(placeholder: string, depth: number): string | undefined {
    const value = this.#masked.get(placeholder);
    if (value === undefined) return undefined;
    const kind = kindOf(placeholder);
    this.#restored[kind] = (this.#restored[kind] ?? 0) + 1;
    return depth === 0 ? value : escapeAt(depth, value);
  }

  /** Counts what is left of placeholders that a model shortened or changed, in a text of the provider. */
  noteBroken(text: string): void {
    for (const { 0: found, 1: kind = '', 2: letters = '' } of text.matchAll(this.#brokenPattern)) {
      if (this.#hasPlaceholder(found) || !this.#heads.has(letters.slice(0, tellingLetters).toUpperCase())) {
        continue;
      }
      const name = kind.toUpperCase();
      this.#broken[name] = (this.#broken[name] ?? 0) + 1;
    }
  }

  #hasPlaceholder(text: string): boolean {
    return [...text.matchAll(this.pattern)].some(([found]) => this.#masked.has(found));
  }

  /** Whether JSON may hold a placeholder, whole or broken; a quick no for nearly all events of a stream. */
  mayHold(json: Buffer): boolean {
    return json.toString('latin1').search(this.#brokenPattern) >= 0;
  }

  /** The same, or a string that ends with the beginning of one. */
  mayBegin(json: Buffer): boolean {
    const text = json.toString('latin1');
    return this.#endsWithBeginning.test(text) || text.search(this.#brokenPattern) >= 0;
  }

  /** A whole text, restored. */
  text(text: string): string {
    this.noteBroken(text);
    let depth: JsonDepth | undefined;
    let read = 0;
    return text.replace(this.pattern, (found, at: number) => {
      if (this.needsDepth) {
        depth ??= new JsonDepth();
        depth.add(text.slice(read, at));
        read = at;
      }
      return this.value(found, depth?.depth ?? 0) ?? found;
    });
  }

  /** The texts of a document that change, by entry; without those that are restored elsewhere. */
  texts(document: JsonDocument, isElsewhere: (entry: number) => boolean = () => false): Map<number, string> {
    const changed = new Map<number, string>();
    const isRestorable = createRedactable(document);
    for (let entry = 0; entry < document.count; entry += 1) {
      if (document.kind(entry) !== kinds.string || isElsewhere(entry)) continue;
      if (document.end(entry) - document.start(entry) <= tellingLetters) continue;
      if (!isRestorable({ document, entry })) continue;
      const text = document.text(entry);
      const restored = this.text(text);
      if (restored !== text) changed.set(entry, restored);
    }
    return changed;
  }

  /** A whole answer, restored; the same bytes if there is nothing to restore, or if it is not strict JSON. */
  body(body: Buffer): Buffer {
    if (!this.mayHold(body)) return body;
    let document: JsonDocument;
    try {
      document = parseStrictJson(body);
    } catch {
      return body; // a list, a text, or JSON that can be read in two ways: nothing says where a value would belong
    }
    const texts = this.texts(document);
    return texts.size === 0 ? body : splice(document, texts);
  }
}

function headOf(placeholder: string): string {
  return placeholder.slice(kindOf(placeholder).length + 1).slice(0, tellingLetters);
}
