import { applyReplacements, liesWithin, type Replacement, splice } from '../redact/redact.ts';
import type { Refusal, Verdict } from '../rule.ts';
import type { Search } from '../search/search.ts';
import { unescapeJson } from '../traverse/nested.ts';
import { wrapText } from '../traverse/place.ts';
import { type AnswerRule, isRedacting, refusalOf, unreadableRefusal } from './answer-rule.ts';
import { type AnswerText, readAnswerText, readPlain } from './answer-text.ts';
import type { ChannelRange, StreamChannel } from './stream-channel.ts';
import { StreamChannels } from './stream-channels.ts';
import { readParts, type StreamPart } from './stream-parts.ts';
import { StreamVerdicts } from './stream-verdicts.ts';
import { WholeTexts } from './whole-texts.ts';

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
  readonly ranges: readonly ChannelRange[];
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
  readonly #channels: StreamChannels;
  readonly #verdicts = new StreamVerdicts();
  readonly #wholeTexts: WholeTexts;
  #waiting: Pending[] = [];
  #waitingLength = 0;
  /** The last `event:` line that was read. */
  #name: string | undefined;

  constructor(rules: readonly AnswerRule[], search: Search) {
    this.#rules = rules;
    this.#search = search;
    const numbers = [...new Set(rules.flatMap(({ patterns }) => patterns))];
    this.#channels = new StreamChannels(search.patternSet, numbers);
    this.#wholeTexts = new WholeTexts({ rules, search, verdicts: this.#verdicts });
  }

  /** The verdicts so far, for the record. */
  get verdicts(): readonly Verdict[] {
    return this.#verdicts.verdicts;
  }

  /** Whether events are still held. */
  get isHolding(): boolean {
    return this.#waiting.length > 0;
  }

  /** Consumes the next event; returns those that may leave. */
  push(event: StreamEvent): StreamStep {
    if (this.#verdicts.refusal !== undefined) return this.#step([]);
    this.#event(event, readAnswerText(Buffer.from(event.data)) ?? this.#unreadable(event));
    this.#waitingLength += event.data.length;
    if (this.#waitingLength > waitingLimit) this.#refuseLong();
    return this.#step(this.#release());
  }

  /** The provider's stream is over. */
  end(): StreamStep {
    for (const [, channel] of this.#channels.entries()) this.#close(channel);
    return this.#step(this.#release());
  }

  #event(event: StreamEvent, text: AnswerText): void {
    const { document } = text;
    const isDone = event.data.trim() === '[DONE]';
    const { parts: found, ends } = isDone ? { parts: [], ends: [''] } : readParts(document, event.name);
    const parts = found.map(
      (part): Part => ({ ...part, ranges: this.#channels.add(part, document.text(part.entry)) }),
    );
    if (event.name !== undefined && event.name !== this.#name) {
      this.#name = event.name;
      // Clients act on the name, so nothing in it can be replaced.
      this.#wholeTexts.check(wrapText(event.name));
    }
    const inChannels = new Set(parts.flatMap(({ entry, isFixed }) => (isFixed ? [] : [entry])));
    const replaced = this.#wholeTexts.replace(document, inChannels);
    this.#waiting.push({ event, text, parts, replaced });
    for (const [name, channel] of this.#channels.entries()) {
      if (ends.some((end) => name.startsWith(end))) this.#close(channel);
    }
    for (const { channel } of parts.flatMap(({ ranges }) => ranges)) this.#evaluate(channel);
  }

  /** Its texts can't be determined; unless a rule enforces something, it is read literally. */
  #unreadable({ data }: StreamEvent): AnswerText {
    const message = 'an event of the answer is JSON that can be read in more than one way';
    this.#verdicts.refuse(unreadableRefusal(this.#rules, message));
    return readPlain(data);
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
      this.#verdicts.add(each, () => {
        // Part of a match that began before the kept text has already been sent.
        const isGone = replacements.length === 0 && certain.some((number) => !channel.evaluated.has(number));
        if (isGone) this.#verdicts.refuse(refusalOf(rule, 'content.unredactable'));
      });
    }
    for (const number of channel.seen) channel.evaluated.add(number);
  }

  /** A call's arguments are JSON: once they are complete, they are also checked with escapes decoded. */
  #arguments(channel: StreamChannel): void {
    const plain = unescapeJson(channel.text);
    if (plain === channel.text) return;
    this.#wholeTexts.check(wrapText(plain), ({ pattern }) => !channel.seen.has(pattern));
  }

  /** The events that may be sent now, in order, with their replacements. */
  #release(): readonly StreamEvent[] {
    if (this.#verdicts.refusal !== undefined) return [];
    const released: StreamEvent[] = [];
    let count = 0;
    for (const pending of this.#waiting) {
      const ranges = pending.parts.flatMap((part) => part.ranges);
      if (ranges.some(({ channel, end }) => end > this.#limit(channel))) break;
      const event = this.#rewrite(pending);
      if (this.#verdicts.refusal !== undefined) return [];
      released.push(event);
      this.#waitingLength -= pending.event.data.length;
      for (const { channel, end } of ranges) channel.forget(end);
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
    for (const { entry, ranges, isRepeated, isFixed } of parts) {
      const [own = [], ...joined] = ranges.map((range) =>
        range.channel.within(this.#replacements(range.channel), range),
      );
      const replacements = [...own, ...joined.flat()];
      if (replacements.length === 0) continue;
      const isAcross = isRepeated && !joined.flat().every((each) => liesWithin(each, own));
      if (isFixed || isAcross) this.#refuseAcross(ranges);
      texts.set(entry, applyReplacements(document.text(entry), replacements));
    }
    return texts.size === 0 ? event : { ...event, data: unwrap(splice(document, texts)).toString('utf8') };
  }

  /** A match in what can't be replaced: a name, or blocks that Responses repeat one by one. */
  #refuseAcross(ranges: readonly ChannelRange[]): void {
    for (const each of this.#rules.filter(isRedacting)) {
      const isFound = ranges.some(({ channel }) => channel.replacements(each).length > 0);
      if (isFound) this.#verdicts.refuse(refusalOf(each.rule, 'content.unredactable'));
    }
  }

  #refuseLong(): void {
    // A monitoring rule must not end a stream: the text is released unread.
    const message = 'the answer holds more text in one piece than a rule on answers can wait for';
    const refusal = unreadableRefusal(this.#rules, message);
    if (refusal === undefined) for (const [, channel] of this.#channels.entries()) this.#close(channel);
    this.#verdicts.refuse(refusal);
  }

  #step(release: readonly StreamEvent[]): StreamStep {
    const { refusal } = this.#verdicts;
    return refusal === undefined ? { release } : { release: [], refusal };
  }
}
