import type { JsonDocument } from '../dialects/json-document.ts';
import { parseStrictJson } from '../dialects/strict-json.ts';
import { type AnswerRule, type ResponseDecision, refusalOf, verdictOf } from './answer-rule.ts';
import { unescapeJson } from './encoded.ts';
import { spansOutside } from './exceptions.ts';
import { textOf, wrapText } from './place.ts';
import { replaceStretches, type Stretch, splice } from './redact.ts';
import { roleBits } from './roles.ts';
import type { Verdict } from './rule.ts';
import type { Occurrence, Search } from './search.ts';
import { StreamChannel } from './stream-channel.ts';
import { readParts } from './stream-parts.ts';
import type { Machine } from './text/machine.ts';
import type { Needle } from './text/needles.ts';

/** One server-sent event as it was read: its name, where it has one, and its data. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: string;
}

/** What may be sent on now, and whether the stream must end. */
export interface StreamStep {
  readonly release: readonly StreamEvent[];
  readonly refusal?: NonNullable<ResponseDecision['refusal']>;
}

interface Part {
  readonly entry: number;
  readonly channel: StreamChannel;
  readonly start: number;
  readonly end: number;
}

interface Pending {
  readonly event: StreamEvent;
  readonly document: JsonDocument | undefined;
  readonly parts: readonly Part[];
  /** Texts of this event alone that are replaced. */
  readonly replaced: Map<number, string>;
}

export interface StreamCheckParts {
  readonly rules: readonly AnswerRule[];
  readonly machine: Machine;
  readonly search: Search;
}

/** Most characters that may wait altogether, in calls' arguments mostly. */
const waitingLimit = 8 << 20;

/**
 * Checks the events of a stream as they pass. Events leave in their order, each as soon as nothing of its
 * text can be the beginning of a match; where a rule blocks, nothing that waits ever leaves.
 */
export class StreamCheck {
  readonly #rules: readonly AnswerRule[];
  readonly #machine: Machine;
  readonly #search: Search;
  readonly #numbers: readonly number[];
  readonly #channels = new Map<string, StreamChannel>();
  readonly #verdicts = new Map<string, Verdict>();
  #waiting: Pending[] = [];
  #waitingLength = 0;
  #refusal: NonNullable<ResponseDecision['refusal']> | undefined;

  constructor({ rules, machine, search }: StreamCheckParts) {
    this.#rules = rules;
    this.#machine = machine;
    this.#search = search;
    this.#numbers = [...new Set(rules.flatMap(({ needles }) => needles))];
  }

  /** What the rules have said so far, for the record. */
  get verdicts(): readonly Verdict[] {
    return [...this.#verdicts.values()];
  }

  /** Takes the next event; returns those that may leave. */
  push(event: StreamEvent): StreamStep {
    if (this.#refusal !== undefined) return this.#step([]);
    const document = readEvent(event.data);
    if (document === undefined) this.#other(event);
    else this.#event(event, document);
    this.#waitingLength += event.data.length;
    if (this.#waitingLength > waitingLimit) this.#refuseLong();
    return this.#step(this.#release());
  }

  /** The provider's stream is over. */
  end(): StreamStep {
    for (const channel of this.#channels.values()) this.#close(channel);
    return this.#step(this.#release());
  }

  /** Not JSON: the last line of a chat, or whatever a host sends. */
  #other(event: StreamEvent): void {
    if (event.data.trim() === '[DONE]') for (const channel of this.#channels.values()) this.#close(channel);
    else this.#alone(wrapText(event.data), new Set(), new Map());
    this.#waiting.push({ event, document: undefined, parts: [], replaced: new Map() });
  }

  #event(event: StreamEvent, document: JsonDocument): void {
    const { parts: found, ends } = readParts(document);
    const parts = found.map(({ entry, channel: name, isWhole }): Part => {
      const channel = this.#channel(name, isWhole);
      const start = channel.length;
      channel.add(document.text(entry));
      return { entry, channel, start, end: channel.length };
    });
    const replaced = new Map<number, string>();
    this.#alone(document, new Set(parts.map(({ entry }) => entry)), replaced);
    this.#waiting.push({ event, document, parts, replaced });
    for (const [name, channel] of this.#channels) {
      if (!ends.some((end) => name.startsWith(end))) continue;
      this.#close(channel);
      this.#channels.delete(name);
    }
    for (const { channel } of parts) this.#judge(channel);
  }

  #channel(name: string, isWhole: boolean): StreamChannel {
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = new StreamChannel(this.#machine, { isWhole, numbers: this.#numbers });
      this.#channels.set(name, channel);
    }
    return channel;
  }

  #close(channel: StreamChannel): void {
    channel.close();
    this.#judge(channel);
    if (channel.isWhole) this.#arguments(channel);
  }

  /** What the rules say to the text of a channel. */
  #judge(channel: StreamChannel): void {
    for (const each of channel.seen.size === 0 ? [] : this.#rules) {
      const { rule, needles, except } = each;
      const seen = needles.filter((number) => channel.seen.has(number));
      if (seen.length === 0) continue;
      const stretches = channel.stretches(each);
      const certain = seen.filter((number) => this.#machine.needles[number]?.kind !== 'detector');
      if (stretches.length === 0 && (except.length > 0 || certain.length === 0)) continue;
      this.#note(each);
      if (rule.mode !== 'enforce') continue;
      if (rule.action === 'block') this.#refusal ??= refusalOf(rule);
      // A match that began before all that is known has left in part.
      const isGone = stretches.length === 0 && certain.some((number) => !channel.judged.has(number));
      if (rule.action === 'redact' && isGone) this.#refusal ??= refusalOf(rule, 'content.unredactable');
    }
    for (const number of channel.seen) channel.judged.add(number);
  }

  /** A call's arguments are JSON: what its escapes hide is looked at once they are complete. */
  #arguments(channel: StreamChannel): void {
    const plain = unescapeJson(channel.text);
    if (plain === channel.text) return;
    const { occurrences } = this.#search.document(wrapText(plain), roleBits.assistant);
    for (const each of this.#rules) {
      const hidden = this.#found(each, occurrences).some(({ needle }) => !channel.seen.has(needle));
      if (!hidden) continue;
      this.#note(each);
      if (each.rule.mode !== 'enforce') continue;
      if (each.rule.action === 'block') this.#refusal ??= refusalOf(each.rule);
      if (each.rule.action === 'redact') this.#refusal ??= refusalOf(each.rule, 'content.unredactable');
    }
  }

  /** What the rules say to the texts of one event that don't go on in others. */
  #alone(document: JsonDocument, parts: ReadonlySet<number>, replaced: Map<number, string>): void {
    const { occurrences } = this.#search.document(document, roleBits.assistant);
    if (occurrences.size === 0) return;
    const stretches = new Map<number, Stretch[]>();
    for (const each of this.#rules) {
      const found = this.#found(each, occurrences).filter(({ piece }) => !parts.has(piece.place.entry));
      if (found.length === 0) continue;
      this.#note(each);
      const { rule, except } = each;
      if (rule.mode !== 'enforce') continue;
      if (rule.action === 'block') this.#refusal ??= refusalOf(rule);
      if (rule.action !== 'redact') continue;
      for (const { piece, needle } of found) {
        const { entry, outer } = piece.place;
        if (outer !== undefined || document.isKey(entry)) {
          this.#refusal ??= refusalOf(rule, 'content.unredactable');
          continue;
        }
        const spans = spansOutside(
          this.#machine.needles[needle] as Needle,
          except,
          textOf(piece.place),
          this.#machine.fold,
        );
        const label = `[REDACTED:${rule.reason}]`;
        stretches.set(entry, [
          ...(stretches.get(entry) ?? []),
          ...spans.map(({ start, end }) => ({ start, end, label })),
        ]);
      }
    }
    for (const [entry, own] of stretches) replaced.set(entry, replaceStretches(document.text(entry), own));
  }

  #found(
    { needles, except }: AnswerRule,
    occurrences: ReadonlyMap<number, readonly Occurrence[]>,
  ): readonly Occurrence[] {
    const found = needles.flatMap((number) => occurrences.get(number) ?? []);
    if (except.length === 0) return found;
    return found.filter(
      ({ piece, needle }) =>
        spansOutside(this.#machine.needles[needle] as Needle, except, textOf(piece.place), this.#machine.fold)
          .length > 0,
    );
  }

  /** The events that may leave now, in order, with what is to be replaced in them. */
  #release(): readonly StreamEvent[] {
    if (this.#refusal !== undefined) return [];
    const released: StreamEvent[] = [];
    let count = 0;
    for (const pending of this.#waiting) {
      const { parts } = pending;
      if (parts.some(({ channel, end }) => end > this.#limit(channel))) break;
      const event = this.#rewrite(pending);
      if (this.#refusal !== undefined) return [];
      released.push(event);
      this.#waitingLength -= pending.event.data.length;
      for (const { channel, end } of parts) channel.forget(end);
      count += 1;
    }
    this.#waiting = this.#waiting.slice(count);
    return released;
  }

  /** How far a channel may leave: not into the middle of what will be replaced. */
  #limit(channel: StreamChannel): number {
    let limit = channel.safe();
    for (const { start, end } of this.#stretches(channel)) if (start < limit && end > limit) limit = start;
    return limit;
  }

  #stretches(channel: StreamChannel): readonly Stretch[] {
    if (channel.seen.size === 0) return [];
    return this.#rules
      .filter(({ rule }) => rule.mode === 'enforce' && rule.action === 'redact')
      .flatMap((each) => channel.stretches(each));
  }

  #rewrite({ event, document, parts, replaced }: Pending): StreamEvent {
    if (document === undefined) return event;
    const texts = new Map(replaced);
    for (const { entry, channel, start, end } of parts) {
      const stretches = this.#stretches(channel);
      if (stretches.length === 0) continue;
      const text = channel.slice(start, end, stretches);
      if (text !== document.text(entry)) texts.set(entry, text);
    }
    return texts.size === 0 ? event : { ...event, data: splice(document, texts).toString('utf8') };
  }

  #note({ rule }: AnswerRule): void {
    if (!this.#verdicts.has(rule.id)) {
      this.#verdicts.set(rule.id, verdictOf(rule, [{ at: '', matcher: 'text', count: 1 }]));
    }
  }

  #refuseLong(): void {
    const [first] = this.#rules;
    if (first === undefined) return;
    this.#refusal ??= {
      rule: first.rule.id,
      reason: 'content.unreadable',
      message: 'the answer holds more text in one piece than a rule on answers can wait for',
    };
  }

  #step(release: readonly StreamEvent[]): StreamStep {
    return this.#refusal === undefined ? { release } : { release: [], refusal: this.#refusal };
  }
}

function readEvent(data: string): JsonDocument | undefined {
  try {
    return parseStrictJson(Buffer.from(data));
  } catch {
    // [DONE], a comment, or not JSON at all.
    return undefined;
  }
}
