import { JsonProgress } from '../../json/json-progress.ts';
import type { CallStart } from '../conversation.ts';
import { brokenAnswer } from '../fields.ts';

interface BlockOutput {
  openText(): void;
  openThinking(): void;
  openCall(call: CallStart): void;
  /** A block of its own, for a seal without a text. */
  sealed(data: string): void;
  piece(text: string): void;
  /** With the seal of a thought. */
  close(seal: string | undefined): void;
}

interface QueuedBlock {
  readonly kind: 'text' | 'thinking' | 'sealed' | 'call';
  readonly call?: CallStart;
  seal?: string;
  /** What came before it was shown. */
  input: string;
  /** The part of a call's input that has not gone through `progress`. */
  unread: string;
  readonly progress: JsonProgress;
  isEnded: boolean;
}

/**
 * Writes one block at a time without losing anything: while a call's arguments are incomplete, what arrives in between
 * (another call's pieces, text) waits and follows in one piece. Streams whose calls come one after the other never
 * wait, because a call's arguments are complete when the next one starts.
 */
export class BlockQueue {
  readonly #output: BlockOutput;
  #open: QueuedBlock | undefined;
  /** In order; those before `#first` were shown, because taking them out one by one would move all others each time. */
  #waiting: QueuedBlock[] = [];
  #first = 0;
  /** Calls whose input may go on, by their index. */
  readonly #calls = new Map<number, QueuedBlock>();

  constructor(output: BlockOutput) {
    this.#output = output;
  }

  add(kind: 'text' | 'thinking', text: string): void {
    if (text === '') return;
    if (this.#open?.kind === kind && this.#open.seal === undefined && !this.#isWaiting) {
      this.#output.piece(text);
      return;
    }
    const last = this.#waiting.at(-1);
    if (last?.kind === kind && last.seal === undefined) last.input += text;
    else this.#enter(newBlock(kind, text));
  }

  /** Ends the thought before it, which may have no text. */
  seal(data: string): void {
    const thought = this.#waiting.at(-1) ?? this.#open;
    if (thought?.kind === 'thinking' && thought.seal === undefined) thought.seal = data;
    else this.#enter(newBlock('sealed', data));
  }

  startCall(call: CallStart, seal?: string): void {
    if (seal !== undefined) this.#enter(newBlock('sealed', seal));
    const block = { ...newBlock('call', ''), call };
    this.#calls.set(call.index, block);
    this.#enter(block);
  }

  addInput(index: number, piece: string): void {
    if (piece === '') return;
    const block = this.#calls.get(index);
    if (block === undefined) {
      // A complete object can only be followed by white space.
      if (piece.trim() !== '') throw brokenAnswer('continues a tool call that was complete');
      return;
    }
    block.unread += piece;
    if (block !== this.#open) {
      block.input += piece;
      return;
    }
    this.#output.piece(piece);
    if (this.#isWaiting) this.#advance();
  }

  endCall(index: number): void {
    const block = this.#calls.get(index);
    if (block === undefined) return;
    block.isEnded = true;
    if (block !== this.#open) return;
    this.#close();
    this.#advance();
  }

  finish(): void {
    this.#close();
    for (let block = this.#next(); block !== undefined; block = this.#next()) {
      this.#show(block);
      this.#close();
    }
  }

  #enter(block: QueuedBlock): void {
    if (this.#isWaiting || (this.#open !== undefined && isBusy(this.#open))) {
      this.#waiting.push(block);
      return;
    }
    this.#close();
    this.#show(block);
  }

  #advance(): void {
    while (this.#isWaiting && (this.#open === undefined || !isBusy(this.#open))) {
      this.#close();
      const next = this.#next();
      if (next !== undefined) this.#show(next);
    }
  }

  get #isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  #next(): QueuedBlock | undefined {
    const block = this.#waiting[this.#first];
    this.#first += 1;
    if (this.#first < this.#waiting.length) return block;
    this.#waiting = [];
    this.#first = 0;
    return block;
  }

  #show(block: QueuedBlock): void {
    if (block.kind === 'sealed') {
      this.#output.sealed(block.input);
      return;
    }
    if (block.kind === 'text') this.#output.openText();
    else if (block.kind === 'thinking') this.#output.openThinking();
    else if (block.call !== undefined) this.#output.openCall(block.call);
    if (block.input !== '') this.#output.piece(block.input);
    this.#open = block;
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.#output.close(this.#open.seal);
    if (this.#open.call !== undefined) this.#calls.delete(this.#open.call.index);
    this.#open = undefined;
  }
}

/** Whether more input may follow, as far as its arguments show. */
function isBusy(block: QueuedBlock): boolean {
  if (block.kind !== 'call' || block.isEnded) return false;
  block.progress.add(block.unread);
  block.unread = '';
  return !block.progress.isComplete;
}

function newBlock(kind: QueuedBlock['kind'], input: string): QueuedBlock {
  return { kind, input, unread: '', progress: new JsonProgress(), isEnded: false };
}
