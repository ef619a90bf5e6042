import type { AnswerPart, CallStart, StreamReader, StreamSink, StreamWriter } from '../conversation.ts';
import { errorInside, parseFailure } from '../failure.ts';
import { brokenAnswer, type Fields, parseEventData, toFields, toList, toText } from '../fields.ts';
import { blankLine, type WriteEvent } from '../sse.ts';
import type { TranslationContext } from '../translation/context.ts';
import { parseFinishWord } from '../translation/finish-words.ts';
import { answerHead, buildAnswerPart, finishReasons, parseAnswerPart } from './answer.ts';
import { geminiErrorEvent } from './errors.ts';
import { isBlocked } from './finishes.ts';
import { buildGeminiUsage, parseGeminiUsage } from './usage.ts';

/** Reads a provider's stream: every event is a whole answer with the next parts in it, a call in one piece. */
export function createGeminiReader(sink: StreamSink): StreamReader {
  let reason: string | undefined;
  let calls = 0;

  function read(part: AnswerPart): void {
    if (part.kind !== 'call') {
      if (part.text !== '') sink[part.kind](part.text);
      return;
    }
    const { input, ...call } = part.call;
    sink.callStart({ ...call, index: calls });
    sink.callInput(calls, input);
    sink.callEnd(calls);
    calls += 1;
  }

  function readCandidate(candidate: Fields): void {
    for (const part of toList(toFields(candidate.content).parts)) parseAnswerPart(part).forEach(read);
    reason = toText(candidate.finishReason) || reason;
  }

  return {
    event(_name, data) {
      const event = parseEventData(data);
      if (errorInside(event) !== undefined) {
        sink.fail(parseFailure(event));
        return;
      }
      sink.start();
      const usage = parseGeminiUsage(event.usageMetadata);
      if (usage !== undefined) sink.usage(usage);
      if (isBlocked(event)) reason ??= 'SAFETY';
      // Only one answer was asked for.
      const own = toList(event.candidates)
        .map(toFields)
        .find(({ index = 0 }) => index === 0);
      if (own !== undefined) readCandidate(own);
    },
    end() {
      if (reason === undefined) throw brokenAnswer('ended before its last event');
      sink.complete(parseFinishWord(reason, calls > 0));
    },
  };
}

/** Writes a stream. A call is written when its input is complete, because it has to be an object. */
export function createGeminiWriter(
  context: TranslationContext,
  _echo: Fields,
  write: WriteEvent,
): StreamWriter {
  const head = answerHead(context);
  const open = new Map<number, CallStart & { input: string }>();
  let isRefused = false;

  function emit(candidate: Fields, more: Fields = {}): void {
    write(undefined, JSON.stringify({ candidates: [{ ...candidate, index: 0 }], ...more, ...head }));
  }

  function say(part: AnswerPart): void {
    emit({ content: { parts: [buildAnswerPart(part, context)], role: 'model' } });
  }

  function endCall(index: number): void {
    const call = open.get(index);
    open.delete(index);
    if (call !== undefined) say({ kind: 'call', call });
  }

  return {
    start() {},
    thinking: (text) => say({ kind: 'thinking', text }),
    seal: (seal) => say({ kind: 'thinking', text: '', seal }),
    text: (text) => say({ kind: 'text', text }),
    refusal(text) {
      isRefused = true;
      say({ kind: 'text', text });
    },
    callStart(call) {
      open.set(call.index, { ...call, input: '' });
    },
    callInput(index, piece) {
      const call = open.get(index);
      if (call !== undefined) call.input += piece;
    },
    callEnd: endCall,
    earlyHeartbeat: blankLine,
    ping: () => write(blankLine.name, blankLine.data),
    complete(finish, usage) {
      for (const index of [...open.keys()]) endCall(index);
      const finishReason = finishReasons[isRefused ? 'filter' : finish];
      const usageMetadata = buildGeminiUsage(usage);
      emit({ content: { parts: [], role: 'model' }, finishReason }, { usageMetadata });
    },
    fail(failure) {
      const { name, data } = geminiErrorEvent(failure);
      write(name, data);
    },
  };
}
