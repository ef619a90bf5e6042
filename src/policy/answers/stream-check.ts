import type { StreamPart } from '../../dialects/stream-parts.ts';
import { liesWithin } from '../redact/redact.ts';
import type { Refusal, Verdict } from '../rule.ts';
import type { Search } from '../search/search.ts';
import type { AnswerText } from '../streams/answer-text.ts';
import { HeldEvents, type HeldPiece, type StreamEvent } from '../streams/stream-event.ts';
import { mayHideTexts, unescapeJson } from '../traverse/encoded.ts';
import { wrapText } from '../traverse/place.ts';
import { WholeTexts } from './answer-plan.ts';
import { type AnswerRule, refusalOf, StreamVerdicts, unreadableRefusal } from './answer-rule.ts';
import { ChannelRules } from './channel-rules.ts';
import type { RuleChange, StreamChannel } from './stream-channel.ts';
import { StreamChannels } from './stream-channels.ts';

/** What may be sent now, and whether the stream must end. */
export interface StreamStep {
  readonly release: readonly StreamEvent[];
  readonly refusal?: Refusal;
}

/** Most characters that may be held in all channels together, mostly arguments of calls. */
const waitingLimit = 8 << 20;

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
  readonly #held = new HeldEvents<RuleChange>((part, own, joined) => this.#noteChange(part, own, joined));
  /** What the last events are apart from their texts, if nothing is replaced in it. */
  #checked: unknown;
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

  /** Consumes the next event; `take` returns what may leave. */
  push(event: StreamEvent): void {
    if (this.#verdicts.refusal !== undefined) return;
    // The words of a comment are for nobody who reads events, and the rules don't read them.
    if (!event.hasData) return this.#held.add(event.plain);
    event.strip();
    const { frame, parts, ends } = event.reading;
    const isChecked = frame !== undefined && frame === this.#checked;
    if (!isChecked || mayHide(event.textOf(frame.part))) this.#checkWholeTexts(event);
    const pieces = parts.map((part): HeldPiece<RuleChange> => {
      const text = event.textOf(part);
      return { part, ranges: this.#channels.add(part, text) };
    });
    this.#held.add(event, pieces);
    for (const end of ends) this.#channels.close(end);
    if (this.#held.size > waitingLimit) this.#refuseLong();
  }

  /** The provider's stream is over. */
  end(): void {
    this.#channels.close('');
  }

  /** What may be sent of the events so far: searches all that came since the last call, so it is called once a chunk. */
  take(): StreamStep {
    for (const channel of this.#channels.changed()) this.#searchChannel(channel);
    this.#channelRules.forget();
    const release = this.#held.release(() => this.#verdicts.refusal === undefined);
    const { refusal } = this.#verdicts;
    return refusal === undefined ? { release } : { release: [], refusal };
  }

  /** The texts of an event that don't continue in others, and what texts of it hold in another form. */
  #checkWholeTexts(event: StreamEvent): void {
    const { frame, parts, source } = event.readAlone();
    const { document } = source ?? this.#unreadable(event);
    if (event.name !== undefined && event.name !== this.#name) {
      this.#name = event.name;
      // Clients act on the name, so nothing in it can be replaced.
      this.#wholeTexts.check(wrapText(event.name));
    }
    const inChannels = new Set(parts.flatMap(({ entry, isFixed }) => (isFixed ? [] : [entry])));
    const replaced = this.#wholeTexts.replace(document, inChannels);
    for (const [entry, text] of replaced) event.change(entry, text);
    this.#checked = replaced.size === 0 ? frame : undefined;
  }

  /** Its texts can't be determined; unless a rule enforces something, it is read literally. */
  #unreadable(event: StreamEvent): AnswerText {
    const message = 'an event of the answer is JSON that can be read in more than one way';
    this.#verdicts.refuse(unreadableRefusal(this.#rules, message));
    return event.readLiterally();
  }

  #searchChannel(channel: StreamChannel): void {
    for (const { each, isGone } of channel.search()) {
      this.#verdicts.add(each, () => {
        if (isGone) this.#verdicts.refuse(refusalOf(each.rule, 'content.unredactable'));
      });
    }
    if (channel.needsWhole && channel.isClosed) this.#arguments(channel);
  }

  /** A call's arguments are JSON: once they are complete, they are also checked with escapes decoded. */
  #arguments(channel: StreamChannel): void {
    const text = channel.whole;
    const plain = unescapeJson(text);
    if (plain === text) return;
    this.#wholeTexts.check(wrapText(plain), ({ pattern }) => !channel.seen.has(pattern));
  }

  /** A match in what can't be replaced refuses: a name, or blocks that Responses repeat one by one. */
  #noteChange(
    { isRepeated, isFixed }: StreamPart,
    own: readonly RuleChange[],
    joined: readonly RuleChange[],
  ): void {
    const isAcross = isRepeated && !joined.every((each) => liesWithin(each, own));
    if (!isFixed && !isAcross) return;
    const changes = [...own, ...joined];
    const rules = this.#rules.filter(({ rule }) => changes.some((each) => each.rule === rule));
    for (const { rule } of rules) this.#verdicts.refuse(refusalOf(rule, 'content.unredactable'));
  }

  #refuseLong(): void {
    // A monitoring rule must not end a stream: the text is released unread.
    const message = 'the answer holds more text in one piece than a rule on answers can wait for';
    const refusal = unreadableRefusal(this.#rules, message);
    if (refusal === undefined) this.#channels.close('');
    this.#verdicts.refuse(refusal);
  }
}

/** What most texts begin with, and none that contains others. */
const prose = /^ ?[a-ce-z]/i;
/** What other texts that contain texts begin with: a number with an exponent, a data URL. */
const mayHideMore = /^[\s\p{C}]*(?:[-\d][^e]*e|d\s*a\s*t\s*a)/iu;

function mayHide(text: string): boolean {
  return !prose.test(text) && (mayHideTexts(text) || mayHideMore.test(text));
}
