import type { FinishReason } from '../conversation.ts';
import { brokenAnswer, type Fields, toFields, toText } from '../fields.ts';

/** An event that ends a candidate, or says why the prompt gets no answer. */
export const hasFinish =
  /"(?:finishReason|blockReason)"\s*:\s*"(?!(?:FINISH_REASON|BLOCK_REASON)_UNSPECIFIED)[A-Z]/;

const broken = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MALFORMED_RESPONSE']);
const plain = new Set(['', 'STOP', 'OTHER', 'FINISH_REASON_UNSPECIFIED']);

/** Throws provider.broken_response for an answer that the model failed to write. */
export function parseFinish(value: unknown, hasCalls: boolean): FinishReason {
  const reason = toText(value);
  if (broken.has(reason)) throw brokenAnswer('ended with a tool call that makes no sense');
  if (reason === 'MAX_TOKENS') return 'length';
  // Everything else is a filter: SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, LANGUAGE …
  if (!plain.has(reason)) return 'filter';
  return hasCalls ? 'calls' : 'stop';
}

/** Whether the prompt was refused, so that there are no candidates. */
export function isBlocked(body: Fields): boolean {
  const reason = toText(toFields(body.promptFeedback).blockReason);
  return reason !== '' && reason !== 'BLOCK_REASON_UNSPECIFIED';
}

export const finishReasons = {
  stop: 'STOP',
  sequence: 'STOP',
  length: 'MAX_TOKENS',
  calls: 'STOP',
  filter: 'SAFETY',
} satisfies Record<FinishReason, string>;
