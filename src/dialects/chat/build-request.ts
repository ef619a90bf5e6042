import type { ConversationRequest, OutputFormat, Tool, ToolChoice } from '../conversation.ts';
import { type Dropped, type Fields, withoutAbsent } from '../fields.ts';
import { acceptedEffort, clampMaxTokens, type TranslationContext } from '../translation/model-quirks.ts';
import { limitUser } from '../translation/parse-common.ts';
import type { ToolNames } from '../translation/tool-names.ts';
import { toFunctionTool } from '../translation/wrap-custom.ts';
import { buildChatTurns } from './build-turns.ts';

/** The Chat Completions request for a neutral one. */
export function buildChatRequest(
  request: ConversationRequest,
  context: TranslationContext,
  names: ToolNames,
  dropped: Dropped,
): Fields {
  const isOpenAi = context.host === 'openai';
  const limit = clampMaxTokens(request.maxOutputTokens, context.maxOutputTokens);
  return withoutAbsent({
    model: context.targetModel,
    messages: buildChatTurns(request, context, names),
    [isOpenAi ? 'max_completion_tokens' : 'max_tokens']: limit,
    ...buildTools(request, names),
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stop.length > 0 ? request.stop : undefined,
    reasoning_effort: acceptedEffort(request, context, dropped),
    response_format: request.format === undefined ? undefined : buildFormat(request.format),
    verbosity: isOpenAi ? request.verbosity : undefined,
    [isOpenAi ? 'safety_identifier' : 'user']: limitUser(request.user),
    service_tier: request.serviceTier,
    prompt_cache_key: request.promptCacheKey,
    ...(request.isStreaming ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

function buildTools(request: ConversationRequest, names: ToolNames): Fields {
  if (request.tools.length === 0) return {};
  return {
    tools: request.tools.map((tool) => buildTool(tool, names)),
    tool_choice: request.toolChoice === undefined ? undefined : buildToolChoice(request.toolChoice, names),
    parallel_tool_calls: request.parallelCalls,
  };
}

function buildTool(tool: Tool, names: ToolNames): Fields {
  const { description, parameters, strict } = toFunctionTool(tool);
  const nested = withoutAbsent({ name: names.toWire(tool), description, parameters, strict });
  return { type: 'function', function: nested };
}

function buildToolChoice(choice: ToolChoice, names: ToolNames): unknown {
  if (choice.kind !== 'tool') return choice.kind;
  return { type: 'function', function: { name: names.toWire(choice.tool) } };
}

function buildFormat(format: OutputFormat): Fields {
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, schema, strict, description } = format;
  return { type: 'json_schema', json_schema: withoutAbsent({ name, schema, strict, description }) };
}
