import { traitsOf } from '../../hosts/find-host.ts';
import { geminiThinking, nearestEffort } from '../../hosts/models.ts';
import {
  type AnswerPart,
  type ContentPart,
  type ConversationRequest,
  callsOf,
  type ToolCall,
  type ToolChoice,
  type Turn,
} from '../conversation.ts';
import { type Dropped, type Fields, noteDropped, withoutAbsent } from '../fields.ts';
import { clampMaxTokens, type TranslationContext } from '../translation/context.ts';
import { isMedia, joinTexts, markSystemText, toTextPart } from '../translation/media.ts';
import { orderTurns } from '../translation/order-turns.ts';
import { sealFor, skipsValidator } from '../translation/seals.ts';
import { type ToolNames, toArgumentsObject, toFunctionTool } from '../translation/tool-names.ts';
import type { MediaPart } from '../translation/unsupported-content.ts';

/** The Gemini request for a neutral one. Its model and whether it streams are in the path. */
export function buildGeminiRequest(
  request: ConversationRequest,
  context: TranslationContext,
  names: ToolNames,
  dropped: Dropped,
): Fields {
  const system = request.system.map((turn) => turn.text).filter((text) => text !== '');
  const contents = buildContents(request, context, names);
  // A request with nothing but a system prompt is fine in the OpenAI dialects and refused here.
  const only = contents.length === 0 ? system.pop() : undefined;
  if (only !== undefined) contents.push({ role: 'user', parts: [{ text: only }] });
  if (request.parallelCalls === false) noteDropped(dropped, 'parallel tool calls');
  const config = buildConfig(request, context, dropped);
  return withoutAbsent({
    contents,
    systemInstruction: system.length > 0 ? { parts: system.map((text) => ({ text })) } : undefined,
    ...buildTools(request, names),
    generationConfig: Object.keys(config).length > 0 ? config : undefined,
  });
}

function buildTools({ tools, toolChoice }: ConversationRequest, names: ToolNames): Fields {
  if (tools.length === 0) return {};
  const functionDeclarations = tools.map((tool) => {
    const { description, parameters } = toFunctionTool(tool);
    return withoutAbsent({ name: names.toWire(tool), description, parametersJsonSchema: parameters });
  });
  return {
    tools: [{ functionDeclarations }],
    toolConfig: toolChoice === undefined ? undefined : { functionCallingConfig: toMode(toolChoice, names) },
  };
}

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY', tool: 'ANY' };

function toMode(choice: ToolChoice, names: ToolNames): Fields {
  const mode = modes[choice.kind];
  return choice.kind === 'tool' ? { mode, allowedFunctionNames: [names.toWire(choice.tool)] } : { mode };
}

function buildConfig(request: ConversationRequest, context: TranslationContext, dropped: Dropped): Fields {
  const { stop, format, temperature, topP } = request;
  return withoutAbsent({
    maxOutputTokens: clampMaxTokens(request.maxOutputTokens, context.maxOutputTokens),
    temperature,
    topP,
    stopSequences: stop.length > 0 ? stop : undefined,
    responseMimeType: format === undefined ? undefined : 'application/json',
    responseJsonSchema: format?.kind === 'schema' ? format.schema : undefined,
    thinkingConfig: buildThinking(request, context, dropped),
  });
}

const budgets = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

function buildThinking(
  { effort }: ConversationRequest,
  context: TranslationContext,
  dropped: Dropped,
): Fields | undefined {
  if (effort === undefined) return undefined;
  const shown = effort === 'none' ? {} : { includeThoughts: true };
  switch (geminiThinking(context)) {
    case 'level':
      return { thinkingLevel: nearestEffort(effort, context), ...shown };
    case 'budget':
      return { thinkingBudget: budgets[nearestEffort(effort, context)], ...shown };
    case 'none':
      if (effort !== 'none') noteDropped(dropped, 'reasoning effort');
      return undefined;
  }
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: Fields[];
}

function buildContents(
  request: ConversationRequest,
  context: TranslationContext,
  names: ToolNames,
): Content[] {
  const contents: Content[] = [];
  const { hasCallIds } = traitsOf(context);
  /** The functions of the calls, which responses name again. */
  const called = new Map<string, string>();
  for (const turn of orderTurns(request.turns)) {
    for (const content of buildTurn(turn)) if (content.parts.length > 0) contents.push(content);
  }
  return contents;

  function idOf(id: string): string | undefined {
    return hasCallIds ? id : undefined;
  }

  function buildTurn(turn: Turn): Content[] {
    switch (turn.role) {
      case 'system':
        return [{ role: 'user', parts: [{ text: markSystemText(turn.text) }] }];
      case 'user':
        return [{ role: 'user', parts: turn.parts.map(buildPart) }];
      case 'assistant':
        return [{ role: 'model', parts: buildModel(turn.parts) }];
      case 'results':
        return [
          {
            role: 'user',
            parts: turn.results.map(({ callId, parts, isError }) => {
              const text = joinTexts(parts.map(toTextPart), '\n\n');
              const response = isError ? { error: text } : { output: text };
              const name = called.get(callId) ?? callId;
              return { functionResponse: withoutAbsent({ id: idOf(callId), name, response }) };
            }),
          },
          // Most models take no media in a response.
          {
            role: 'user',
            parts: turn.results.flatMap(({ parts }) => parts.map(toTextPart).filter(isMedia)).map(buildPart),
          },
        ];
    }
  }

  function buildModel(parts: readonly AnswerPart[]): Fields[] {
    const [first] = callsOf(parts);
    return parts.flatMap((part) => {
      if (part.kind === 'thinking') return [];
      return part.kind === 'call' ? [buildCall(part.call, part.call === first)] : [{ text: part.text }];
    });
  }

  function buildCall(call: ToolCall, isFirst: boolean): Fields {
    const name = names.toWire(call);
    called.set(call.id, name);
    const functionCall = withoutAbsent({ id: idOf(call.id), name, args: toArgumentsObject(call) });
    // Newer models refuse the first call of a turn without a signature.
    const needed = isFirst && geminiThinking(context) === 'level' ? skipsValidator : undefined;
    return withoutAbsent({ functionCall, thoughtSignature: sealFor(call.seal, context)?.data ?? needed });
  }
}

const mimeTypes: Readonly<Record<string, string>> = {
  ...{ jpg: 'image/jpeg', jpeg: 'image/jpeg', png: 'image/png', gif: 'image/gif', webp: 'image/webp' },
  pdf: 'application/pdf',
};

function endingOf(url: string): string {
  return /\.([a-z]+)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
}

/** Why a host can't take a picture or a document. */
export function cannotTakeInGemini({ source }: MediaPart): string | undefined {
  const isUnknown = source.kind === 'url' && mimeTypes[endingOf(source.url)] === undefined;
  return isUnknown ? 'its address does not show its type, which must be known here' : undefined;
}

function buildPart(original: ContentPart): Fields {
  const part = toTextPart(original);
  if (part.kind === 'text') return { text: part.text };
  const { source } = part;
  if (source.kind === 'text') return { text: source.text };
  if (source.kind === 'base64') return { inlineData: { mimeType: source.mediaType, data: source.data } };
  return { fileData: { mimeType: mimeTypes[endingOf(source.url)], fileUri: source.url } };
}
