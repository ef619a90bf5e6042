import type { CallStart } from '../conversation.ts';
import { brokenAnswer } from '../fields.ts';
import { createJsonProgress } from '../translation/json-progress.ts';

export interface BlockOutput {
  openText(): void;
  openThinking(): void;
  openCall(call: CallStart): void;
  piece(text: string): void;
  close(): void;
}

interface Block {
  readonly kind: 'text' | 'thinking' | 'call';
  readonly call?: CallStart;
  /** All of the input so far; `checked` of it has gone through `progress`. */
  input: string;
  checked: number;
  readonly progress: ReturnType<typeof createJsonProgress>;
  isEnded: boolean;
}

/**
 * Writes one block at a time without losing anything: while a call's arguments are incomplete, what arrives in between
 * (another call's pieces, text) waits and follows in one piece. Streams whose calls come one after the other never
 * wait, because a call's arguments are complete when the next one starts.
 */
export function createBlockQueue(output: BlockOutput) {
  let open: Block | undefined;
  const waiting: Block[] = [];

  function isBusy(block: Block): boolean {
    if (block.kind !== 'call' || block.isEnded) return false;
    block.progress.add(block.input.slice(block.checked));
    block.checked = block.input.length;
    return !block.progress.isComplete();
  }

  function show(block: Block): void {
    if (block.kind === 'text') output.openText();
    else if (block.kind === 'thinking') output.openThinking();
    else if (block.call !== undefined) output.openCall(block.call);
    if (block.input !== '') output.piece(block.input);
    open = block;
  }

  function close(): void {
    if (open !== undefined) output.close();
    open = undefined;
  }

  function enter(block: Block): void {
    if (waiting.length > 0 || (open !== undefined && isBusy(open))) {
      waiting.push(block);
      return;
    }
    close();
    show(block);
  }

  function advance(): void {
    while (waiting.length > 0 && (open === undefined || !isBusy(open))) {
      close();
      const next = waiting.shift();
      if (next !== undefined) show(next);
    }
  }

  function find(index: number): Block | undefined {
    if (open?.call?.index === index) return open;
    return waiting.find((block) => block.call?.index === index);
  }

  return {
    add(kind: 'text' | 'thinking', text: string): void {
      if (text === '') return;
      if (open?.kind === kind && waiting.length === 0) {
        output.piece(text);
        return;
      }
      const last = waiting.at(-1);
      if (last?.kind === kind) last.input += text;
      else enter(newBlock(kind, text));
    },
    startCall(call: CallStart): void {
      enter({ ...newBlock('call', ''), call });
    },
    addInput(index: number, piece: string): void {
      if (piece === '') return;
      const block = find(index);
      if (block === undefined) {
        // A complete object can only be followed by white space.
        if (piece.trim() !== '') throw brokenAnswer('goes on with a tool call that was complete');
        return;
      }
      block.input += piece;
      if (block !== open) return;
      output.piece(piece);
      if (waiting.length > 0) advance();
    },
    endCall(index: number): void {
      const block = find(index);
      if (block === undefined) return;
      block.isEnded = true;
      if (block !== open) return;
      close();
      advance();
    },
    finish(): void {
      close();
      for (const block of waiting.splice(0)) {
        show(block);
        close();
      }
    },
  };
}

function newBlock(kind: Block['kind'], input: string): Block {
  return { kind, input, checked: 0, progress: createJsonProgress(), isEnded: false };
}
