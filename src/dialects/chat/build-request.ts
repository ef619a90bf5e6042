import type { ConversationRequest, OutputFormat, Tool, ToolName } from '../conversation.ts';
import { type Dropped, type Fields, withoutAbsent } from '../fields.ts';
import { acceptedEffort, clampMaxTokens, type TranslationContext } from '../translation/model-quirks.ts';
import { buildOpenAiTools } from '../translation/openai-request.ts';
import { limitUser } from '../translation/parse-common.ts';
import { type ToolNames, toFunctionTool } from '../translation/tool-names.ts';
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
    ...buildOpenAiTools(request, names, { tool: buildTool, chosen: buildChosen }),
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

function buildTool(tool: Tool, names: ToolNames): Fields {
  const { description, parameters, strict } = toFunctionTool(tool);
  const nested = withoutAbsent({ name: names.toWire(tool), description, parameters, strict });
  return { type: 'function', function: nested };
}

function buildChosen(tool: ToolName, names: ToolNames): Fields {
  return { type: 'function', function: { name: names.toWire(tool) } };
}

function buildFormat(format: OutputFormat): Fields {
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, schema, strict, description } = format;
  return { type: 'json_schema', json_schema: withoutAbsent({ name, schema, strict, description }) };
}
