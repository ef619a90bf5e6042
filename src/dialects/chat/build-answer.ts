import type { Answer, AnswerPart, ToolCall } from '../conversation.ts';
import { type Fields, withoutAbsent } from '../fields.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { noUsage } from '../usage.ts';
import { finishReasons } from './finish.ts';
import { buildChatUsage } from './usage.ts';

/** The Chat answer for a neutral one. Thinking goes into `reasoning_content`, as most hosts of this dialect send it. */
export function buildChatAnswer(answer: Answer, context: TranslationContext): Fields {
  const calls = answer.parts.flatMap((part) => (part.kind === 'call' ? [buildCall(part.call, context)] : []));
  const text = joined(answer.parts, 'text');
  const refusal = joined(answer.parts, 'refusal');
  const message = withoutAbsent({
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    reasoning_content: joined(answer.parts, 'thinking') || undefined,
    tool_calls: calls.length > 0 ? calls : undefined,
  });
  return {
    id: context.newId('chatcmpl-'),
    object: 'chat.completion',
    created: context.createdS,
    model: context.requestedModel,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasons[answer.finish] }],
    usage: buildChatUsage(answer.usage ?? noUsage),
  };
}

function joined(parts: readonly AnswerPart[], kind: 'text' | 'refusal' | 'thinking'): string {
  return parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('');
}

function buildCall(call: ToolCall, context: TranslationContext): Fields {
  const id = call.id === '' ? context.newId('call_') : call.id;
  if (call.kind === 'custom') return { id, type: 'custom', custom: { name: call.name, input: call.input } };
  const text = call.input === '' ? '{}' : call.input;
  return { id, type: 'function', function: { name: call.name, arguments: text } };
}
