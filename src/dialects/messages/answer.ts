import { type Answer, type AnswerPart, callPart, type FinishReason, textPart } from '../conversation.ts';
import { brokenAnswer, type Fields, stringifyAnswer, toFields, toText } from '../fields.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { toArgumentsObject, toCallId } from '../translation/tool-names.ts';
import { noUsage } from '../usage.ts';
import { buildMessagesUsage, parseMessagesUsage } from './usage.ts';

/** A whole Messages answer in the neutral form. */
export function parseMessagesAnswer(body: Fields): Answer {
  const { content } = body;
  if (!Array.isArray(content)) throw brokenAnswer('has no content');
  return {
    parts: content.flatMap((block: unknown) => parseBlock(toFields(block))),
    finish: parseStopReason(body.stop_reason),
    stopSequence: toText(body.stop_sequence) || undefined,
    usage: parseMessagesUsage(body.usage),
  };
}

function parseBlock(block: Fields): AnswerPart[] {
  switch (block.type) {
    case 'text':
      return textPart('text', toText(block.text));
    case 'thinking':
      return textPart('thinking', toText(block.thinking));
    case 'tool_use':
      return [callPart(block.id, block.name, stringifyAnswer(toFields(block.input)))];
    default:
      return [];
  }
}

export function buildMessagesAnswer(answer: Answer, context: TranslationContext): Fields {
  const isRefused = answer.parts.some((part) => part.kind === 'refusal');
  return {
    id: context.newId('msg_'),
    type: 'message',
    role: 'assistant',
    model: context.requestedModel,
    content: [...answer.parts].sort(thinkingFirst).map((part) => buildBlock(part, context)),
    ...buildStop(isRefused ? 'filter' : answer.finish, answer.stopSequence),
    usage: buildMessagesUsage(answer.usage ?? noUsage),
  };
}

function thinkingFirst(one: AnswerPart, other: AnswerPart): number {
  return Number(other.kind === 'thinking') - Number(one.kind === 'thinking');
}

function buildBlock(part: AnswerPart, context: TranslationContext): Fields {
  switch (part.kind) {
    case 'thinking':
      return { type: 'thinking', thinking: part.text, signature: '' };
    case 'text':
    case 'refusal':
      return { type: 'text', text: part.text };
    case 'call':
      return {
        type: 'tool_use',
        id: part.call.id === '' ? context.newId('toolu_') : toCallId(part.call.id),
        name: part.call.name,
        input: toArgumentsObject(part.call),
      };
  }
}

const finishes = new Map<unknown, FinishReason>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'calls'],
  ['refusal', 'filter'],
  ['stop_sequence', 'sequence'],
]);

export function parseStopReason(reason: unknown): FinishReason {
  return finishes.get(reason) ?? 'stop';
}

interface Stop {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
}

export function buildStop(finish: FinishReason, stopSequence: string | undefined): Stop {
  if (finish === 'sequence' && stopSequence !== undefined) {
    return { stop_reason: 'stop_sequence', stop_sequence: stopSequence };
  }
  return { stop_reason: stopReasons[finish], stop_sequence: null };
}

// Clients read `stop_sequence` beside that reason, so it is only sent where it is known which one matched.
const stopReasons = {
  stop: 'end_turn',
  sequence: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  filter: 'refusal',
} satisfies Record<FinishReason, string>;
