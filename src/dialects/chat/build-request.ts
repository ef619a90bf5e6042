import { traitsOf } from '../../hosts/find-host.ts';
import { canStopThinking, geminiThinking } from '../../hosts/models.ts';
import type { HostTraits } from '../../hosts/traits.ts';
import {
  type AnswerFormat,
  type AssistantTurn,
  type ContentPart,
  type ConversationRequest,
  callsOf,
  type SystemTurn,
  type Tool,
  type ToolCall,
  type ToolName,
  type ToolResult,
  type Turn,
  textsOf,
  thoughtsOf,
} from '../conversation.ts';
import { type Dropped, type Fields, noteDropped, withoutAbsent } from '../fields.ts';
import { acceptedEffort, clampMaxTokens, type TranslationContext } from '../translation/context.ts';
import { toHostSchema } from '../translation/host-schemas.ts';
import {
  isMedia,
  isPdf,
  joinTexts,
  markSystemText,
  paragraphs,
  toDocumentText,
  toTextPart,
  toUrl,
} from '../translation/media.ts';
import { buildOpenAiTools } from '../translation/openai-request.ts';
import { orderTurns } from '../translation/order-turns.ts';
import { limitUser } from '../translation/parse-common.ts';
import { createExpansion } from '../translation/references.ts';
import { sealFor, skipsValidator } from '../translation/seals.ts';
import {
  type ToolNames,
  toFunctionArguments,
  toFunctionTool,
  toHostCallId,
} from '../translation/tool-names.ts';
import type { MediaPart } from '../translation/unsupported-content.ts';
import { openDetails } from './reasoning-details.ts';

/** The Chat Completions request for a neutral one. */
export function buildChatRequest(
  request: ConversationRequest,
  context: TranslationContext,
  names: ToolNames,
  dropped: Dropped,
): Fields {
  const traits = traitsOf(context);
  const limit = clampMaxTokens(request.maxOutputTokens, context.maxOutputTokens);
  return withoutAbsent({
    model: context.targetModel,
    messages: buildChatTurns(request, { context, traits, names }),
    [traits.tokenCap]: limit,
    ...buildOpenAiTools(request, names, { tool: toolBuilder(traits, request.tools), chosen: buildChosen }),
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stop.length > 0 ? request.stop : undefined,
    ...buildThinking(request, context, dropped),
    response_format: request.format === undefined ? undefined : buildFormat(request.format),
    verbosity: traits.openAiOptions ? request.verbosity : undefined,
    ...buildUser(request, traits, dropped),
    service_tier: request.serviceTier,
    prompt_cache_key: request.promptCacheKey,
    ...(request.isStreaming ? buildStreaming(traits) : {}),
  });
}

/** Without asking, the usage of a stream is known only where it always comes. */
function buildStreaming({ streamUsage }: HostTraits): Fields {
  return streamUsage === 'always'
    ? { stream: true }
    : { stream: true, stream_options: { include_usage: true } };
}

function buildUser(
  { user }: ConversationRequest,
  { openAiOptions, endUser }: HostTraits,
  dropped: Dropped,
): Fields {
  if (endUser) return { [openAiOptions ? 'safety_identifier' : 'user']: limitUser(user) };
  if (user !== undefined) noteDropped(dropped, 'user');
  return {};
}

const thinkingOff = {
  none: {},
  thinking: { thinking: { type: 'disabled' } },
  enable_thinking: { enable_thinking: false },
} satisfies Record<HostTraits['thinkingSwitch'], Fields>;

function buildThinking(request: ConversationRequest, context: TranslationContext, dropped: Dropped): Fields {
  const { thinkingSwitch, reasonsBesideTools } = traitsOf(context);
  if (request.effort === 'none' && canStopThinking(context)) return thinkingOff[thinkingSwitch];
  if (request.tools.length > 0 && !reasonsBesideTools) {
    if (request.effort !== undefined && request.effort !== 'none') noteDropped(dropped, 'reasoning effort');
    return { reasoning_effort: 'none' };
  }
  return { reasoning_effort: acceptedEffort(request, context, dropped) };
}

function toolBuilder({ schemas }: HostTraits, all: readonly Tool[]) {
  const expansion = createExpansion(all.map(({ parameters }) => parameters));
  return (tool: Tool, names: ToolNames): Fields => {
    const { description, parameters, strict } = toFunctionTool(tool);
    const fitted = toHostSchema(parameters, schemas, expansion.of(tool.name));
    const nested = withoutAbsent({ name: names.toWire(tool), description, parameters: fitted, strict });
    return { type: 'function', function: nested };
  };
}

function buildChosen(tool: ToolName, names: ToolNames): Fields {
  return { type: 'function', function: { name: names.toWire(tool) } };
}

function buildFormat(format: AnswerFormat): Fields {
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, schema, strict, description } = format;
  return { type: 'json_schema', json_schema: withoutAbsent({ name, schema, strict, description }) };
}

/** What the messages depend on besides the conversation. */
interface HostDestination {
  readonly context: TranslationContext;
  readonly traits: HostTraits;
  readonly names: ToolNames;
}

/**
 * The messages of a Chat request: one leading system message, then the turns. Users in a row are one
 * message, because the chat templates of many hosts insist on taking turns.
 */
function buildChatTurns(request: ConversationRequest, destination: HostDestination): Fields[] {
  const { traits } = destination;
  const messages = buildSystem(request.system, traits);
  let pending: ContentPart[] = [];
  for (const turn of orderTurns(request.turns)) {
    const parts = toUserParts(turn, traits);
    if (parts === undefined) {
      flush();
      for (const message of buildTurn(turn, destination)) messages.push(message);
    }
    for (const part of parts ?? mediaOf(turn)) pending.push(part);
  }
  flush();
  return messages;

  function flush(): void {
    if (pending.length === 0) return;
    if (!traits.userAfterTool && messages.at(-1)?.role === 'tool') messages.push(bridge);
    messages.push({ role: 'user', content: buildContent(pending) });
    pending = [];
  }
}

/** Between the result of a call and a user's message, for hosts that insist on an answer to the result. */
const bridge: Fields = { role: 'assistant', content: 'I have the results.' };

function buildSystem(system: readonly SystemTurn[], { openAiOptions }: HostTraits): Fields[] {
  if (system.length === 0) return [];
  const isDeveloper = openAiOptions && system.every((turn) => turn.isDeveloper);
  const content = system.map((turn) => turn.text).join('\n\n');
  return [{ role: isDeveloper ? 'developer' : 'system', content }];
}

/**
 * Content that becomes user messages. Chat templates of hosts other than OpenAI refuse or misplace a system message
 * after the first; as marked user text it stays in place, so that the prompt's beginning is the same from turn to turn.
 */
function toUserParts(turn: Turn, { laterSystem }: HostTraits): readonly ContentPart[] | undefined {
  if (turn.role === 'user') return turn.parts;
  if (turn.role !== 'system' || laterSystem) return undefined;
  return [{ kind: 'text', text: markSystemText(turn.text) }];
}

function buildTurn(turn: Turn, destination: HostDestination): Fields[] {
  switch (turn.role) {
    case 'system':
      return [{ role: turn.isDeveloper ? 'developer' : 'system', content: turn.text }];
    case 'assistant':
      return [buildAssistant(turn, destination)];
    case 'results':
      return turn.results.map((result) => buildResult(result, destination.traits));
    case 'user':
      return [];
  }
}

function buildAssistant(turn: AssistantTurn, { context, traits, names }: HostDestination): Fields {
  const text = paragraphs(textsOf(turn.parts));
  const toolCalls = callsOf(turn.parts).map((call, index) =>
    withoutAbsent({
      id: toHostCallId(call.id, traits),
      type: 'function',
      function: { name: names.toWire(call), arguments: toFunctionArguments(call) },
      extra_content: buildSignature(call, { context, traits, isFirst: index === 0 }),
    }),
  );
  return withoutAbsent({
    role: 'assistant',
    content: text === '' ? traits.contentBesideCalls : text,
    ...buildReasoning(turn, traits, context),
    tool_calls: toolCalls.length > 0 ? toolCalls : undefined,
  });
}

/** A blank text where the host insists on one and there is none. */
const noReasoning = ' ';

/**
 * The reasoning of a turn that calls tools, for hosts that want it back. What another vendor has signed is not for them.
 */
function buildReasoning(
  { parts }: AssistantTurn,
  { reasoning, needsReasoning }: HostTraits,
  context: TranslationContext,
): Fields {
  const thoughts = thoughtsOf(parts);
  if (callsOf(parts).length === 0 || reasoning === 'none' || reasoning === 'extra_content') return {};
  const details = reasoning === 'reasoning_details' ? openDetails(thoughts, context) : [];
  if (details.length > 0) return { reasoning_details: details };
  const field = reasoning === 'reasoning_details' ? 'reasoning' : reasoning;
  const texts = thoughts.flatMap(({ text, seal }) => (seal === undefined && text !== '' ? [text] : []));
  if (texts.length === 0) return needsReasoning ? { [field]: noReasoning } : {};
  return { [field]: texts.join('\n\n') };
}

/** Google's endpoint of this dialect refuses the first call of a turn without a signature. */
function buildSignature(
  { seal }: ToolCall,
  { context, traits, isFirst }: Omit<HostDestination, 'names'> & { readonly isFirst: boolean },
): Fields | undefined {
  if (traits.reasoning !== 'extra_content') return undefined;
  const own = sealFor(seal, context)?.data;
  const signature = own ?? (isFirst && geminiThinking(context) === 'level' ? skipsValidator : undefined);
  return signature === undefined ? undefined : { google: { thought_signature: signature } };
}

const placeholder = '[the content of this result follows in the next user message]';

/** Tool messages hold only text: images and files follow in the next user message. */
function buildResult(result: ToolResult, traits: HostTraits): Fields {
  const parts = result.parts.map(toTextPart);
  const content = paragraphs([joinTexts(parts, '\n\n'), parts.some(isMedia) ? placeholder : '']);
  const marked = result.isError ? `Error: ${content}` : content;
  return { role: 'tool', tool_call_id: toHostCallId(result.callId, traits), content: marked };
}

function mediaOf(turn: Turn): readonly ContentPart[] {
  if (turn.role !== 'results') return [];
  return turn.results.flatMap((result) => result.parts.map(toTextPart).filter(isMedia));
}

/** One string where there is only text, because some hosts refuse arrays. */
function buildContent(parts: readonly ContentPart[]): unknown {
  const plain = parts.map(toTextPart);
  if (plain.every((part) => part.kind === 'text')) return joinTexts(plain, '\n\n');
  return plain.map(buildPart);
}

/** Why a host can't take a picture or a document. */
export function cannotTakeInChat(part: MediaPart, context: TranslationContext): string | undefined {
  if (part.kind === 'image') return undefined;
  if (toDocumentText(part.source) !== undefined) return undefined;
  if (!traitsOf(context).documents) return 'this model takes no documents';
  return isPdf(part.source)
    ? undefined
    : 'only PDF and plain text with their content inside can be read here';
}

function buildPart(part: ContentPart): Fields {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { source } = part;
  if (source.kind === 'text') return { type: 'text', text: source.text };
  if (part.kind === 'image') {
    return { type: 'image_url', image_url: withoutAbsent({ url: toUrl(source), detail: part.detail }) };
  }
  return { type: 'file', file: { filename: part.name ?? 'document.pdf', file_data: toUrl(source) } };
}
