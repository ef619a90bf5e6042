import {
  type Answer,
  type AnswerPart,
  callPart,
  type FinishReason,
  textPart,
  thoughtPart,
} from '../conversation.ts';
import { brokenAnswer, type Fields, stringifyAnswer, toFields, toText } from '../fields.ts';
import type { TranslationContext } from '../translation/context.ts';
import { parseFinishWord } from '../translation/finish-words.ts';
import { digestOf, openThought, sealText, signedText } from '../translation/seals.ts';
import { toArgumentsObject, toCallId } from '../translation/tool-names.ts';
import { noUsage } from '../usage.ts';
import { buildMessagesUsage, parseMessagesUsage } from './usage.ts';

/** A whole Messages answer in the neutral form. */
export function parseMessagesAnswer(body: Fields): Answer {
  const { content } = body;
  if (!Array.isArray(content)) throw brokenAnswer('has no content');
  const parts = content.flatMap((block: unknown) => parseBlock(toFields(block)));
  const hasCalls = parts.some(({ kind }) => kind === 'call');
  return {
    parts,
    finish: parseFinishWord(body.stop_reason, hasCalls),
    stopSequence: toText(body.stop_sequence) || undefined,
    usage: parseMessagesUsage(body.usage),
  };
}

function parseBlock(block: Fields): AnswerPart[] {
  switch (block.type) {
    case 'text':
      return textPart('text', toText(block.text));
    case 'thinking':
      return parseThought(toText(block.thinking), toText(block.signature));
    case 'redacted_thinking':
      return parseThought('', toText(block.data));
    case 'tool_use':
      return [callPart(block.id, block.name, stringifyAnswer(toFields(block.input)))];
    default:
      return [];
  }
}

function parseThought(text: string, signature: string): AnswerPart[] {
  return thoughtPart(text, signature === '' ? '' : signedText(digestOf(text), signature));
}

export function buildMessagesAnswer(answer: Answer, context: TranslationContext): Fields {
  const isRefused = answer.parts.some((part) => part.kind === 'refusal');
  return {
    id: context.newId('msg_'),
    type: 'message',
    role: 'assistant',
    model: context.requestedModel,
    content: answer.parts.flatMap((part) => buildBlock(part, context)),
    ...buildStop(isRefused ? 'filter' : answer.finish, answer.stopSequence),
    usage: buildMessagesUsage(answer.usage ?? noUsage),
  };
}

function buildBlock(part: AnswerPart, context: TranslationContext): Fields[] {
  switch (part.kind) {
    case 'thinking': {
      const seal = part.seal === undefined ? openThought : sealText(part.seal, context);
      if (part.text === '') return [{ type: 'redacted_thinking', data: seal }];
      return [{ type: 'thinking', thinking: part.text, signature: seal }];
    }
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: part.text }];
    case 'call': {
      const { id, name, seal } = part.call;
      const sealed = seal === undefined ? [] : [{ type: 'redacted_thinking', data: sealText(seal, context) }];
      const input = toArgumentsObject(part.call);
      return [
        ...sealed,
        { type: 'tool_use', id: id === '' ? context.newId('toolu_') : toCallId(id), name, input },
      ];
    }
  }
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
