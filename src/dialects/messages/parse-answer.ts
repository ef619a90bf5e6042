import { type Answer, type AnswerPart, textPart } from '../conversation.ts';
import { brokenAnswer, type Fields, stringifyAnswer, toFields, toText } from '../fields.ts';
import { parseStopReason } from './finish.ts';
import { parseMessagesUsage } from './usage.ts';

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
      return [
        {
          kind: 'call',
          call: {
            kind: 'function',
            id: toText(block.id),
            name: toText(block.name),
            input: stringifyAnswer(toFields(block.input)),
          },
        },
      ];
    default:
      return [];
  }
}
