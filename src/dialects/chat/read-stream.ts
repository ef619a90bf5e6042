import type { StreamReader, StreamSink } from '../conversation.ts';
import { parseFailure } from '../failure.ts';
import { brokenAnswer, type Fields, isFields, parseEventData, toFields, toText } from '../fields.ts';
import { parseFinish, parseStopSequence, toArguments, toContentText } from './answer.ts';
import { parseChatUsage } from './usage.ts';

/** Reads a provider's Chat stream, in all the variants that hosts send. */
export function createChatReader(sink: StreamSink): StreamReader {
  const calls = createChatCalls(sink);
  let reason: string | undefined;
  let stopSequence: string | undefined;

  function complete(): void {
    sink.start();
    calls.flush();
    if (stopSequence === undefined) sink.complete(parseFinish(reason, calls.count() > 0));
    else sink.complete('sequence', stopSequence);
  }

  function readDelta(delta: Fields): void {
    const thinking = toText(delta.reasoning_content) || toText(delta.reasoning);
    if (thinking !== '') sink.thinking(thinking);
    const { content } = delta;
    const text = typeof content === 'string' ? content : toContentText(content);
    if (text !== '') sink.text(text);
    const refusal = toText(delta.refusal);
    if (refusal !== '') sink.refusal(refusal);
    if (Array.isArray(delta.tool_calls)) calls.read(delta.tool_calls);
    else if (isFields(delta.function_call)) calls.read([{ index: 0, function: delta.function_call }]);
  }

  function readChoices(choices: unknown): void {
    if (!Array.isArray(choices)) return;
    for (const entry of choices) {
      const choice = toFields(entry);
      // Only one answer was asked for; a host that sends more must not have them mixed into one.
      if (typeof choice.index === 'number' && choice.index !== 0) continue;
      readDelta(toFields(choice.delta ?? choice.message));
      reason = toText(choice.finish_reason) || reason;
      stopSequence = parseStopSequence(choice) ?? stopSequence;
    }
  }

  return {
    event(_name, data) {
      if (data === '') return;
      if (data.startsWith('[DONE]')) {
        complete();
        return;
      }
      const chunk = parseEventData(data);
      if (chunk.error !== undefined && chunk.error !== null) {
        sink.fail(parseFailure(chunk));
        return;
      }
      sink.start();
      const usage = parseChatUsage(chunk.usage);
      if (usage !== undefined) sink.usage(usage);
      readChoices(chunk.choices);
    },
    end() {
      // Some hosts close without `[DONE]`; only the reason distinguishes a finished answer from a cut one.
      if (reason === undefined) throw brokenAnswer('ended before its last event');
      complete();
    },
  };
}

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
function createChatCalls(sink: StreamSink) {
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
