import { hash } from 'node:crypto';
import { fieldOf } from '../dialects/dialect.ts';
import { kinds } from '../json/json-document.ts';
import type { Subject } from './rule.ts';

/** The largest size that each conversation has had, in tokens, by its id; plain data. */
export type PeakSizes = ReadonlyMap<string, number>;

/** What is to be remembered of a conversation that conditions on its size may move. */
export interface ConversationSize {
  readonly id: string;
  /** Its peak in tokens; absent if it is not over any bound, so that there is nothing to remember. */
  readonly peakTokens?: number;
}

/**
 * A digest of whose conversation it is, and how it begins: an agent sends several within one session, and begins another
 * when it compacts one. Undefined without a session: then nothing says that two requests belong together.
 */
export function conversationId({ document, dialect, key, model, sender }: Subject): string | undefined {
  if (sender?.session === undefined) return undefined;
  const turns = fieldOf(document, dialect, 'turns');
  if (turns === undefined) return undefined;
  const isList = document.kind(turns) === kinds.array && document.next(turns) > turns + 1;
  const first = isList ? turns + 1 : turns;
  const beginning = hash(
    'sha256',
    document.bytes.subarray(document.start(first), document.end(first)),
    'base64',
  );
  return hash('sha256', JSON.stringify([key, model, sender.session, sender.subagent, beginning]), 'base64');
}

/** About 100 bytes each. */
const maxConversations = 1_000;

/** The peaks of this process; of too many conversations those are forgotten that were not heard of for longest. */
export class Conversations {
  readonly #peaks = new Map<string, number>();

  get peaks(): PeakSizes {
    return this.#peaks;
  }

  note({ id, peakTokens }: ConversationSize): void {
    this.#peaks.delete(id);
    if (peakTokens === undefined) return;
    this.#peaks.set(id, peakTokens);
    const [oldest] = this.#peaks.keys();
    if (this.#peaks.size > maxConversations && oldest !== undefined) this.#peaks.delete(oldest);
  }
}
