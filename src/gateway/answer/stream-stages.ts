import { HeldText } from '../../dialects/held-text.ts';
import type { StreamPart } from '../../dialects/stream-parts.ts';
import { GatewayError } from '../../errors.ts';
import type { ResponseCheck } from '../../policy/answers/check-answer.ts';
import type { StreamCheck } from '../../policy/answers/stream-check.ts';
import type { MaskedValues } from '../../policy/mask/masked-values.ts';
import { Restorer } from '../../policy/mask/restorer.ts';
import { StreamRestorer } from '../../policy/mask/stream-restorer.ts';
import type { Stage } from '../../policy/streams/stage.ts';
import {
  HeldEvents,
  type HeldPiece,
  type HeldRange,
  type StreamEvent,
} from '../../policy/streams/stream-event.ts';
import type { Scrubber } from '../scrub.ts';

interface StreamNeeds {
  readonly rules: ReturnType<ResponseCheck['stream']> | undefined;
  readonly masked: MaskedValues | undefined;
  /** Restores what is masked. */
  readonly restorer: Restorer | undefined;
  readonly scrubber: Scrubber;
}

/** What the events of a streamed answer go through, in order. */
export function streamStages({ rules, masked, restorer, scrubber }: StreamNeeds): readonly Stage[] {
  const stages: Stage[] = [];
  // The rules judge what the provider said, with each placeholder in one piece.
  if (rules !== undefined && masked !== undefined)
    stages.push(new StreamRestorer(Restorer.gathering(masked)));
  if (rules !== undefined) stages.push(new RulesStage(rules));
  if (restorer !== undefined) stages.push(new StreamRestorer(restorer));
  stages.push(new SecretStage(scrubber));
  return stages;
}

/** The rules on answers as a stage: it reads events in the client's dialect. Throws policy.blocked. */
export class RulesStage implements Stage {
  readonly #check: StreamCheck;

  constructor(check: StreamCheck) {
    this.#check = check;
  }

  passes(): boolean {
    return false;
  }

  push(events: readonly StreamEvent[]): readonly StreamEvent[] {
    for (const event of events) this.#check.push(event);
    return this.#take();
  }

  end(): readonly StreamEvent[] {
    this.#check.end();
    return this.#take();
  }

  #take(): readonly StreamEvent[] {
    const { release, refusal } = this.#check.take();
    if (refusal === undefined) return release;
    throw new GatewayError('policy.blocked', refusal.message, { reason: refusal.reason });
  }
}

/** Characters with which a secret may begin that are not held back: they say nothing. */
const maxSentLength = 2;
/** Maximum characters of events that are held back. */
const heldLimit = 65_536;

/**
 * Removes secrets that a provider splits: over the pieces of a text, and over texts that clients join. What is
 * in one piece is scrubbed from the bytes. Events are read only where one may begin or go on, so that others pass as
 * they came.
 */
export class SecretStage implements Stage {
  readonly #scrubber: Scrubber;
  readonly #held = new HeldEvents();
  /** The texts that have come since something might have begun. */
  readonly #texts = new Map<string, SecretText>();
  /** Those of them that may end with the beginning of a secret. */
  readonly #open = new Set<SecretText>();

  constructor(scrubber: Scrubber) {
    this.#scrubber = scrubber;
  }

  passes(events: string): boolean {
    return this.#open.size === 0 && !this.#scrubber.mayBegin(events);
  }

  push(events: readonly StreamEvent[]): readonly StreamEvent[] {
    for (const event of events) this.#add(event);
    const released = this.#held.release();
    // Whatever goes on later is seen to begin in its middle.
    if (this.#open.size === 0) this.#texts.clear();
    return released;
  }

  end(): readonly StreamEvent[] {
    for (const text of this.#open) text.end();
    this.#open.clear();
    return this.#held.release();
  }

  #add(event: StreamEvent): void {
    const { object } = event;
    if (object === undefined) return this.#held.add(event, []);
    const { parts } = event.reading;
    const pieces = parts.flatMap((part): HeldPiece[] => {
      const ranges = part.text === undefined ? this.#rangesOf(part, event.textOf(part)) : [];
      return ranges.length === 0 ? [] : [{ part, ranges }];
    });
    const inParts = new Set(parts.map(({ entry }) => entry));
    for (const [entry, text] of this.#scrubber.across(object, (entry) => inParts.has(entry)))
      event.change(entry, text);
    this.#held.add(event, pieces);
    if (this.#held.size > heldLimit) for (const text of this.#open) text.end();
  }

  /**
   * In its own text, joined with others of its kind (of further blocks, or of further parts), and with those of other
   * kinds: some clients show thoughts and texts one after the other.
   */
  #rangesOf({ channel, joinGroup }: StreamPart, piece: string): readonly HeldRange[] {
    if (piece === '') return [];
    const own = this.#addTo(channel, piece);
    if (joinGroup === undefined) return [own];
    const ofKind = this.#addTo(`${joinGroup}~${channel.replace(/\d+/g, '')}`, piece);
    return [own, ofKind, this.#addTo(`${joinGroup}~`, piece)];
  }

  #addTo(name: string, piece: string): HeldRange {
    let text = this.#texts.get(name);
    if (text === undefined) {
      text = new SecretText(this.#scrubber);
      this.#texts.set(name, text);
    }
    const range = text.add(piece);
    if (text.isOpen) this.#open.add(text);
    else this.#open.delete(text);
    return range;
  }
}

/** A text in which secrets are replaced, from some position on. */
class SecretText {
  readonly #text = new HeldText();
  readonly #scrubber: Scrubber;
  /** Length of its end that may be the beginning of a secret. */
  begun = 0;
  /** Up to where the last secret was found. */
  #found = 0;

  constructor(scrubber: Scrubber) {
    this.#scrubber = scrubber;
  }

  /** Whether what comes next may complete one. One character is not enough, but for the second one. */
  get isOpen(): boolean {
    return this.begun > 1 || (this.begun === 1 && this.#text.length === 1);
  }

  add(piece: string): HeldRange {
    const text = this.#text;
    const from = Math.max(this.#found, text.length - this.begun);
    const start = text.add(piece);
    const searched = text.slice(from, text.length);
    for (const found of this.#scrubber.secretsIn(searched, { isMiddle: from === 0 })) {
      const end = from + found.end;
      this.#found = Math.max(this.#found, end);
      text.change({ start: from + found.start, end, label: '[secret]' });
    }
    const rest = text.slice(Math.max(from, this.#found), text.length);
    this.begun = this.#scrubber.begunLength(rest, { isMiddle: this.#found === 0 && from === 0 });
    text.release(this.begun > maxSentLength ? text.length - this.begun : text.length);
    text.forget(text.length - this.begun, 1_024);
    return { text, start, end: text.length };
  }

  /** The text ends: most of a secret is as good as one. */
  end(): void {
    const text = this.#text;
    if (this.#scrubber.isMost(text.slice(text.length - this.begun, text.length)))
      text.change({ start: text.length - this.begun, end: text.length, label: '[secret]' });
    text.release(text.length);
  }
}
