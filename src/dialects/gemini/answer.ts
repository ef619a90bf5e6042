import {
  type Answer,
  type AnswerPart,
  callPart,
  type FinishReason,
  textPart,
  thoughtPart,
} from '../conversation.ts';
import { brokenAnswer, type Fields, isFields, stringifyAnswer, toFields, toList, toText } from '../fields.ts';
import type { TranslationContext } from '../translation/context.ts';
import { parseFinishWord } from '../translation/finish-words.ts';
import { bytesSlot, type Seal, sealText } from '../translation/seals.ts';
import { toArgumentsObject } from '../translation/tool-names.ts';
import { noUsage } from '../usage.ts';
import { isBlocked } from './finishes.ts';
import { buildGeminiUsage, parseGeminiUsage } from './usage.ts';

/** A whole Gemini answer in the neutral form. */
export function parseGeminiAnswer(body: Fields): Answer {
  const candidate = toList(body.candidates)[0];
  const usage = parseGeminiUsage(body.usageMetadata);
  if (candidate === undefined && isBlocked(body)) return { parts: [], finish: 'filter', usage };
  if (!isFields(candidate)) throw brokenAnswer('has no candidates');
  const parts = toList(toFields(candidate.content).parts).flatMap(parseAnswerPart);
  const hasCalls = parts.some(({ kind }) => kind === 'call');
  return { parts, finish: parseFinishWord(candidate.finishReason, hasCalls), usage };
}

/** What a part says; nothing for what no other dialect has, such as code that the provider ran. */
export function parseAnswerPart(value: unknown): AnswerPart[] {
  const { text, thought, functionCall, thoughtSignature } = toFields(value);
  if (isFields(functionCall)) {
    const { id, name, args } = functionCall;
    return [callPart(id, name, stringifyAnswer(toFields(args)), toText(thoughtSignature))];
  }
  return thought === true ? thoughtPart(toText(text)) : textPart('text', toText(text));
}

/** The Gemini answer for a neutral one. */
export function buildGeminiAnswer(answer: Answer, context: TranslationContext): Fields {
  const isRefused = answer.parts.some((part) => part.kind === 'refusal');
  return {
    candidates: [
      {
        content: { parts: answer.parts.map((part) => buildAnswerPart(part, context)), role: 'model' },
        finishReason: finishReasons[isRefused ? 'filter' : answer.finish],
        index: 0,
      },
    ],
    usageMetadata: buildGeminiUsage(answer.usage ?? noUsage),
    ...answerHead(context),
  };
}

export function answerHead(context: TranslationContext): Fields {
  return { modelVersion: context.requestedModel, responseId: context.newId('') };
}

export function buildAnswerPart(part: AnswerPart, context: TranslationContext): Fields {
  if (part.kind === 'thinking') {
    return { text: part.text, thought: true, ...signatureMember(part.seal, context) };
  }
  if (part.kind !== 'call') return { text: part.text };
  const { call } = part;
  const id = call.id === '' ? context.newId('call_') : call.id;
  const functionCall = { id, name: call.name, args: toArgumentsObject(call) };
  // Without one, Gemini 3 would refuse the call, should the conversation go on there in its own dialect.
  return { functionCall, thoughtSignature: bytesSlot.open, ...signatureMember(call.seal, context) };
}

function signatureMember(seal: Seal | undefined, context: TranslationContext): Fields {
  return seal === undefined ? {} : { thoughtSignature: bytesSlot.write(sealText(seal, context)) };
}

export const finishReasons = {
  stop: 'STOP',
  sequence: 'STOP',
  length: 'MAX_TOKENS',
  calls: 'STOP',
  filter: 'SAFETY',
} satisfies Record<FinishReason, string>;
