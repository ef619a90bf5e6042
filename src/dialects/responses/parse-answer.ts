import { type Answer, type AnswerPart, type ToolCall, textPart } from '../conversation.ts';
import { brokenAnswer, type Fields, toFields, toList, toText } from '../fields.ts';
import { parseResponsesFinish } from './finish.ts';
import { parseResponsesUsage } from './usage.ts';

/** A whole Responses answer in the neutral form. */
export function parseResponsesAnswer(body: Fields): Answer {
  const { status } = body;
  if (status !== undefined && status !== 'completed' && status !== 'incomplete') {
    throw brokenAnswer('is not complete, although its status is success');
  }
  if (!Array.isArray(body.output)) throw brokenAnswer('has no output');
  const parts = body.output.flatMap((item: unknown) => parseOutputItem(toFields(item)));
  const hasCalls = parts.some((part) => part.kind === 'call');
  return {
    parts,
    finish: parseResponsesFinish(body, hasCalls),
    usage: parseResponsesUsage(body.usage),
  };
}

/** One output item; those of tools that the provider ran itself are not for the client. */
export function parseOutputItem(item: Fields): AnswerPart[] {
  switch (item.type) {
    case 'message':
      return toList(item.content).flatMap((part) => parsePart(toFields(part)));
    case 'reasoning':
      return textPart('thinking', toReasoningText(item));
    case 'function_call':
    case 'custom_tool_call':
      return [{ kind: 'call', call: parseOutputCall(item) }];
    default:
      return [];
  }
}

export function parseOutputCall(item: Fields): ToolCall {
  const isCustom = item.type === 'custom_tool_call';
  return {
    kind: isCustom ? 'custom' : 'function',
    id: toText(item.call_id) || toText(item.id),
    name: toText(item.name),
    input: toText(isCustom ? item.input : item.arguments),
  };
}

function toReasoningText(item: Fields): string {
  const texts = (list: unknown) => toList(list).map((part) => toText(toFields(part).text));
  const summary = texts(item.summary);
  return (summary.length > 0 ? summary : texts(item.content)).join('\n\n');
}

function parsePart(part: Fields): AnswerPart[] {
  if (part.type === 'refusal') return textPart('refusal', toText(part.refusal));
  return textPart('text', toText(part.text));
}
