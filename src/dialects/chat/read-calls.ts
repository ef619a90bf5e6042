import type { StreamSink } from '../conversation.ts';
import { type Fields, toFields, toText } from '../fields.ts';
import { toArguments } from './parse-answer.ts';

interface Call {
  readonly index: number;
  id: string;
  name: string;
  isStarted: boolean;
  /** Input that came before the name. */
  early: string;
}

/**
 * The calls of a Chat stream. Their `index` is the only key; hosts that leave it out are keyed by id, and
 * without one by the order of names. Repeated ids and names are ignored.
 */
export function createChatCalls(sink: StreamSink) {
  const byIndex = new Map<number, Call>();
  const calls: Call[] = [];

  function find(piece: Fields): Call {
    const { index } = piece;
    if (typeof index === 'number') {
      const known = byIndex.get(index) ?? add();
      byIndex.set(index, known);
      return known;
    }
    const id = toText(piece.id);
    const sameId = id === '' ? undefined : calls.find((call) => call.id === id);
    if (sameId !== undefined) return sameId;
    const isNew = id !== '' || toText(toFields(piece.function).name) !== '';
    return (isNew ? undefined : calls.at(-1)) ?? add();
  }

  function add(): Call {
    const call = { index: calls.length, id: '', name: '', isStarted: false, early: '' };
    calls.push(call);
    return call;
  }

  function begin(call: Call): void {
    call.isStarted = true;
    sink.callStart({ index: call.index, id: call.id, name: call.name, kind: 'function' });
    if (call.early !== '') sink.callInput(call.index, call.early);
  }

  function readPiece(piece: Fields): void {
    const call = find(piece);
    const nested = toFields(piece.function);
    const input = toArguments(nested.arguments);
    if (call.isStarted) {
      if (input !== '') sink.callInput(call.index, input);
      return;
    }
    call.id ||= toText(piece.id);
    call.name ||= toText(nested.name);
    call.early += input;
    if (call.name !== '') begin(call);
  }

  return {
    read(pieces: readonly unknown[]): void {
      for (const piece of pieces) readPiece(toFields(piece));
    },
    /** Starts the calls whose name never came: an error at the client is better than a lost call. */
    flush(): void {
      for (const call of calls) if (!call.isStarted) begin(call);
    },
    count: () => calls.length,
  };
}
