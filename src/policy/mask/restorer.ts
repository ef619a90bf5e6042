import { replaceTexts } from '../../json/byte-edits.ts';
import { type JsonDocument, kinds } from '../../json/json-document.ts';
import { escapeAt, JsonDepth } from '../../json/json-progress.ts';
import { parseStrictJson } from '../../json/strict-json.ts';
import { createRedactable } from '../redact/redactable.ts';
import { formOf } from './forms.ts';
import { findValue, hasEscapedValue, headsOf, kindOfRest, type MaskedValues } from './masked-values.ts';
import { type PlaceholderPatterns, patternsOf, replacePlaceholders } from './placeholder-patterns.ts';

/** How many of each kind. */
export type KindCounts = Readonly<Record<string, number>>;

/** No placeholder is as short. */
const minLength = 6;

/**
 * Restores the values of one exchange: in a text, a document or a whole answer. It restores what this request held and
 * nothing else, and where the next request may have it masked again: signed and encrypted content, ids and names stay as
 * the provider sent them.
 */
export class Restorer {
  readonly patterns: PlaceholderPatterns;
  /** Whether a value is written differently in JSON, so that it has to be known where it stands. */
  readonly needsDepth: boolean;
  readonly #masked: MaskedValues;
  readonly #leavesAll: boolean;
  readonly #restored: Record<string, number> = {};
  readonly #broken: Record<string, number> = {};

  constructor(masked: MaskedValues, { leavesAll = false } = {}) {
    this.#masked = masked;
    this.#leavesAll = leavesAll;
    this.patterns = patternsOf(headsOf(masked));
    this.needsDepth = !leavesAll && hasEscapedValue(masked);
  }

  /**
   * One that leaves every placeholder as it is: what a stream passes through it has each of them in one piece, so that
   * the rules on answers see it whole.
   */
  static gathering(masked: MaskedValues): Restorer {
    return new Restorer(masked, { leavesAll: true });
  }

  /** By kind, how many values came back, and how many placeholders came back in another form; without what is none. */
  get counts(): { readonly restored?: KindCounts; readonly broken_placeholders?: KindCounts } {
    return {
      ...(Object.keys(this.#restored).length === 0 ? {} : { restored: this.#restored }),
      ...(Object.keys(this.#broken).length === 0 ? {} : { broken_placeholders: this.#broken }),
    };
  }

  /**
   * The value of a placeholder as it is written inside `depth` nested JSON strings; undefined if this request had no
   * such placeholder.
   */
  value(placeholder: string, depth: number): string | undefined {
    const value = findValue(this.#masked, placeholder);
    if (value === undefined || this.#leavesAll) return value && placeholder;
    const { kind } = formOf(placeholder);
    this.#restored[kind] = (this.#restored[kind] ?? 0) + 1;
    return depth === 0 ? value : escapeAt(depth, value);
  }

  /** Counts what is left of placeholders that a model shortened or changed, in a text of the provider. */
  noteBroken(text: string): void {
    for (const { 0: found, index } of text.matchAll(this.patterns.broken)) {
      const kind = kindOfRest(this.#masked, found);
      if (kind === undefined || this.#isPlaceholder(text.slice(index, index + this.patterns.maxLength)))
        continue;
      this.#broken[kind] = (this.#broken[kind] ?? 0) + 1;
    }
  }

  /** Whether a text begins with one. */
  #isPlaceholder(text: string): boolean {
    const [first] = text.matchAll(this.patterns.whole);
    return first?.index === 0 && findValue(this.#masked, first[0]) !== undefined;
  }

  /** Whether JSON may hold a placeholder, whole or broken; a quick no for nearly all events of a stream. */
  mayHold(json: Buffer): boolean {
    return this.patterns.inJson.test(json.toString('latin1'));
  }

  /** The same, or a string that ends with the beginning of one. */
  mayBegin(json: string): boolean {
    return this.patterns.inJsonOrBegun.test(json);
  }

  /** A whole text, restored. */
  text(text: string): string {
    this.noteBroken(text);
    let depth: JsonDepth | undefined;
    let read = 0;
    return replacePlaceholders(this.patterns, text, (found, at) => {
      if (this.needsDepth) {
        depth ??= new JsonDepth();
        depth.add(text.slice(read, at));
        read = at;
      }
      return this.value(found, depth?.depth ?? 0);
    });
  }

  /** The texts of a document that change, by entry; without those that are restored elsewhere. */
  texts(document: JsonDocument, isElsewhere: (entry: number) => boolean = () => false): Map<number, string> {
    const changed = new Map<number, string>();
    const isRestorable = createRedactable(document);
    for (let entry = 0; entry < document.count; entry += 1) {
      if (document.kind(entry) !== kinds.string || isElsewhere(entry)) continue;
      if (document.end(entry) - document.start(entry) <= minLength) continue;
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
    return texts.size === 0 ? body : replaceTexts(document, texts);
  }
}
