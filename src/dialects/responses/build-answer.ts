import type { Answer, AnswerPart, ToolCall } from '../conversation.ts';
import { type Fields, withoutAbsent } from '../fields.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { noUsage } from '../usage.ts';
import { buildResponse } from './echo.ts';
import { buildStatus } from './finish.ts';
import { buildResponsesUsage } from './usage.ts';

export function buildResponsesAnswer(answer: Answer, context: TranslationContext, echo: Fields): Fields {
  const { status, incomplete_details } = buildStatus(answer.finish);
  const thinking = answer.parts.filter((part) => part.kind === 'thinking').map(toItem);
  const spoken = answer.parts.filter((part) => part.kind === 'text' || part.kind === 'refusal');
  const calls = answer.parts.flatMap((part) =>
    part.kind === 'call' ? [buildCallItem(part.call, context)] : [],
  );
  const message = spoken.length > 0 ? [buildMessage(spoken, status, context)] : [];
  return buildResponse(context, {
    id: context.newId('resp_'),
    echo,
    status,
    incomplete_details,
    output: [...thinking, ...message, ...calls],
    usage: buildResponsesUsage(answer.usage ?? noUsage),
  });

  function toItem(part: AnswerPart): Fields {
    return reasoningItem(context.newId('rs_'), part.kind === 'call' ? '' : part.text);
  }
}

export function reasoningItem(id: string, text: string): Fields {
  return { id, type: 'reasoning', summary: text === '' ? [] : [{ type: 'summary_text', text }] };
}

function buildMessage(parts: readonly AnswerPart[], status: string, context: TranslationContext): Fields {
  return messageItem(context.newId('msg_'), status, parts.map(buildPart));
}

export function messageItem(id: string, status: string, content: readonly Fields[]): Fields {
  return { id, type: 'message', role: 'assistant', status, content };
}

function buildPart(part: AnswerPart): Fields {
  if (part.kind === 'call') return textContent('');
  return part.kind === 'refusal' ? { type: 'refusal', refusal: part.text } : textContent(part.text);
}

export function textContent(text: string): Fields {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function buildCallItem(call: ToolCall, context: TranslationContext): Fields {
  const id = context.newId(call.kind === 'custom' ? 'ctc_' : 'fc_');
  const named = { ...call, id: call.id === '' ? context.newId('call_') : call.id };
  return callItem(id, 'completed', named);
}

/** `call.id` is the id that results refer to; the item has one of its own. */
export function callItem(id: string, status: string, call: ToolCall): Fields {
  const { name, namespace } = call;
  if (call.kind === 'custom') {
    return withoutAbsent({
      id,
      type: 'custom_tool_call',
      status,
      call_id: call.id,
      name,
      namespace,
      input: call.input,
    });
  }
  const text = call.input === '' && status === 'completed' ? '{}' : call.input;
  return withoutAbsent({
    id,
    type: 'function_call',
    status,
    call_id: call.id,
    name,
    namespace,
    arguments: text,
  });
}
