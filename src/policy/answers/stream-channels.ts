import type { PatternSet } from '../automaton/pattern-set.ts';
import { type ChannelRange, StreamChannel } from './stream-channel.ts';
import type { StreamPart } from './stream-parts.ts';

/** The channels of a stream. */
export class StreamChannels {
  readonly #patternSet: PatternSet;
  /** The patterns that rules on answers search for. */
  readonly #numbers: readonly number[];
  readonly #channels = new Map<string, StreamChannel>();
  /** For each group of joined channels, the channel of its last text. */
  readonly #last = new Map<string, string>();

  constructor(patternSet: PatternSet, numbers: readonly number[]) {
    this.#patternSet = patternSet;
    this.#numbers = numbers;
  }

  /** All channels by name. */
  entries(): Iterable<[string, StreamChannel]> {
    return this.#channels;
  }

  /**
   * Adds a text to its channel. Texts of adjacent blocks are also read joined, with nothing and with a space, in two
   * further channels that span all of them.
   */
  add({ channel: name, isWhole, joinGroup }: StreamPart, text: string): readonly ChannelRange[] {
    if (text === '') return [];
    const own = append(this.#channel(name, isWhole), text);
    if (joinGroup === undefined) return [own];
    const spaced = this.#channel(`${joinGroup}spaced`, false);
    const last = this.#last.get(joinGroup);
    if (last !== undefined && last !== name) spaced.add(' ');
    this.#last.set(joinGroup, name);
    return [own, append(this.#channel(`${joinGroup}joined`, false), text), append(spaced, text)];
  }

  #channel(name: string, isWhole: boolean): StreamChannel {
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = new StreamChannel(this.#patternSet, { isWhole, numbers: this.#numbers });
      this.#channels.set(name, channel);
    }
    return channel;
  }
}

function append(channel: StreamChannel, text: string): ChannelRange {
  const start = channel.length;
  channel.add(text);
  return { channel, start, end: channel.length };
}
