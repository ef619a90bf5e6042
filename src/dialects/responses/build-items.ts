import type { CallKind, ContentPart, ToolCall, ToolResult, Turn } from '../conversation.ts';
import { type Fields, unsupported, withoutAbsent } from '../fields.ts';
import { joinTexts, markSystemText, titled, toDocumentText, toUrl } from '../translation/media.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { orderTurns } from '../translation/order-turns.ts';
import type { ToolNames } from '../translation/tool-names.ts';

export function buildItems(turns: readonly Turn[], context: TranslationContext, names: ToolNames): Fields[] {
  const kinds = kindsOf(turns);
  return orderTurns(turns).flatMap((turn) => buildTurn(turn, context, names, kinds));
}

/** A result has the kind of its call, which the result itself does not state. */
function kindsOf(turns: readonly Turn[]): ReadonlyMap<string, CallKind> {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.calls : []));
  return new Map(calls.map((call) => [call.id, call.kind]));
}

function buildTurn(
  turn: Turn,
  { host }: TranslationContext,
  names: ToolNames,
  kinds: ReadonlyMap<string, CallKind>,
): Fields[] {
  switch (turn.role) {
    case 'system':
      return [
        host === 'openai'
          ? message(turn.isDeveloper ? 'developer' : 'system', [inputText(turn.text)])
          : message('user', [inputText(markSystemText(turn.text))]),
      ];
    case 'user':
      return [message('user', turn.parts.map(buildPart))];
    case 'results':
      return turn.results.map((result) => buildResult(result, kinds.get(result.callId)));
    case 'assistant': {
      const text = turn.text === '' ? [] : [message('assistant', [{ type: 'output_text', text: turn.text }])];
      return [...text, ...turn.calls.map((call) => buildCall(call, names))];
    }
  }
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
  return { type: 'function_call', ...named, arguments: call.input === '' ? '{}' : call.input };
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
  const { source, path } = part;
  if (part.kind === 'image') {
    if (source.kind === 'text') throw unsupported(path, 'an image needs a URL or base64 data');
    return { type: 'input_image', image_url: toUrl(source), detail: part.detail ?? 'auto' };
  }
  const text = toDocumentText(source);
  if (text !== undefined) return inputText(titled(text, part.name));
  if (source.kind === 'url') return withoutAbsent({ type: 'input_file', file_url: source.url });
  if (source.kind === 'text') return inputText(source.text);
  return { type: 'input_file', filename: part.name ?? 'document.pdf', file_data: toUrl(source) };
}
