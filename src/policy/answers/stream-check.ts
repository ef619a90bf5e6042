import type { JsonDocument } from '../../json/json-document.ts';
import { applyReplacements, liesWithin, type Replacement, splice } from '../redact/redact.ts';
import type { Verdict } from '../rule.ts';
import type { Search } from '../search/search.ts';
import type { TextMatch } from '../search/search-result.ts';
import { ViewedTexts } from '../search/viewed-text.ts';
import { unescapeJson } from '../traverse/nested.ts';
import { isFixedInEvent, type Segment, wrapText } from '../traverse/place.ts';
import { roleBits } from '../traverse/roles.ts';
import { AnswerPlan } from './answer-plan.ts';
import {
  type AnswerRule,
  foundBy,
  isRedacting,
  type Refusal,
  refusalOf,
  unreadableRefusal,
  verdictOf,
} from './answer-rule.ts';
import { type AnswerText, readAnswerText, readPlain } from './answer-text.ts';
import { type Stand, StreamChannel } from './stream-channel.ts';
import { readParts, type StreamPart } from './stream-parts.ts';

/** One server-sent event: its name, if it has one, and its data. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: string;
}

/** What may be sent now, and whether the stream must end. */
export interface StreamStep {
  readonly release: readonly StreamEvent[];
  readonly refusal?: Refusal;
}

interface Part extends StreamPart {
  /** Its positions in its own channel, and in those where it is read together with other blocks. */
  readonly stands: readonly Stand[];
}

interface Pending {
  readonly event: StreamEvent;
  readonly text: AnswerText;
  readonly parts: readonly Part[];
  /** Replaced texts that are complete within this event. */
  readonly replaced: ReadonlyMap<number, string>;
}

/** Most characters that may be held in all channels together, mostly arguments of calls. */
const waitingLimit = 8 << 20;

/**
 * Checks the events of a stream as they pass. Events leave in order, each as soon as nothing in its text can be the
 * beginning of a match; if a rule blocks, nothing that is still held is ever sent.
 */
export class StreamCheck {
  readonly #rules: readonly AnswerRule[];
  readonly #search: Search;
  readonly #numbers: readonly number[];
  readonly #channels = new Map<string, StreamChannel>();
  /** For each group of joined channels, the channel of its last text. */
  readonly #last = new Map<string, string>();
  readonly #verdicts = new Map<string, Verdict>();
  #waiting: Pending[] = [];
  #waitingLength = 0;
  /** The last `event:` line that was read. */
  #name: string | undefined;
  #refusal: Refusal | undefined;

  constructor(rules: readonly AnswerRule[], search: Search) {
    this.#rules = rules;
    this.#search = search;
    this.#numbers = [...new Set(rules.flatMap(({ patterns }) => patterns))];
  }

  /** The verdicts so far, for the record. */
  get verdicts(): readonly Verdict[] {
    return [...this.#verdicts.values()];
  }

  /** Whether events are still held. */
  get isHolding(): boolean {
    return this.#waiting.length > 0;
  }

  /** Consumes the next event; returns those that may leave. */
  push(event: StreamEvent): StreamStep {
    if (this.#refusal !== undefined) return this.#step([]);
    this.#event(event, readAnswerText(Buffer.from(event.data)) ?? this.#unreadable(event));
    this.#waitingLength += event.data.length;
    if (this.#waitingLength > waitingLimit) this.#refuseLong();
    return this.#step(this.#release());
  }

  /** The provider's stream is over. */
  end(): StreamStep {
    for (const channel of this.#channels.values()) this.#close(channel);
    return this.#step(this.#release());
  }

  #event(event: StreamEvent, text: AnswerText): void {
    const { document } = text;
    const isDone = event.data.trim() === '[DONE]';
    const { parts: found, ends } = isDone ? { parts: [], ends: [''] } : readParts(document, event.name);
    const parts = found.map(
      (part): Part => ({ ...part, stands: this.#stands(part, document.text(part.entry)) }),
    );
    if (event.name !== undefined && event.name !== this.#name) {
      this.#name = event.name;
      // Clients act on the name, so nothing in it can be replaced.
      this.#hidden(wrapText(event.name), () => true);
    }
    const replaced = this.#alone(
      document,
      new Set(parts.flatMap(({ entry, isFixed }) => (isFixed ? [] : [entry]))),
    );
    this.#waiting.push({ event, text, parts, replaced });
    for (const [name, channel] of this.#channels) {
      if (ends.some((end) => name.startsWith(end))) this.#close(channel);
    }
    for (const { channel } of parts.flatMap(({ stands }) => stands)) this.#evaluate(channel);
  }

  /** Its texts are not known; unless a rule enforces something, it is read literally. */
  #unreadable({ data }: StreamEvent): AnswerText {
    this.#refusal ??= unreadableRefusal(
      this.#rules,
      'an event of the answer is JSON that can be read in more than one way',
    );
    return readPlain(data);
  }

  /**
   * Adds a text to its channel. Texts of adjacent blocks are also read joined, with nothing and with a space, in two
   * further channels that span all of them.
   */
  #stands({ channel: name, isWhole, joinGroup }: StreamPart, text: string): readonly Stand[] {
    if (text === '') return [];
    const add = (channel: StreamChannel): Stand => {
      const start = channel.length;
      channel.add(text);
      return { channel, start, end: channel.length };
    };
    const own = add(this.#channel(name, isWhole));
    if (joinGroup === undefined) return [own];
    const spaced = this.#channel(`${joinGroup}spaced`, false);
    const last = this.#last.get(joinGroup);
    if (last !== undefined && last !== name) spaced.add(' ');
    this.#last.set(joinGroup, name);
    return [own, add(this.#channel(`${joinGroup}joined`, false)), add(spaced)];
  }

  #channel(name: string, isWhole: boolean): StreamChannel {
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = new StreamChannel(this.#search.patternSet, { isWhole, numbers: this.#numbers });
      this.#channels.set(name, channel);
    }
    return channel;
  }

  #close(channel: StreamChannel): void {
    if (channel.isClosed) return;
    channel.close();
    this.#evaluate(channel);
    if (channel.isWhole) this.#arguments(channel);
  }

  /** The verdicts on the text of a channel. */
  #evaluate(channel: StreamChannel): void {
    for (const each of channel.seen.size === 0 ? [] : this.#rules) {
      const { rule, patterns } = each;
      const seen = patterns.filter((number) => channel.seen.has(number));
      if (seen.length === 0) continue;
      const replacements = channel.replacements(each);
      const certain = seen.filter((number) => this.#search.patternSet.patterns[number]?.kind !== 'detector');
      if (replacements.length === 0 && (rule.except.length > 0 || certain.length === 0)) continue;
      this.#act(each, () => {
        // Part of a match that began before the kept text has already been sent.
        const isGone = replacements.length === 0 && certain.some((number) => !channel.evaluated.has(number));
        if (isGone) this.#refusal ??= refusalOf(rule, 'content.unredactable');
      });
    }
    for (const number of channel.seen) channel.evaluated.add(number);
  }

  /** A call's arguments are JSON: once they are complete, they are also checked with escapes decoded. */
  #arguments(channel: StreamChannel): void {
    const plain = unescapeJson(channel.text);
    if (plain === channel.text) return;
    this.#hidden(wrapText(plain), ({ pattern }) => !channel.seen.has(pattern));
  }

  /** The verdicts on a text that is sent unchanged, or not at all. */
  #hidden(document: JsonDocument, isMeant: (match: TextMatch) => boolean): void {
    const { matches } = this.#search.document(document, roleBits.assistant);
    const { patternSet } = this.#search;
    const searched = { patternSet, texts: new ViewedTexts(patternSet.fold) };
    for (const each of matches.size === 0 ? [] : this.#rules) {
      if (!foundBy(each, matches, searched).some(isMeant)) continue;
      this.#act(each, () => {
        this.#refusal ??= refusalOf(each.rule, 'content.unredactable');
      });
    }
  }

  /** The verdicts on texts that are complete within one event, and which of them are replaced. */
  #alone(document: JsonDocument, parts: ReadonlySet<number>): ReadonlyMap<number, string> {
    const { matches } = this.#search.document(document, roleBits.assistant);
    if (matches.size === 0) return new Map();
    const isPart = ({ place }: Segment) => place.outer === undefined && parts.has(place.entry);
    const isAlone = ({ segment, before }: TextMatch) =>
      !isPart(segment) && (before === undefined || !isPart(before));
    const plan = new AnswerPlan({ document, search: this.#search, isFixed: isFixedInEvent });
    for (const each of this.#rules) {
      const found = foundBy(each, matches, plan.searched).filter(isAlone);
      if (found.length === 0) continue;
      this.#act(each, () => plan.add(each, found));
    }
    this.#refusal ??= plan.refusal(isAlone);
    return plan.texts();
  }

  /** The events that may be sent now, in order, with their replacements. */
  #release(): readonly StreamEvent[] {
    if (this.#refusal !== undefined) return [];
    const released: StreamEvent[] = [];
    let count = 0;
    for (const pending of this.#waiting) {
      const stands = pending.parts.flatMap((part) => part.stands);
      if (stands.some(({ channel, end }) => end > this.#limit(channel))) break;
      const event = this.#rewrite(pending);
      if (this.#refusal !== undefined) return [];
      released.push(event);
      this.#waitingLength -= pending.event.data.length;
      for (const { channel, end } of stands) channel.forget(end);
      count += 1;
    }
    this.#waiting = this.#waiting.slice(count);
    return released;
  }

  /** Up to where a channel may be sent: not into the middle of a replacement. */
  #limit(channel: StreamChannel): number {
    let limit = channel.safe();
    for (const { start, end } of this.#replacements(channel)) if (start < limit && end > limit) limit = start;
    return limit;
  }

  #replacements(channel: StreamChannel): readonly Replacement[] {
    if (channel.seen.size === 0) return [];
    return this.#rules.filter(isRedacting).flatMap((each) => channel.replacements(each));
  }

  #rewrite({ event, text: { document, unwrap }, parts, replaced }: Pending): StreamEvent {
    const texts = new Map(replaced);
    for (const { entry, stands, isRepeated, isFixed } of parts) {
      const [own = [], ...joined] = stands.map((stand) =>
        stand.channel.within(this.#replacements(stand.channel), stand),
      );
      const replacements = [...own, ...joined.flat()];
      if (replacements.length === 0) continue;
      const isAcross = isRepeated && !joined.flat().every((each) => liesWithin(each, own));
      if (isFixed || isAcross) this.#refuseAcross(stands);
      texts.set(entry, applyReplacements(document.text(entry), replacements));
    }
    return texts.size === 0 ? event : { ...event, data: unwrap(splice(document, texts)).toString('utf8') };
  }

  /** A match in what can't be replaced: a name, or blocks that Responses repeat one by one. */
  #refuseAcross(stands: readonly Stand[]): void {
    for (const each of this.#rules.filter(isRedacting)) {
      const isFound = stands.some(({ channel }) => channel.replacements(each).length > 0);
      if (isFound) this.#refusal ??= refusalOf(each.rule, 'content.unredactable');
    }
  }

  /** Applies a match: a verdict, and the rule's action if it is enforced. */
  #act({ rule }: AnswerRule, redact: () => void): void {
    if (!this.#verdicts.has(rule.id)) {
      this.#verdicts.set(rule.id, verdictOf(rule, [{ at: '', matcher: 'text', count: 1 }]));
    }
    if (rule.mode !== 'enforce') return;
    if (rule.action === 'block') this.#refusal ??= refusalOf(rule);
    if (rule.action === 'redact') redact();
  }

  #refuseLong(): void {
    // A monitoring rule must not end a stream: the text is released unread.
    const message = 'the answer holds more text in one piece than a rule on answers can wait for';
    const refusal = unreadableRefusal(this.#rules, message);
    if (refusal === undefined) for (const channel of this.#channels.values()) this.#close(channel);
    this.#refusal ??= refusal;
  }

  #step(release: readonly StreamEvent[]): StreamStep {
    return this.#refusal === undefined ? { release } : { release: [], refusal: this.#refusal };
  }
}
