import { traitsOf } from '../../hosts/find-host.ts';
import { canStopThinking, nearestEffort, thinkingBudgets, thinkingControl } from '../../hosts/models.ts';
import type { HostTraits } from '../../hosts/traits.ts';
import type { ConversationRequest, Tool, ToolChoice } from '../conversation.ts';
import { type Dropped, type Fields, noteDropped, withoutAbsent } from '../fields.ts';
import {
  clampMaxTokens,
  defaultMaxTokens,
  type TranslationContext,
  translatedCap,
} from '../translation/context.ts';
import { toHostSchema } from '../translation/host-schemas.ts';
import { toClosedSchema } from '../translation/schemas.ts';
import { type ToolNames, toFunctionTool } from '../translation/tool-names.ts';
import { placeBreakpoints } from './breakpoints.ts';
import { buildMessagesTurns, type Message } from './build-turns.ts';

export function buildMessagesRequest(
  request: ConversationRequest,
  context: TranslationContext,
  names: ToolNames,
  dropped: Dropped,
): Fields {
  const asked = clampMaxTokens(request.maxOutputTokens, context.maxOutputTokens);
  const { system, messages } = buildMessagesTurns(request, { context, names, dropped });
  const traits = traitsOf(context);
  const tools = request.tools.map((tool) => buildTool(tool, names, traits));
  if (traits.promptCache === 'breakpoints' && context.promptCache !== 'off')
    placeBreakpoints({ tools, system, messages });
  const toolChoice = buildToolChoice(request, names);
  const budget = thinkingBudget(request, context, { asked, messages, dropped });
  const thinking = buildThinking(request, context, budget);
  return withoutAbsent({
    model: context.targetModel,
    max_tokens: (asked ?? defaultMaxTokens(context)) + (asked === undefined ? 0 : (budget ?? 0)),
    system: system.length > 0 ? system : undefined,
    messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: toolChoice,
    ...buildSampling(request, thinking !== undefined, dropped),
    stop_sequences: request.stop.length > 0 ? request.stop : undefined,
    thinking,
    output_config: buildOutputConfig(request, context),
    metadata: request.user === undefined ? undefined : { user_id: request.user },
    stream: request.isStreaming ? true : undefined,
  });
}

function buildTool(tool: Tool, names: ToolNames, { schemas }: HostTraits): Fields {
  const { description, strict, parameters: asked } = toFunctionTool(tool);
  const parameters = toHostSchema(asked, schemas);
  return withoutAbsent({
    name: names.toWire(tool),
    description,
    input_schema: strict === true ? toClosedSchema(parameters) : parameters,
    strict: strict === true ? true : undefined,
  });
}

function buildToolChoice(request: ConversationRequest, names: ToolNames): Fields | undefined {
  if (request.tools.length === 0) return undefined;
  const isSingle = request.parallelCalls === false;
  const choice = request.toolChoice ?? (isSingle ? { kind: 'auto' as const } : undefined);
  if (choice === undefined) return undefined;
  const base = toMessagesChoice(choice, names);
  return isSingle && choice.kind !== 'none' ? { ...base, disable_parallel_tool_use: true } : base;
}

function toMessagesChoice(choice: ToolChoice, names: ToolNames): Fields {
  if (choice.kind === 'tool') return { type: 'tool', name: names.toWire(choice.tool) };
  return { type: choice.kind === 'required' ? 'any' : choice.kind };
}

const minBudget = 1_024;

interface Built {
  /** The cap that the client asked for. */
  readonly asked: number | undefined;
  readonly messages: readonly Message[];
  readonly dropped: Dropped;
}

/**
 * The budget for the thinking of older models, in tokens. It is part of the cap on output, so the cap is raised by it: the
 * answer keeps what the client asked for. Not while a tool is forced, nor where the answer has begun, nor in the middle of a
 * tool turn whose signed thinking the client has not sent back, which the provider would require.
 */
function thinkingBudget(
  request: ConversationRequest,
  context: TranslationContext,
  { asked, messages, dropped }: Built,
): number | undefined {
  const { effort } = request;
  if (effort === undefined || effort === 'none') return undefined;
  const control = thinkingControl(context);
  if (control === 'none') noteDropped(dropped, 'reasoning effort');
  if (control !== 'budget') return undefined;
  const { outputCeiling = translatedCap } = context;
  const room = asked === undefined ? Math.floor(defaultMaxTokens(context) / 2) : outputCeiling - asked;
  const budget = Math.min(thinkingBudgets[effort], room);
  const isForced = request.toolChoice?.kind === 'required' || request.toolChoice?.kind === 'tool';
  const isBegun = messages.at(-1)?.role === 'assistant';
  if (!isForced && budget >= minBudget && !isBegun && !isUnsignedToolTurn(messages)) return budget;
  noteDropped(dropped, 'reasoning effort');
  return undefined;
}

/** Whether the last message of the assistant calls tools, and doesn't begin with a thought as the provider would require. */
function isUnsignedToolTurn(messages: readonly Message[]): boolean {
  const { content = [] } = messages.findLast(({ role }) => role === 'assistant') ?? {};
  const first = content[0]?.type;
  return (
    content.some(({ type }) => type === 'tool_use') && first !== 'thinking' && first !== 'redacted_thinking'
  );
}

function buildThinking(
  { effort }: ConversationRequest,
  context: TranslationContext,
  budget: number | undefined,
): Fields | undefined {
  if (effort === 'none') {
    const isKnown = thinkingControl(context) !== 'none' || canStopThinking(context);
    return isKnown ? { type: 'disabled' } : undefined;
  }
  return budget === undefined ? undefined : { type: 'enabled', budget_tokens: budget };
}

function buildSampling(request: ConversationRequest, isThinking: boolean, dropped: Dropped): Fields {
  const { temperature, topP } = request;
  if (isThinking) {
    if (temperature !== undefined) noteDropped(dropped, 'temperature');
    if (topP !== undefined) noteDropped(dropped, 'top_p');
    return {};
  }
  return { temperature: temperature === undefined ? undefined : toUnit(temperature), top_p: topP };
}

function toUnit(temperature: number): number {
  return Math.min(1, Math.max(0, temperature));
}

function buildOutputConfig(request: ConversationRequest, context: TranslationContext): Fields | undefined {
  const { effort, format } = request;
  const hasEffort = effort !== undefined && effort !== 'none' && thinkingControl(context) === 'effort';
  const config = withoutAbsent({
    effort: hasEffort ? nearestEffort(effort, context) : undefined,
    format:
      format?.kind === 'schema' ? { type: 'json_schema', schema: toClosedSchema(format.schema) } : undefined,
  });
  return Object.keys(config).length > 0 ? config : undefined;
}
