import { traitsOf } from '../../hosts/find-host.ts';
import { isOpenAiReasoningModel } from '../../hosts/models.ts';
import type { HostTraits } from '../../hosts/traits.ts';
import {
  type AnswerFormat,
  type CallKind,
  type ContentPart,
  type ConversationRequest,
  callsOf,
  type Thought,
  type Tool,
  type ToolCall,
  type ToolName,
  type ToolResult,
  type Turn,
  withoutLastThoughts,
} from '../conversation.ts';
import { type Dropped, type Fields, parseJson, toFields, withoutAbsent } from '../fields.ts';
import {
  acceptedEffort,
  clampMaxTokens,
  minResponsesCap,
  type TranslationContext,
} from '../translation/context.ts';
import { toHostSchema } from '../translation/host-schemas.ts';
import { joinTexts, markSystemText, titled, toDocumentText, toUrl } from '../translation/media.ts';
import { buildOpenAiTools } from '../translation/openai-request.ts';
import { orderTurns } from '../translation/order-turns.ts';
import { limitUser } from '../translation/parse-common.ts';
import { toArgumentsSchema } from '../translation/schemas.ts';
import { sealFor } from '../translation/seals.ts';
import { type ToolNames, toFunctionArguments } from '../translation/tool-names.ts';

/** The Responses request for a neutral one. Nothing is stored at the provider. */
export function buildResponsesRequest(
  request: ConversationRequest,
  context: TranslationContext,
  names: ToolNames,
  dropped: Dropped,
): Fields {
  const { system, turns } = withoutLoneSystem(request);
  const traits = traitsOf(context);
  const isOpenAi = traits.openAiOptions;
  const effort = acceptedEffort(request, context, dropped);
  return withoutAbsent({
    model: context.targetModel,
    instructions: system.length > 0 ? system.map((turn) => turn.text).join('\n\n') : undefined,
    input: buildItems(turns, context, names),
    max_output_tokens: buildLimit(request, context),
    ...buildOpenAiTools(request, names, { tool: toolBuilder(traits), chosen: buildChosen }),
    temperature: request.temperature,
    top_p: request.topP,
    reasoning: effort === undefined ? undefined : { effort },
    text: buildText(request),
    metadata: request.metadata,
    [isOpenAi ? 'safety_identifier' : 'user']: limitUser(request.user),
    service_tier: request.serviceTier,
    prompt_cache_key: request.promptCacheKey,
    store: false,
    include: isOpenAi && isOpenAiReasoningModel(context) ? ['reasoning.encrypted_content'] : undefined,
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

function buildLimit(request: ConversationRequest, context: TranslationContext): number | undefined {
  const limit = clampMaxTokens(request.maxOutputTokens, context.maxOutputTokens);
  return limit === undefined ? undefined : Math.max(minResponsesCap, limit);
}

function toolBuilder({ schemas }: HostTraits) {
  return (tool: Tool, names: ToolNames): Fields => {
    const named = { name: names.toWire(tool), description: tool.description };
    if (tool.kind === 'custom') {
      return withoutAbsent({ type: 'custom', ...named, format: flatFormat(tool.format) });
    }
    const asked = { type: 'object', properties: {}, ...toArgumentsSchema(tool.parameters ?? {}) };
    const parameters = toHostSchema(asked, schemas);
    // This dialect takes an absent `strict` for true, the others for false.
    return withoutAbsent({ type: 'function', ...named, parameters, strict: tool.strict ?? false });
  };
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

function buildFormat(format: AnswerFormat): Fields {
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, schema, strict, description } = format;
  return withoutAbsent({ type: 'json_schema', name, schema, strict, description });
}

function buildItems(turns: readonly Turn[], context: TranslationContext, names: ToolNames): Fields[] {
  const ordered = orderTurns(turns);
  const kinds = kindsOf(ordered);
  return ordered.flatMap((turn) => buildTurn(turn, context, names, kinds));
}

/** A result has the kind of its call, which the result itself does not state. */
function kindsOf(turns: readonly Turn[]): ReadonlyMap<string, CallKind> {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? callsOf(turn.parts) : []));
  return new Map(calls.map((call) => [call.id, call.kind]));
}

function buildTurn(
  turn: Turn,
  context: TranslationContext,
  names: ToolNames,
  kinds: ReadonlyMap<string, CallKind>,
): Fields[] {
  switch (turn.role) {
    case 'system':
      return [
        traitsOf(context).laterSystem
          ? message(turn.isDeveloper ? 'developer' : 'system', [inputText(turn.text)])
          : message('user', [inputText(markSystemText(turn.text))]),
      ];
    case 'user':
      return [message('user', turn.parts.map(buildPart))];
    case 'results':
      return turn.results.map((result) => buildResult(result, kinds.get(result.callId)));
    case 'assistant':
      return withoutLastThoughts(turn.parts).flatMap((part) => {
        if (part.kind === 'thinking') return buildThought(part, context);
        if (part.kind === 'call') return [buildCall(part.call, names)];
        return [message('assistant', [{ type: 'output_text', text: part.text }])];
      });
  }
}

/** Reasoning of the same host, as it was encrypted there. */
function buildThought({ seal }: Thought, context: TranslationContext): Fields[] {
  const own = sealFor(seal, context);
  if (own === undefined) return [];
  const { id, encrypted_content } = toFields(parseJson(own.data));
  return [{ type: 'reasoning', id, summary: [], encrypted_content }];
}

function message(role: string, content: readonly Fields[]): Fields {
  return { type: 'message', role, content };
}

function inputText(text: string): Fields {
  return { type: 'input_text', text };
}

function buildCall(call: ToolCall, names: ToolNames): Fields {
  const named = { call_id: call.id, name: names.toWire(call) };
  if (call.kind === 'custom') return { type: 'custom_tool_call', ...named, input: call.input };
  return { type: 'function_call', ...named, arguments: toFunctionArguments(call) };
}

function buildResult(result: ToolResult, kind: CallKind | undefined): Fields {
  const parts = result.isError ? [{ kind: 'text' as const, text: 'Error:' }, ...result.parts] : result.parts;
  const isPlain = parts.every((part) => part.kind === 'text');
  const output = isPlain ? joinTexts(parts, result.isError ? ' ' : '\n\n') : parts.map(buildPart);
  const type = kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: result.callId, output };
}

function buildPart(part: ContentPart): Fields {
  if (part.kind === 'text') return inputText(part.text);
  if (part.kind === 'image') {
    return { type: 'input_image', image_url: toUrl(part.source), detail: part.detail ?? 'auto' };
  }
  const { source } = part;
  const text = toDocumentText(source);
  if (text !== undefined) return inputText(titled(text, part.name));
  if (source.kind === 'url') return withoutAbsent({ type: 'input_file', file_url: source.url });
  if (source.kind === 'text') return inputText(source.text);
  return { type: 'input_file', filename: part.name ?? 'document.pdf', file_data: toUrl(source) };
}
