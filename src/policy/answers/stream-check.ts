import type { JsonDocument } from '../../json/json-document.ts';
import { applyReplacements, liesWithin, splice } from '../redact/redact.ts';
import type { Refusal, Verdict } from '../rule.ts';
import type { Search } from '../search/search.ts';
import { mayHideTexts, unescapeJson } from '../traverse/nested.ts';
import { wrapText } from '../traverse/place.ts';
import { WholeTexts } from './answer-plan.ts';
import { type AnswerRule, refusalOf, StreamVerdicts, unreadableRefusal } from './answer-rule.ts';
import { type AnswerText, readAnswerText, readPlain } from './answer-text.ts';
import { ChannelRules } from './channel-rules.ts';
import type { ChannelRange, StreamChannel } from './stream-channel.ts';
import { StreamChannels } from './stream-channels.ts';
import { readParts, type StreamEvent, type StreamPart } from './stream-parts.ts';
import type { RuleReplacement } from './stream-replacements.ts';

/** What may be sent now, and whether the stream must end. */
export interface StreamStep {
  readonly release: readonly StreamEvent[];
  readonly refusal?: Refusal;
}

interface Part {
  readonly part: StreamPart;
  readonly text: string;
  /** Its positions in its own channel, and in those where it is read together with other blocks. */
  readonly ranges: readonly ChannelRange[];
}

interface Pending {
  readonly event: StreamEvent;
  readonly source: AnswerText | EventFrame;
  readonly parts: readonly Part[];
  /** Replaced texts that are complete within this event. */
  readonly replaced: ReadonlyMap<number, string>;
}

/** Most characters that may be held in all channels together, mostly arguments of calls. */
const waitingLimit = 8 << 20;
const unchanged: ReadonlyMap<number, string> = new Map();

/**
 * Checks the events of a stream as they pass. Events leave in order, each as soon as nothing in its text can be the
 * beginning of a match; if a rule blocks, nothing that is still held is ever sent.
 */
export class StreamCheck {
  readonly #rules: readonly AnswerRule[];
  readonly #channelRules: ChannelRules;
  readonly #channels: StreamChannels;
  readonly #verdicts = new StreamVerdicts();
  readonly #wholeTexts: WholeTexts;
  #waiting: Pending[] = [];
  #waitingLength = 0;
  /** What the last event is apart from its text. */
  #frame: EventFrame | undefined;
  /** The last `event:` line that was read. */
  #name: string | undefined;

  constructor(rules: readonly AnswerRule[], search: Search) {
    this.#rules = rules;
    const { patternSet } = search;
    this.#channelRules = new ChannelRules(rules, patternSet);
    this.#channels = new StreamChannels(this.#channelRules, patternSet.scanner.pieceReader());
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

  /** Consumes the next event; `take` returns what may leave. */
  push(event: StreamEvent): void {
    if (this.#verdicts.refusal !== undefined) return;
    const text = this.#frame?.textOf(event);
    if (text !== undefined) this.#text(event, this.#frame as EventFrame, text);
    else this.#event(event, readAnswerText(Buffer.from(event.data)) ?? this.#unreadable(event));
    this.#waitingLength += event.data.length;
    if (this.#waitingLength > waitingLimit) this.#refuseLong();
  }

  /** The provider's stream is over. */
  end(): void {
    this.#channels.close('');
  }

  /** What may be sent of the events so far: searches all that came since the last call, so it is called once a chunk. */
  take(): StreamStep {
    for (const channel of this.#channels.changed()) this.#searchChannel(channel);
    this.#channelRules.forget();
    return this.#step(this.#release());
  }

  /** Another text in an event that is known otherwise. */
  #text(event: StreamEvent, frame: EventFrame, text: string): void {
    const { part } = frame;
    const parts = [{ part, text, ranges: this.#channels.add(part, text) }];
    this.#waiting.push({ event, source: frame, parts, replaced: unchanged });
  }

  #event(event: StreamEvent, source: AnswerText): void {
    const { document } = source;
    const isDone = event.data.trim() === '[DONE]';
    const { parts: found, ends } = isDone ? { parts: [], ends: [''] } : readParts(document, event.name);
    const parts = found.map((part): Part => {
      const text = part.text ?? document.text(part.entry);
      return { part, text, ranges: this.#channels.add(part, text) };
    });
    if (event.name !== undefined && event.name !== this.#name) {
      this.#name = event.name;
      // Clients act on the name, so nothing in it can be replaced.
      this.#wholeTexts.check(wrapText(event.name));
    }
    const inChannels = new Set(found.flatMap(({ entry, isFixed }) => (isFixed ? [] : [entry])));
    const replaced = this.#wholeTexts.replace(document, inChannels);
    this.#waiting.push({ event, source, parts, replaced });
    this.#frame = ends.length === 0 && replaced.size === 0 ? frameOf(event, document, found) : undefined;
    for (const end of ends) this.#channels.close(end);
  }

  /** Its texts can't be determined; unless a rule enforces something, it is read literally. */
  #unreadable({ data }: StreamEvent): AnswerText {
    const message = 'an event of the answer is JSON that can be read in more than one way';
    this.#verdicts.refuse(unreadableRefusal(this.#rules, message));
    return readPlain(data);
  }

  #searchChannel(channel: StreamChannel): void {
    for (const { each, isGone } of channel.search()) {
      this.#verdicts.add(each, () => {
        if (isGone) this.#verdicts.refuse(refusalOf(each.rule, 'content.unredactable'));
      });
    }
    if (channel.isWhole && channel.isClosed) this.#arguments(channel);
  }

  /** A call's arguments are JSON: once they are complete, they are also checked with escapes decoded. */
  #arguments(channel: StreamChannel): void {
    const text = channel.whole;
    const plain = unescapeJson(text);
    if (plain === text) return;
    this.#wholeTexts.check(wrapText(plain), ({ pattern }) => !channel.seen.has(pattern));
  }

  /** The events that may be sent now, in order, with their replacements. */
  #release(): readonly StreamEvent[] {
    const released: StreamEvent[] = [];
    let next = this.#waiting[released.length];
    while (next !== undefined && this.#verdicts.refusal === undefined && mayLeave(next)) {
      released.push(this.#rewrite(next));
      this.#waitingLength -= next.event.data.length;
      next = this.#waiting[released.length];
    }
    if (released.length > 0) this.#waiting = this.#waiting.slice(released.length);
    return released;
  }

  #rewrite({ event, source, parts, replaced }: Pending): StreamEvent {
    let texts: Map<number, string> | undefined;
    for (const { part, text, ranges } of parts) {
      if (!hasReplacements(ranges)) continue;
      const { entry, isRepeated, isFixed } = part;
      const [own = [], ...others] = ranges.map((range) => range.channel.within(range));
      const joined = others.flat();
      const replacements = joined.length === 0 ? own : [...own, ...joined];
      if (replacements.length === 0) continue;
      const isAcross = isRepeated && !joined.every((each) => liesWithin(each, own));
      if (isFixed || isAcross) this.#refuseAcross(replacements);
      texts ??= new Map(replaced);
      texts.set(entry, applyReplacements(text, replacements));
    }
    const changed = texts ?? replaced;
    return changed.size === 0 ? event : { ...event, data: withTexts(source, changed) };
  }

  /** A match in what can't be replaced: a name, or blocks that Responses repeat one by one. */
  #refuseAcross(replacements: readonly RuleReplacement[]): void {
    const rules = this.#rules.filter(({ rule }) => replacements.some((each) => each.rule === rule));
    for (const { rule } of rules) this.#verdicts.refuse(refusalOf(rule, 'content.unredactable'));
  }

  #refuseLong(): void {
    // A monitoring rule must not end a stream: the text is released unread.
    const message = 'the answer holds more text in one piece than a rule on answers can wait for';
    const refusal = unreadableRefusal(this.#rules, message);
    if (refusal === undefined) this.#channels.close('');
    this.#verdicts.refuse(refusal);
  }

  #step(release: readonly StreamEvent[]): StreamStep {
    const { refusal } = this.#verdicts;
    return refusal === undefined ? { release } : { release: [], refusal };
  }
}

/** Undefined unless the event has one piece of text, a string, that may be replaced. */
function frameOf(
  event: StreamEvent,
  document: JsonDocument,
  parts: readonly StreamPart[],
): EventFrame | undefined {
  const [only] = parts;
  if (only === undefined || parts.length > 1 || only.isFixed || only.text !== undefined) return undefined;
  return new EventFrame(event, document, only);
}

/** Whether nothing in its text can be a part of a match that is not known yet. */
function mayLeave({ parts }: Pending): boolean {
  for (const { ranges } of parts)
    for (const { channel, end } of ranges) if (end > channel.limit) return false;
  return true;
}

function hasReplacements(ranges: readonly ChannelRange[]): boolean {
  for (const { channel } of ranges) if (channel.hasReplacements) return true;
  return false;
}

function withTexts(source: AnswerText | EventFrame, texts: ReadonlyMap<number, string>): string {
  if (source instanceof EventFrame) return source.with(texts.get(source.part.entry) ?? '');
  return source.unwrap(splice(source.document, texts)).toString('utf8');
}

const plainString = /^(?:[^"\\\p{Cc}]|\\["\\/bfnrt])*$/u;
/** What most texts begin with, and none that contains others. */
const prose = /^ ?[a-ce-z]/i;
/** What other texts that contain texts begin with: a number with an exponent, a data URL. */
const mayHide = /^[\s\p{C}]*(?:[-\d][^e]*e|d\s*a\s*t\s*a)/iu;

/**
 * An event of which only one text changes. Streams repeat such events thousands of times; what stands around the text was
 * read once, strictly, and nothing was found in it. The text is any JSON string, so that the rest means the same.
 */
class EventFrame {
  readonly part: StreamPart;
  readonly #name: string | undefined;
  readonly #before: string;
  readonly #after: string;

  constructor({ name }: StreamEvent, document: JsonDocument, part: StreamPart) {
    this.part = part;
    this.#name = name;
    this.#before = document.bytes.toString('utf8', 0, document.start(part.entry));
    this.#after = document.bytes.toString('utf8', document.end(part.entry));
  }

  /** The text in an event that is the same otherwise; undefined if it is another event, or must be looked at closely. */
  textOf({ name, data }: StreamEvent): string | undefined {
    const length = data.length - this.#before.length - this.#after.length;
    if (name !== this.#name || length < 0) return undefined;
    if (!data.startsWith(this.#before) || !data.endsWith(this.#after)) return undefined;
    const raw = data.slice(this.#before.length, this.#before.length + length);
    if (!plainString.test(raw)) return undefined;
    const text = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
    return !prose.test(text) && (mayHideTexts(text) || mayHide.test(text)) ? undefined : text;
  }

  /** The event's data with another text. */
  with(text: string): string {
    return this.#before + JSON.stringify(text).slice(1, -1) + this.#after;
  }
}
