import type {
  AssistantTurn,
  ContentPart,
  ConversationRequest,
  ResultsTurn,
  SystemTurn,
  Turn,
} from '../../conversation.ts';
import { type Fields, unsupported, withoutAbsent } from '../fields.ts';
import { isPdf, joinTexts, markSystemText, titled, toDocumentText, toUrl } from '../media.ts';
import { orderTurns } from '../order-turns.ts';
import type { TranslationContext } from '../quirks.ts';
import type { ToolNames } from '../tool-names.ts';
import { toFunctionArguments } from '../wrap-custom.ts';

type Host = TranslationContext['host'];

/** The messages of a Chat request: one leading system message, then the turns. */
export function buildChatTurns(
  request: ConversationRequest,
  { host }: TranslationContext,
  names: ToolNames,
): Fields[] {
  const turns = orderTurns(request.turns).flatMap((turn) => buildTurn(turn, host, names));
  return [...buildSystem(request.system, host), ...turns];
}

function buildSystem(system: readonly SystemTurn[], host: Host): Fields[] {
  if (system.length === 0) return [];
  const isDeveloper = host === 'openai' && system.every((turn) => turn.isDeveloper);
  const content = system.map((turn) => turn.text).join('\n\n');
  return [{ role: isDeveloper ? 'developer' : 'system', content }];
}

function buildTurn(turn: Turn, host: Host, names: ToolNames): Fields[] {
  switch (turn.role) {
    case 'system':
      return [buildLaterSystem(turn, host)];
    case 'user':
      return [{ role: 'user', content: buildContent(turn.parts, host) }];
    case 'assistant':
      return [buildAssistant(turn, names)];
    case 'results':
      return buildResults(turn, host);
  }
}

// Chat templates of other hosts refuse or misplace a system message after the first; as a marked user text it
// stays at its place, so the prompt's beginning is the same from turn to turn.
function buildLaterSystem({ isDeveloper, text }: SystemTurn, host: Host): Fields {
  if (host !== 'openai') return { role: 'user', content: markSystemText(text) };
  return { role: isDeveloper ? 'developer' : 'system', content: text };
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

/** Tool messages hold only text: images and files follow in one user message after all of them. */
function buildResults({ results }: ResultsTurn, host: Host): Fields[] {
  const media: ContentPart[] = [];
  const messages: Fields[] = results.map((result) => {
    const parts = result.parts.map(toTextPart);
    const others = parts.filter((part) => part.kind !== 'text');
    media.push(...others);
    const text = joinTexts(parts, '\n\n');
    const content = [text, others.length > 0 ? placeholder : ''].filter((piece) => piece !== '').join('\n\n');
    const marked = result.isError ? `Error: ${content}` : content;
    return { role: 'tool', tool_call_id: result.callId, content: marked };
  });
  if (media.length > 0) messages.push({ role: 'user', content: buildContent(media, host) });
  return messages;
}

/** One string where there is only text, because some hosts refuse arrays. */
function buildContent(parts: readonly ContentPart[], host: Host): unknown {
  const plain = parts.map(toTextPart);
  if (plain.every((part) => part.kind === 'text')) return joinTexts(plain, '\n\n');
  return plain.map((part) => buildPart(part, host));
}

function toTextPart(part: ContentPart): ContentPart {
  const text = part.kind === 'document' ? toDocumentText(part.source) : undefined;
  return part.kind !== 'document' || text === undefined
    ? part
    : { kind: 'text', text: titled(text, part.name) };
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
