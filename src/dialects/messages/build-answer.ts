import type { Answer, AnswerPart } from '../conversation.ts';
import type { Fields } from '../fields.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { toCallId, toFunctionArguments } from '../translation/tool-names.ts';
import { noUsage } from '../usage.ts';
import { toInput } from './build-turns.ts';
import { buildStop } from './finish.ts';
import { buildMessagesUsage } from './usage.ts';

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
        input: toInput(toFunctionArguments(part.call)),
      };
  }
}
