import type { ConversationRequest, OutputFormat, Tool, ToolName } from '../conversation.ts';
import { type Dropped, type Fields, withoutAbsent } from '../fields.ts';
import { acceptedEffort, clampMaxTokens, type TranslationContext } from '../translation/model-quirks.ts';
import { buildOpenAiTools } from '../translation/openai-request.ts';
import { limitUser } from '../translation/parse-common.ts';
import type { ToolNames } from '../translation/tool-names.ts';
import { buildItems } from './build-items.ts';

/** The Responses request for a neutral one. Nothing is stored at the provider. */
export function buildResponsesRequest(
  request: ConversationRequest,
  context: TranslationContext,
  names: ToolNames,
  dropped: Dropped,
): Fields {
  const { system, turns } = withoutLoneSystem(request);
  const isOpenAi = context.host === 'openai';
  const effort = acceptedEffort(request, context, dropped);
  return withoutAbsent({
    model: context.targetModel,
    instructions: system.length > 0 ? system.map((turn) => turn.text).join('\n\n') : undefined,
    input: buildItems(turns, context, names),
    max_output_tokens: buildLimit(request, context),
    ...buildOpenAiTools(request, names, { tool: buildTool, chosen: buildChosen }),
    temperature: request.temperature,
    top_p: request.topP,
    reasoning: effort === undefined ? undefined : { effort },
    text: buildText(request),
    metadata: request.metadata,
    [isOpenAi ? 'safety_identifier' : 'user']: limitUser(request.user),
    service_tier: request.serviceTier,
    prompt_cache_key: request.promptCacheKey,
    store: false,
    stream: request.isStreaming ? true : undefined,
  });
}

// `input` must not be empty: a request with nothing but a system prompt sends it as its input.
function withoutLoneSystem({
  system,
  turns,
}: ConversationRequest): Pick<ConversationRequest, 'system' | 'turns'> {
  return turns.length > 0 ? { system, turns } : { system: [], turns: system };
}

/** OpenAI refuses a smaller limit; clients ask for one token to see whether a model answers at all. */
export const leastLimit = 16;

function buildLimit(request: ConversationRequest, context: TranslationContext): number | undefined {
  const limit = clampMaxTokens(request.maxOutputTokens, context.maxOutputTokens);
  return limit === undefined ? undefined : Math.max(leastLimit, limit);
}

function buildTool(tool: Tool, names: ToolNames): Fields {
  const named = { name: names.toWire(tool), description: tool.description };
  if (tool.kind === 'custom') {
    return withoutAbsent({ type: 'custom', ...named, format: flatFormat(tool.format) });
  }
  const parameters = { type: 'object', properties: {}, ...tool.parameters };
  // This dialect takes an absent `strict` for true, the others for false.
  return withoutAbsent({ type: 'function', ...named, parameters, strict: tool.strict ?? false });
}

// Chat nests a grammar one level deeper.
function flatFormat(format: unknown): unknown {
  if (typeof format !== 'object' || format === null || !('grammar' in format)) return format;
  return { type: 'grammar', ...(typeof format.grammar === 'object' ? format.grammar : {}) };
}

function buildChosen(tool: ToolName, names: ToolNames): Fields {
  return { type: tool.kind, name: names.toWire(tool) };
}

function buildText({ format, verbosity }: ConversationRequest): Fields | undefined {
  if (format === undefined && verbosity === undefined) return undefined;
  return withoutAbsent({ format: format === undefined ? undefined : buildFormat(format), verbosity });
}

function buildFormat(format: OutputFormat): Fields {
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, schema, strict, description } = format;
  return withoutAbsent({ type: 'json_schema', name, schema, strict, description });
}
