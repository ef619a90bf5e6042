import { JsonProgress } from '../../json/json-progress.ts';
import type { StreamReader, StreamSink } from '../conversation.ts';
import { parseFailure } from '../failure.ts';
import { brokenAnswer, type Fields, isFields, parseEventData, toFields, toText } from '../fields.ts';
import { parseFinishWord } from '../translation/finish-words.ts';
import type { Seal } from '../translation/seals.ts';
import { parseSignature, parseStopSequence, toArguments, toContentText, toThinking } from './answer.ts';
import { createDetails } from './reasoning-details.ts';
import { parseChatUsage } from './usage.ts';

/** Reads a provider's Chat stream, in all the variants that hosts send. */
export function createChatReader(sink: StreamSink): StreamReader {
  const calls = createChatCalls(sink);
  let reason: string | undefined;
  let stopSequence: string | undefined;
  let details: ReturnType<typeof createDetails> | undefined;

  function complete(): void {
    sink.start();
    sealThought();
    calls.flush();
    if (stopSequence === undefined) sink.complete(parseFinishWord(reason, calls.count() > 0));
    else sink.complete('sequence', stopSequence);
  }

  function readDelta(delta: Fields): void {
    readThinking(delta);
    const { content } = delta;
    const text = typeof content === 'string' ? content : toContentText(content);
    if (text !== '') {
      sealThought();
      sink.text(text);
    }
    const refusal = toText(delta.refusal);
    if (refusal !== '') sink.refusal(refusal);
    if (Array.isArray(delta.tool_calls)) {
      sealThought();
      calls.read(delta.tool_calls);
    } else if (isFields(delta.function_call)) calls.read([{ index: 0, function: delta.function_call }]);
  }

  function readThinking(delta: Fields): void {
    const thinking = toThinking(delta);
    if (thinking !== '') sink.thinking(thinking);
    if (delta.reasoning_details === undefined) return;
    details ??= createDetails();
    details.thought(thinking);
    details.add(delta.reasoning_details);
  }

  /** What is encrypted may come after a call that it is of. */
  function sealThought(): void {
    const seal = details?.take();
    if (seal !== undefined) sink.seal(seal);
  }

  function readChoices(choices: unknown): void {
    if (!Array.isArray(choices)) return;
    for (const entry of choices) {
      const choice = toFields(entry);
      // Only one answer was asked for; a host that sends more must not have them mixed into one.
      if (typeof choice.index === 'number' && choice.index !== 0) continue;
      if (isFields(choice.error)) {
        sink.fail(parseFailure(choice));
        return;
      }
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
      const usage = parseChatUsage(chunk);
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

interface OpenCall {
  readonly index: number;
  id: string;
  name: string;
  seal: Seal | undefined;
  isStarted: boolean;
  /** Input that waits: for the name, or because a lone `{}` may be a host's way to begin. */
  early: string;
  progress: JsonProgress;
}

/**
 * The calls of a Chat stream. Their `index` is the key, by the specification; but some hosts leave it out, or give all
 * calls the same one: there another id together with a name, or a name after complete arguments, begins a new call.
 * Repeated ids and names are ignored.
 */
function createChatCalls(sink: StreamSink) {
  const byIndex = new Map<number, OpenCall>();
  const byId = new Map<string, OpenCall>();
  const calls: OpenCall[] = [];

  function find(piece: Fields): OpenCall {
    const { index } = piece;
    const id = toText(piece.id);
    if (typeof index === 'number') {
      const known = byIndex.get(index);
      if (known !== undefined && !isAnother(known, piece)) return known;
      const call = add();
      byIndex.set(index, call);
      return call;
    }
    const sameId = id === '' ? undefined : byId.get(id);
    if (sameId !== undefined && !isAnother(sameId, piece)) return sameId;
    const last = calls.at(-1);
    if (last === undefined || id !== '' || isAnother(last, piece)) return add();
    return last;
  }

  /**
   * Whether a piece is of another call than the one that its index or id says: it has a name, and another id, or it comes
   * after complete arguments. What some hosts repeat in each piece has the same name, and no more arguments.
   */
  function isAnother(known: OpenCall, { id, function: called }: Fields): boolean {
    const { name, arguments: input } = toFields(called);
    if (toText(name) === '') return false;
    const isOther = toText(id) !== '' && known.id !== '' && id !== known.id;
    if (isOther || known.name === '' || !known.progress.isComplete) return isOther;
    return (
      toText(id) === '' || name !== known.name || (toArguments(input) !== '' && known.early !== emptyInput)
    );
  }

  function add(): OpenCall {
    const before = calls.at(-1);
    if (before?.isStarted === true) sendInput(before);
    const call: OpenCall = {
      index: calls.length,
      id: '',
      name: '',
      seal: undefined,
      isStarted: false,
      early: '',
      progress: new JsonProgress(),
    };
    calls.push(call);
    return call;
  }

  function begin(call: OpenCall): void {
    call.isStarted = true;
    sink.callStart({ index: call.index, id: call.id, name: call.name, kind: 'function', seal: call.seal });
  }

  function addInput(call: OpenCall, input: string): void {
    if (input === '') return;
    if (call.early === emptyInput) {
      call.early = '';
      call.progress = new JsonProgress();
    }
    call.progress.add(input);
    call.early += input;
    if (call.isStarted && call.early !== emptyInput) sendInput(call);
  }

  function sendInput(call: OpenCall): void {
    if (call.early !== '') sink.callInput(call.index, call.early);
    call.early = '';
  }

  function readPiece(piece: Fields): void {
    const call = find(piece);
    const nested = toFields(piece.function);
    if (!call.isStarted) {
      call.id ||= toText(piece.id);
      call.name ||= toText(nested.name);
      if (call.id !== '') byId.set(call.id, call);
      const signature = parseSignature(piece);
      if (signature !== '') call.seal = { of: 'call', data: signature };
      if (call.name !== '') begin(call);
    }
    addInput(call, toArguments(nested.arguments));
  }

  return {
    read(pieces: readonly unknown[]): void {
      for (const piece of pieces) readPiece(toFields(piece));
    },
    /** Starts the calls whose name never came: an error at the client is better than a lost call. */
    flush(): void {
      for (const call of calls) {
        if (!call.isStarted) begin(call);
        sendInput(call);
      }
    },
    count: () => calls.length,
  };
}

/** A call without arguments, or what some hosts send before the arguments. */
const emptyInput = '{}';
