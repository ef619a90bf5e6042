import { traitsOf } from '../../hosts/find-host.ts';
import { canStopThinking } from '../../hosts/models.ts';
import { type AnswerFormat, type ConversationRequest, callsOf, textsOf } from '../conversation.ts';
import { type Dropped, noteDropped } from '../fields.ts';
import type { TranslationContext } from './context.ts';

/**
 * The conversation as a host takes it in any dialect: with a form of answers and an end that it knows, and without options
 * that it would refuse.
 */
export function fitConversation(
  request: ConversationRequest,
  context: TranslationContext,
  dropped: Dropped,
): ConversationRequest {
  const formed = fitFormat(request, context, dropped);
  return fitEnd(fitSampling(fitToolChoice(formed, context, dropped), context, dropped), context);
}

/** A form that the host doesn't enforce becomes an instruction, and the nearest one that it does. */
function fitFormat(
  request: ConversationRequest,
  context: TranslationContext,
  dropped: Dropped,
): ConversationRequest {
  const { format, tools } = request;
  if (format === undefined) return request;
  const { formats, formatsWithTools } = traitsOf(context);
  const taken = tools.length > 0 && !formatsWithTools ? [] : formats;
  const isTaken = taken.includes(format.kind);
  // Hosts refuse their JSON mode where the prompt says nothing of JSON.
  if (isTaken && (format.kind === 'schema' || mentionsJson(request))) return request;
  if (!isTaken) noteDropped(dropped, 'the enforced form of answers');
  return {
    ...request,
    format: taken.includes('json') ? { kind: 'json' } : undefined,
    system: [...request.system, { role: 'system', isDeveloper: false, text: instruct(format) }],
  };
}

function mentionsJson({ system, turns }: ConversationRequest): boolean {
  const texts = turns.flatMap((turn) => {
    if (turn.role === 'system') return [turn.text];
    return turn.role === 'user' ? turn.parts.map((part) => (part.kind === 'text' ? part.text : '')) : [];
  });
  return [...system.map(({ text }) => text), ...texts].some((text) => /json/i.test(text));
}

function instruct(format: AnswerFormat): string {
  const answer = 'Answer with one JSON object and nothing else: no prose, no code fence.';
  return format.kind === 'json'
    ? answer
    : `${answer} It follows this JSON schema:\n${JSON.stringify(format.schema)}`;
}

function isForced({ tools, toolChoice }: ConversationRequest): boolean {
  return tools.length > 0 && (toolChoice?.kind === 'required' || toolChoice?.kind === 'tool');
}

/** Where thinking can be switched off, a forced call is worth more. */
function fitToolChoice(
  request: ConversationRequest,
  context: TranslationContext,
  dropped: Dropped,
): ConversationRequest {
  const { toolChoices } = traitsOf(context);
  if (toolChoices === 'any') return request;
  if (toolChoices === 'auto' && request.toolChoice?.kind === 'none')
    return { ...request, tools: [], toolChoice: undefined };
  if (!isForced(request)) return request;
  if (toolChoices === 'not_forced_while_thinking' && canStopThinking(context))
    return { ...request, effort: 'none' };
  noteDropped(dropped, 'tool_choice');
  return { ...request, toolChoice: { kind: 'auto' } };
}

/** Of temperature and top_p what the model takes; if only one, the temperature, which people set on purpose. */
function fitSampling(
  request: ConversationRequest,
  context: TranslationContext,
  dropped: Dropped,
): ConversationRequest {
  const { sampling } = traitsOf(context);
  const { temperature, topP } = request;
  const losesTemperature = sampling === 'none' && temperature !== undefined;
  const losesTopP =
    topP !== undefined && (sampling === 'none' || (sampling === 'one' && temperature !== undefined));
  if (!losesTemperature && !losesTopP) return request;
  if (losesTemperature) noteDropped(dropped, 'temperature');
  if (losesTopP) noteDropped(dropped, 'top_p');
  return {
    ...request,
    ...(losesTemperature && { temperature: undefined }),
    ...(losesTopP && { topP: undefined }),
  };
}

/** A last message of the assistant is the beginning of the answer; where that is refused, the model is asked to go on. */
function fitEnd(request: ConversationRequest, context: TranslationContext): ConversationRequest {
  const last = request.turns.findLast((turn) => turn.role !== 'assistant' || textsOf(turn.parts).length > 0);
  if (last?.role !== 'assistant' || callsOf(last.parts).length > 0 || traitsOf(context).lastAssistant)
    return request;
  const text = 'Go on exactly where your last message ends, without repeating any of it.';
  return { ...request, turns: [...request.turns, { role: 'user', parts: [{ kind: 'text', text }] }] };
}
