import { JsonProgress } from '../../json/json-progress.ts';
import type { CallKind, StreamReader, StreamSink } from '../conversation.ts';
import { errorInside, parseFailure } from '../failure.ts';
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
  /** What the model has thought before any details came: few hosts send them, and only these need its digest. */
  let undetailed = '';

  function complete(): void {
    sink.start();
    sealThought();
    calls.flush();
    const word = stopSequence === undefined ? reason : 'stop_sequence';
    sink.complete(parseFinishWord(word, calls.count() > 0), stopSequence);
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
    if (details?.isOther(delta.reasoning_details) === true) sealThought();
    if (thinking !== '') sink.thinking(thinking);
    if (details === undefined && delta.reasoning_details === undefined) {
      undetailed += thinking;
      return;
    }
    details ??= createDetails(undetailed);
    details.thought(thinking);
    details.add(delta.reasoning_details);
  }

  /** What is encrypted may come after a call that it is of. */
  function sealThought(): void {
    const seal = details?.take();
    undetailed = '';
    if (seal !== undefined) sink.seal(seal);
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
      const failed = errorInside(chunk);
      if (failed !== undefined) {
        sink.fail(parseFailure(failed.error));
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
  readonly kind: CallKind;
  id: string;
  name: string;
  seal: Seal | undefined;
  isStarted: boolean;
  /** Input that waits: for the name, or because a lone `{}` may be a host's way to begin. */
  early: string;
  progress: JsonProgress;
}

/** What a call of Chat holds besides its id: a function's name and arguments, or a custom tool's name and input. */
export function nestedOf({ function: called, custom }: Fields): Fields {
  return toFields(called ?? custom);
}

function inputOf({ arguments: input, input: text }: Fields): string {
  return toArguments(input ?? text);
}

/**
 * The calls of a Chat stream. Their `index` is the key, by the specification; but some hosts leave it out, or give all
 * calls the same one: there another id together with a name, or a name after complete arguments, begins a new call.
 * Repeated ids and names are ignored.
 */
export function createChatCalls(sink: Pick<StreamSink, 'callStart' | 'callInput'>) {
  const byIndex = new Map<number, OpenCall>();
  const byId = new Map<string, OpenCall>();
  const calls: OpenCall[] = [];

  function find(piece: Fields): OpenCall {
    const { index } = piece;
    const id = toText(piece.id);
    if (typeof index === 'number') {
      const known = byIndex.get(index);
      if (known !== undefined && !isAnother(known, piece)) return known;
      const call = add(piece);
      byIndex.set(index, call);
      return call;
    }
    const sameId = id === '' ? undefined : byId.get(id);
    if (sameId !== undefined && !isAnother(sameId, piece)) return sameId;
    const last = calls.at(-1);
    if (last === undefined || id !== '' || isAnother(last, piece)) return add(piece);
    return last;
  }

  /**
   * Whether a piece is of another call than the one that its index or id says: it has a name, and another id, or it comes
   * after complete arguments. What some hosts repeat in each piece has the same name, and no more arguments.
   */
  function isAnother(known: OpenCall, piece: Fields): boolean {
    const { id } = piece;
    const nested = nestedOf(piece);
    if (toText(nested.name) === '') return false;
    const isOther = toText(id) !== '' && known.id !== '' && id !== known.id;
    if (isOther || known.name === '' || known.kind === 'custom' || !known.progress.isComplete) return isOther;
    return (
      toText(id) === '' ||
      nested.name !== known.name ||
      (inputOf(nested) !== '' && known.early !== emptyInput)
    );
  }

  function add(piece: Fields): OpenCall {
    const before = calls.at(-1);
    if (before?.isStarted === true) sendInput(before);
    const call: OpenCall = {
      index: calls.length,
      kind: isFields(piece.custom) ? 'custom' : 'function',
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
    sink.callStart({ index: call.index, id: call.id, name: call.name, kind: call.kind, seal: call.seal });
  }

  function addInput(call: OpenCall, input: string): void {
    if (input === '') return;
    if (isEmptyInput(call)) {
      call.early = '';
      call.progress = new JsonProgress();
    }
    call.progress.add(input);
    call.early += input;
    if (call.isStarted && !isEmptyInput(call)) sendInput(call);
  }

  function sendInput(call: OpenCall): void {
    if (call.early !== '') sink.callInput(call.index, call.early);
    call.early = '';
  }

  function readPiece(piece: Fields): number {
    const call = find(piece);
    const nested = nestedOf(piece);
    if (!call.isStarted) {
      call.id ||= toText(piece.id);
      call.name ||= toText(nested.name);
      if (call.id !== '') byId.set(call.id, call);
      const signature = parseSignature(piece);
      if (signature !== '') call.seal = { of: 'call', data: signature };
      if (call.name !== '') begin(call);
    }
    addInput(call, inputOf(nested));
    return call.index;
  }

  return {
    /** Returns the call's index among the calls. */
    readPiece,
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

function isEmptyInput({ kind, early }: OpenCall): boolean {
  return kind === 'function' && early === emptyInput;
}
