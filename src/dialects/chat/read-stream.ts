import type { StreamReader, StreamSink } from '../conversation.ts';
import { parseFailure } from '../failure.ts';
import { brokenAnswer, type Fields, isFields, parseEventData, toFields, toText } from '../fields.ts';
import { parseFinish, parseStopSequence } from './finish.ts';
import { toContentText } from './parse-answer.ts';
import { createChatCalls } from './read-calls.ts';
import { parseChatUsage } from './usage.ts';

/** Reads a provider's Chat stream, in all the variants that hosts send. */
export function createChatReader(sink: StreamSink): StreamReader {
  const calls = createChatCalls(sink);
  let isStarted = false;
  let reason: string | undefined;
  let stopSequence: string | undefined;

  function start(): void {
    if (isStarted) return;
    isStarted = true;
    sink.start();
  }

  function complete(): void {
    start();
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
      start();
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
