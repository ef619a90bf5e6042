import {
  type Answer,
  type AnswerPart,
  callPart,
  type FinishReason,
  type ToolCall,
  type ToolName,
  textPart,
} from '../conversation.ts';
import { errorInside } from '../failure.ts';
import {
  brokenAnswer,
  type Fields,
  isFields,
  stringifyAnswer,
  toFields,
  toList,
  toText,
  withoutAbsent,
} from '../fields.ts';
import type { TranslationContext } from '../translation/context.ts';
import { parseFinishWord } from '../translation/finish-words.ts';
import { type Seal, sealText } from '../translation/seals.ts';
import { noUsage } from '../usage.ts';
import { detailedThoughts } from './reasoning-details.ts';
import { buildChatUsage, parseChatUsage } from './usage.ts';

/** A whole Chat answer in the neutral form. */
export function parseChatAnswer(body: Fields): Answer {
  // Aggregators answer 200 with an error inside.
  if (errorInside(body) !== undefined) throw brokenAnswer('is an error with a status of success');
  const choice = toList(body.choices)[0];
  if (!isFields(choice)) throw brokenAnswer('has no choices');
  const message = toFields(choice.message);
  const calls = parseCalls(message);
  const stopSequence = parseStopSequence(choice);
  return {
    parts: [
      ...detailedThoughts(toThinking(message), message.reasoning_details),
      ...textPart('text', toContentText(message.content)),
      ...textPart('refusal', toText(message.refusal)),
      ...calls,
    ],
    finish: parseFinishWord(
      stopSequence === undefined ? choice.finish_reason : 'stop_sequence',
      calls.length > 0,
    ),
    stopSequence,
    usage: parseChatUsage(body),
  };
}

function parseCalls(message: Fields): AnswerPart[] {
  const old = message.function_call;
  const calls = isFields(old) ? [{ function: old }] : toList(message.tool_calls);
  return calls.map((entry) => {
    const call = toFields(entry);
    const { name, arguments: input } = toFields(call.function);
    return callPart(call.id, name, toArguments(input), parseSignature(call));
  });
}

/** Of a call of Gemini's, as Google's endpoint of this dialect has it. */
export function parseSignature(call: Fields): string {
  const { google } = toFields(call.extra_content);
  return toText(toFields(google).thought_signature);
}

/** Hosts send arguments as text, and sometimes as the object itself. */
export function toArguments(value: unknown): string {
  return isFields(value) ? stringifyAnswer(value) : toText(value);
}

/** What a message's model thought; Mistral's is parts of the content. */
export function toThinking({ reasoning_content, reasoning, content }: Fields): string {
  const text = toText(reasoning_content) || toText(reasoning);
  if (text !== '' || !Array.isArray(content)) return text;
  return content.map((part) => toContentText(toFields(part).thinking)).join('');
}

/** Content as text; some hosts answer with parts. */
export function toContentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return toList(content)
    .map((part) => toText(toFields(part).text))
    .join('');
}

/** The Chat answer for a neutral one. Thinking goes into `reasoning_content`, as most hosts of this dialect send it. */
export function buildChatAnswer(answer: Answer, context: TranslationContext): Fields {
  const calls = answer.parts.flatMap((part) => (part.kind === 'call' ? [buildCall(part.call, context)] : []));
  const text = joined(answer.parts, 'text');
  const refusal = joined(answer.parts, 'refusal');
  const seals = answer.parts.flatMap((part) =>
    part.kind === 'thinking' && part.seal !== undefined ? [encryptedDetail(part.seal, context)] : [],
  );
  const message = withoutAbsent({
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    reasoning_content: joined(answer.parts, 'thinking') || undefined,
    reasoning_details: seals.length > 0 ? seals : undefined,
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
  const members = callMembers(call, call.input === '' && call.kind === 'function' ? '{}' : call.input);
  return { id, ...members, ...extraContent(call, context) };
}

export function extraContent({ seal }: Pick<ToolCall, 'seal'>, context: TranslationContext): Fields {
  return seal === undefined
    ? {}
    : { extra_content: { google: { thought_signature: sealText(seal, context) } } };
}

/** In the form in which OpenRouter sends what is encrypted. */
export function encryptedDetail(seal: Seal, context: TranslationContext): Fields {
  return { type: 'reasoning.encrypted', data: sealText(seal, context) };
}

export function callMembers({ kind, name }: ToolName, input: string): Fields {
  if (kind === 'custom') return { type: kind, custom: { name, input } };
  return { type: kind, function: { name, arguments: input } };
}

/** vLLM puts the matching stop sequence next to the reason. */
export function parseStopSequence(choice: Fields): string | undefined {
  return choice.finish_reason === 'stop' ? toText(choice.stop_reason) || undefined : undefined;
}

export const finishReasons = {
  stop: 'stop',
  sequence: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filter: 'content_filter',
} satisfies Record<FinishReason, string>;
