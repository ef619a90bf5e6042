import type {
  AssistantTurn,
  ContentPart,
  ConversationRequest,
  OutputFormat,
  SystemTurn,
  Tool,
  ToolName,
  ToolResult,
  Turn,
} from '../conversation.ts';
import { type Dropped, type Fields, unsupported, withoutAbsent } from '../fields.ts';
import {
  isMedia,
  isPdf,
  joinTexts,
  markSystemText,
  paragraphs,
  toTextPart,
  toUrl,
} from '../translation/media.ts';
import { acceptedEffort, clampMaxTokens, type TranslationContext } from '../translation/model-quirks.ts';
import { buildOpenAiTools } from '../translation/openai-request.ts';
import { orderTurns } from '../translation/order-turns.ts';
import { limitUser } from '../translation/parse-common.ts';
import { type ToolNames, toFunctionArguments, toFunctionTool } from '../translation/tool-names.ts';

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

type Host = TranslationContext['host'];

/**
 * The messages of a Chat request: one leading system message, then the turns. Users in a row are one
 * message, because the chat templates of many hosts insist on taking turns.
 */
function buildChatTurns(
  request: ConversationRequest,
  { host }: TranslationContext,
  names: ToolNames,
): Fields[] {
  const messages = buildSystem(request.system, host);
  let pending: ContentPart[] = [];
  for (const turn of orderTurns(request.turns)) {
    const parts = toUserParts(turn, host);
    if (parts === undefined) {
      flush();
      for (const message of buildTurn(turn, names)) messages.push(message);
    }
    for (const part of parts ?? mediaOf(turn)) pending.push(part);
  }
  flush();
  return messages;

  function flush(): void {
    if (pending.length > 0) messages.push({ role: 'user', content: buildContent(pending, host) });
    pending = [];
  }
}

function buildSystem(system: readonly SystemTurn[], host: Host): Fields[] {
  if (system.length === 0) return [];
  const isDeveloper = host === 'openai' && system.every((turn) => turn.isDeveloper);
  const content = system.map((turn) => turn.text).join('\n\n');
  return [{ role: isDeveloper ? 'developer' : 'system', content }];
}

/**
 * Content that becomes user messages. Chat templates of hosts other than OpenAI refuse or misplace a system message
 * after the first; as marked user text it stays in place, so that the prompt's beginning is the same from turn to turn.
 */
function toUserParts(turn: Turn, host: Host): readonly ContentPart[] | undefined {
  if (turn.role === 'user') return turn.parts;
  if (turn.role !== 'system' || host === 'openai') return undefined;
  return [{ kind: 'text', text: markSystemText(turn.text) }];
}

function buildTurn(turn: Turn, names: ToolNames): Fields[] {
  switch (turn.role) {
    case 'system':
      return [{ role: turn.isDeveloper ? 'developer' : 'system', content: turn.text }];
    case 'assistant':
      return [buildAssistant(turn, names)];
    case 'results':
      return turn.results.map(buildResult);
    case 'user':
      return [];
  }
}

function buildAssistant({ text, calls }: AssistantTurn, names: ToolNames): Fields {
  const toolCalls = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: names.toWire(call), arguments: toFunctionArguments(call) },
  }));
  return withoutAbsent({
    role: 'assistant',
    content: text === '' ? null : text,
    tool_calls: toolCalls.length > 0 ? toolCalls : undefined,
  });
}

const placeholder = '[the content of this result follows in the next user message]';

/** Tool messages hold only text: images and files follow in the next user message. */
function buildResult(result: ToolResult): Fields {
  const parts = result.parts.map(toTextPart);
  const content = paragraphs([joinTexts(parts, '\n\n'), parts.some(isMedia) ? placeholder : '']);
  const marked = result.isError ? `Error: ${content}` : content;
  return { role: 'tool', tool_call_id: result.callId, content: marked };
}

function mediaOf(turn: Turn): readonly ContentPart[] {
  if (turn.role !== 'results') return [];
  return turn.results.flatMap((result) => result.parts.map(toTextPart).filter(isMedia));
}

/** One string where there is only text, because some hosts refuse arrays. */
function buildContent(parts: readonly ContentPart[], host: Host): unknown {
  const plain = parts.map(toTextPart);
  if (plain.every((part) => part.kind === 'text')) return joinTexts(plain, '\n\n');
  return plain.map((part) => buildPart(part, host));
}

function buildPart(part: ContentPart, host: Host): Fields {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { source, path } = part;
  if (source.kind === 'text') return { type: 'text', text: source.text };
  if (part.kind === 'image') {
    return { type: 'image_url', image_url: withoutAbsent({ url: toUrl(source), detail: part.detail }) };
  }
  if (host !== 'openai') throw unsupported(path, 'this provider takes no documents but plain text');
  if (!isPdf(source)) throw unsupported(path, 'only PDF and plain text documents with their content inside');
  return { type: 'file', file: { filename: part.name ?? 'document.pdf', file_data: toUrl(source) } };
}
