import type { StreamPart } from '../../dialects/stream-parts.ts';
import type { PieceReader } from '../automaton/piece-reader.ts';
import type { HeldRange } from '../streams/stream-event.ts';
import type { ChannelRules } from './channel-rules.ts';
import { type RuleChange, StreamChannel } from './stream-channel.ts';

/** The channels of a stream. */
export class StreamChannels {
  readonly #rules: ChannelRules;
  readonly #reader: PieceReader;
  readonly #channels = new Map<string, StreamChannel>();
  /** Those that have not ended, by the first part of their names, with its dot. */
  readonly #open = new Map<string, Set<StreamChannel>>();
  /** For each group of joined channels, the channel of its last text. */
  readonly #last = new Map<string, string>();
  /** Those that have changed since they were searched last. */
  readonly #changed = new Set<StreamChannel>();

  constructor(rules: ChannelRules, reader: PieceReader) {
    this.#rules = rules;
    this.#reader = reader;
  }

  /**
   * Adds a text to its channel. Texts of adjacent blocks are also read joined, with nothing and with a space, in two
   * further channels that span all of them.
   */
  add({ channel: name, needsWhole, joinGroup }: StreamPart, text: string): readonly HeldRange<RuleChange>[] {
    if (text === '') return [];
    const own = this.#append(name, text, needsWhole);
    if (joinGroup === undefined) return [own];
    const last = this.#last.get(joinGroup);
    const isNext = last !== undefined && last !== name;
    this.#last.set(joinGroup, name);
    const joined = this.#append(`${joinGroup}joined`, text, false);
    if (isNext) this.#append(`${joinGroup}spaced`, ' ', false);
    return [own, joined, this.#append(`${joinGroup}spaced`, text, false)];
  }

  /** Ends the channels whose names begin with the first part of a name; all of them if it is empty. */
  close(beginning: string): void {
    const ended = beginning === '' ? [...this.#open.keys()] : [beginning];
    for (const each of ended) {
      for (const channel of this.#open.get(each) ?? []) {
        channel.close();
        this.#changed.add(channel);
      }
      this.#open.delete(each);
    }
  }

  /** Those that have changed since the last call. */
  *changed(): Iterable<StreamChannel> {
    yield* this.#changed;
    this.#changed.clear();
  }

  #append(name: string, text: string, needsWhole: boolean): HeldRange<RuleChange> {
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = new StreamChannel(this.#rules, this.#reader, { needsWhole });
      this.#channels.set(name, channel);
      this.#setOpen(name, channel);
    } else if (channel.isClosed) this.#setOpen(name, channel);
    const start = channel.text.length;
    channel.add(text);
    this.#changed.add(channel);
    return { text: channel.text, start, end: channel.text.length };
  }

  #setOpen(name: string, channel: StreamChannel): void {
    const beginning = name.slice(0, name.indexOf('.') + 1);
    const open = this.#open.get(beginning);
    if (open === undefined) this.#open.set(beginning, new Set([channel]));
    else open.add(channel);
  }
}
