import {
  type Answer,
  type AnswerPart,
  type FinishReason,
  type ToolCall,
  textPart,
  thoughtPart,
} from '../conversation.ts';
import { brokenAnswer, type Fields, toFields, toList, toText, withoutAbsent } from '../fields.ts';
import type { TranslationContext } from '../translation/context.ts';
import { parseFinishWord } from '../translation/finish-words.ts';
import { openThought, type Seal, sealText } from '../translation/seals.ts';
import { noUsage } from '../usage.ts';
import { buildResponsesUsage, parseResponsesUsage } from './usage.ts';

/** A whole Responses answer in the neutral form. */
export function parseResponsesAnswer(body: Fields): Answer {
  const { status } = body;
  if (status !== undefined && status !== 'completed' && status !== 'incomplete') {
    throw brokenAnswer('is not complete, although its status is success');
  }
  if (!Array.isArray(body.output)) throw brokenAnswer('has no output');
  const parts = body.output.flatMap((item: unknown) => parseOutputItem(toFields(item)));
  const hasCalls = parts.some((part) => part.kind === 'call');
  return {
    parts,
    finish: parseResponsesFinish(body, hasCalls),
    usage: parseResponsesUsage(body),
  };
}

/** One output item; those of tools that the provider ran itself are not for the client. */
export function parseOutputItem(item: Fields): AnswerPart[] {
  switch (item.type) {
    case 'message':
      return toList(item.content).flatMap((part) => parsePart(toFields(part)));
    case 'reasoning':
      return thoughtPart(toReasoningText(item), parseEncrypted(item));
    case 'function_call':
    case 'custom_tool_call':
      return [{ kind: 'call', call: parseOutputCall(item) }];
    default:
      return [];
  }
}

/** Encrypted reasoning with its id, which go back together; nothing if there is none. */
function parseEncrypted({ id, encrypted_content }: Fields): string {
  return toText(encrypted_content) === '' ? '' : JSON.stringify({ id, encrypted_content });
}

export function parseOutputCall(item: Fields): ToolCall {
  const isCustom = item.type === 'custom_tool_call';
  return {
    kind: isCustom ? 'custom' : 'function',
    id: toText(item.call_id) || toText(item.id),
    name: toText(item.name),
    input: toText(isCustom ? item.input : item.arguments),
  };
}

export function toReasoningText(item: Fields): string {
  const texts = (list: unknown) => toList(list).map((part) => toText(toFields(part).text));
  const summary = texts(item.summary);
  return (summary.length > 0 ? summary : texts(item.content)).join('\n\n');
}

function parsePart(part: Fields): AnswerPart[] {
  if (part.type === 'refusal') return textPart('refusal', toText(part.refusal));
  return textPart('text', toText(part.text));
}

export function buildResponsesAnswer(answer: Answer, context: TranslationContext, echo: Fields): Fields {
  const { status, incomplete_details } = buildStatus(answer.finish);
  const output: Fields[] = [];
  let spoken: Fields[] = [];
  const endMessage = () => {
    if (spoken.length > 0) output.push(messageItem(context.newId('msg_'), status, spoken));
    spoken = [];
  };
  for (const part of answer.parts) {
    if (part.kind === 'thinking') {
      endMessage();
      output.push(reasoningItem(context.newId('rs_'), part.text, sealOf(part, context) ?? openThought));
    } else if (part.kind === 'call') {
      endMessage();
      const seal = sealOf(part.call, context);
      if (seal !== undefined) output.push(reasoningItem(context.newId('rs_'), '', seal));
      output.push(buildCallItem(part.call, context));
    } else spoken.push(contentPart(part.kind, part.text));
  }
  endMessage();
  return buildResponse(context, {
    id: context.newId('resp_'),
    echo,
    status,
    incomplete_details,
    output,
    usage: buildResponsesUsage(answer.usage ?? noUsage),
  });
}

export function reasoningItem(id: string, text: string, seal?: string): Fields {
  const summary = text === '' ? [] : [{ type: 'summary_text', text }];
  return withoutAbsent({ id, type: 'reasoning', summary, encrypted_content: seal });
}

function sealOf(
  { seal }: { readonly seal?: Seal | undefined },
  context: TranslationContext,
): string | undefined {
  return seal && sealText(seal, context);
}

export function messageItem(id: string, status: string, content: readonly Fields[]): Fields {
  return { id, type: 'message', role: 'assistant', status, content };
}

export function contentPart(kind: 'text' | 'refusal', text: string): Fields {
  if (kind === 'refusal') return { type: 'refusal', refusal: text };
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function buildCallItem(call: ToolCall, context: TranslationContext): Fields {
  const id = context.newId(call.kind === 'custom' ? 'ctc_' : 'fc_');
  const named = { ...call, id: call.id === '' ? context.newId('call_') : call.id };
  return callItem(id, 'completed', named);
}

/** `call.id` is the id that results refer to; the item has one of its own. */
export function callItem(id: string, status: string, call: ToolCall): Fields {
  const { name, namespace, input } = call;
  const common = { status, call_id: call.id, name, namespace };
  if (call.kind === 'custom') return withoutAbsent({ id, type: 'custom_tool_call', ...common, input });
  const text = input === '' && status === 'completed' ? '{}' : input;
  return withoutAbsent({ id, type: 'function_call', ...common, arguments: text });
}

export function parseResponsesFinish(response: Fields, hasCalls: boolean): FinishReason {
  if (response.status !== 'incomplete') return hasCalls ? 'calls' : 'stop';
  return parseFinishWord(toText(toFields(response.incomplete_details).reason) || 'length', hasCalls);
}

interface ResponseStatus {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: { readonly reason: string } | null;
}

export function buildStatus(finish: FinishReason): ResponseStatus {
  if (finish === 'length')
    return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (finish === 'filter') return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  return { status: 'completed', incomplete_details: null };
}

/** The members of a response that repeat the request, with the defaults of the dialect. */
export function buildEcho(request: Fields): Fields {
  return {
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: request.reasoning ?? { effort: null, summary: null },
    store: false,
    temperature: request.temperature ?? null,
    text: request.text ?? { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request.top_p ?? null,
    truncation: 'disabled',
    metadata: request.metadata ?? {},
  };
}

interface ResponseState {
  readonly id: string;
  readonly echo: Fields;
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly Fields[];
  readonly usage: Fields | null;
  readonly error?: Fields | null;
  readonly incomplete_details?: Fields | null;
}

/** A response object in the given state. */
export function buildResponse(context: TranslationContext, state: ResponseState): Fields {
  return {
    id: state.id,
    object: 'response',
    created_at: context.createdS,
    status: state.status,
    error: state.error ?? null,
    incomplete_details: state.incomplete_details ?? null,
    model: context.requestedModel,
    output: state.output,
    ...state.echo,
    usage: state.usage,
  };
}
