import { type Answer, type AnswerPart, textPart } from '../conversation.ts';
import { brokenAnswer, type Fields, isFields, stringifyAnswer, toFields, toList, toText } from '../fields.ts';
import { parseFinish, parseStopSequence } from './finish.ts';
import { parseChatUsage } from './usage.ts';

/** A whole Chat answer in the neutral form. */
export function parseChatAnswer(body: Fields): Answer {
  // Aggregators answer 200 with an error inside.
  if (isFields(body.error)) throw brokenAnswer('is an error with a status of success');
  const choice = toList(body.choices)[0];
  if (!isFields(choice)) throw brokenAnswer('has no choices');
  const message = toFields(choice.message);
  const calls = parseCalls(message);
  const stopSequence = parseStopSequence(choice);
  return {
    parts: [
      ...textPart('thinking', toText(message.reasoning_content) || toText(message.reasoning)),
      ...textPart('text', toContentText(message.content)),
      ...textPart('refusal', toText(message.refusal)),
      ...calls,
    ],
    finish: stopSequence === undefined ? parseFinish(choice.finish_reason, calls.length > 0) : 'sequence',
    stopSequence,
    usage: parseChatUsage(body.usage),
  };
}

function parseCalls(message: Fields): AnswerPart[] {
  const old = message.function_call;
  const calls = isFields(old) ? [{ function: old }] : toList(message.tool_calls);
  return calls.map((entry) => {
    const call = toFields(entry);
    const { name, arguments: input } = toFields(call.function);
    return {
      kind: 'call',
      call: { kind: 'function', id: toText(call.id), name: toText(name), input: toArguments(input) },
    };
  });
}

/** Hosts send arguments as text, and sometimes as the object itself. */
export function toArguments(value: unknown): string {
  return isFields(value) ? stringifyAnswer(value) : toText(value);
}

/** Content as text; some hosts answer with parts. */
export function toContentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return toList(content)
    .map((part) => toText(toFields(part).text))
    .join('');
}
