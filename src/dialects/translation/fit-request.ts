import { traitsOf } from '../../hosts/find-host.ts';
import { canStopThinking, takesSampling } from '../../hosts/models.ts';
import type { ConversationRequest } from '../conversation.ts';
import { type Dropped, noteDropped } from '../fields.ts';
import type { TranslationContext } from './context.ts';

/** A request whose options a host of OpenAI's dialects takes. */
interface FittedRequest extends ConversationRequest {
  /** Whether the host is asked to let the model answer without thinking. */
  readonly stopsThinking: boolean;
}

/**
 * The request without options that the host would refuse: temperatures that are fixed, and calls that can't be forced of a
 * model while it thinks. Where thinking can be switched off, a forced call is worth more.
 */
export function fitRequest(
  request: ConversationRequest,
  context: TranslationContext,
  dropped: Dropped,
): FittedRequest {
  const stops = canStopThinking(context) && (request.effort === 'none' || needsNoThought(request, context));
  return {
    ...fitSampling(fitToolChoice(request, context, stops, dropped), context, dropped),
    stopsThinking: stops,
  };
}

function isForced({ tools, toolChoice }: ConversationRequest): boolean {
  return tools.length > 0 && (toolChoice?.kind === 'required' || toolChoice?.kind === 'tool');
}

function needsNoThought(request: ConversationRequest, context: TranslationContext): boolean {
  return isForced(request) && traitsOf(context).toolChoices === 'not_forced_while_thinking';
}

function fitToolChoice(
  request: ConversationRequest,
  context: TranslationContext,
  stopsThinking: boolean,
  dropped: Dropped,
): ConversationRequest {
  const { toolChoices } = traitsOf(context);
  const { toolChoice } = request;
  if (toolChoices === 'auto' && toolChoice?.kind === 'none')
    return { ...request, tools: [], toolChoice: undefined };
  const takes = toolChoices === 'any' || (toolChoices === 'not_forced_while_thinking' && stopsThinking);
  if (takes || !isForced(request)) return request;
  noteDropped(dropped, 'tool_choice');
  return { ...request, toolChoice: { kind: 'auto' } };
}

/** Without temperature and top_p where the model's are fixed. */
export function fitSampling(
  request: ConversationRequest,
  context: TranslationContext,
  dropped: Dropped,
): ConversationRequest {
  const { temperature, topP } = request;
  if ((temperature === undefined && topP === undefined) || takesSampling(context)) return request;
  if (temperature !== undefined) noteDropped(dropped, 'temperature');
  if (topP !== undefined) noteDropped(dropped, 'top_p');
  return { ...request, temperature: undefined, topP: undefined };
}
