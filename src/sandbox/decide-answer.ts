import type {
  Answer,
  AnswerPart,
  ConversationRequest,
  FinishReason,
  Tool,
} from '../dialects/conversation.ts';
import { toFields, wrongField } from '../dialects/fields.ts';
import { firstMatch } from '../dialects/translation/stop-sequences.ts';
import { noUsage } from '../dialects/usage.ts';
import type { TextKind } from './models.ts';
import { buildValue } from './schema-value.ts';
import { clip, countTokens, cutToTokens } from './tokens.ts';

export interface Asked {
  readonly request: ConversationRequest;
  readonly kind: TextKind;
  readonly mayThink: boolean;
  readonly inputTokens: number;
}

// Two digits and a space, one digit and a space: short enough that a usual cap on output keeps all events.
export const deltaLengths = { slow: 3, long: 2, mini: 6, tool: 6, think: 6, cut: 6 } as const;
const slowText = Array.from({ length: 50 }, (_, i) => String(i + 1).padStart(2, '0')).join(' ');
const longText = Array.from({ length: 2_000 }, (_, i) => String((i + 1) % 10)).join(' ');
const quotedCharacters = 200;

/**
 * Decides what the model answers: always the same for the same request, streamed or not. A request that asks for several
 * answers gets them in different words, unless they are made of a schema. Throws request.field for a forced call that is
 * none.
 */
export function decideAnswers(asked: Asked, count: number): readonly Answer[] {
  const answerOf = (part: AnswerPart) => shorten([...thoughts(asked), part], asked);
  const made = partOfSchema(asked);
  // Unfolded once, since that may take long.
  if (made !== undefined) return Array<Answer>(count).fill(answerOf(made));
  return Array.from({ length: count }, (_, choice) =>
    answerOf({ kind: 'text', text: writeText(asked, choice) }),
  );
}

function partOfSchema(asked: Asked): AnswerPart | undefined {
  const tool = chooseTool(asked);
  if (tool !== undefined) return callOf(tool);
  const { format } = asked.request;
  return format?.kind === 'schema'
    ? { kind: 'text', text: JSON.stringify(buildValue(format.schema)) }
    : undefined;
}

function thoughts({ kind, mayThink, request }: Asked): readonly AnswerPart[] {
  if (kind !== 'think' || !mayThink) return [];
  const tokens = countTokens(lastUserText(request));
  const text = `The last text has ${tokens} tokens. A short reply that repeats it will do.`;
  return [{ kind: 'thinking', text }];
}

function chooseTool({ kind, request }: Asked): Tool | undefined {
  const { toolChoice = { kind: 'auto' } } = request;
  // Input for a grammar can't be made up.
  const tools = request.tools.filter(({ format }) => toFields(format).type !== 'grammar');
  switch (toolChoice.kind) {
    case 'none':
      return undefined;
    case 'tool':
      return tools.find(({ name }) => name === toolChoice.tool.name) ?? uncallable();
    case 'required':
      return tools[0] ?? uncallable();
    case 'auto':
      return kind === 'tool' && toolResults(request).length === 0 ? tools[0] : undefined;
  }
}

function uncallable(): never {
  throw wrongField('tool_choice', 'a tool that the sandbox can call');
}

/** Without an id of its own: each dialect has its own form of them. */
function callOf({ name, namespace, kind, parameters }: Tool): AnswerPart {
  const input = kind === 'custom' ? 'sandbox' : JSON.stringify(buildValue({ type: 'object', ...parameters }));
  return { kind: 'call', call: { id: '', name, namespace, kind, input } };
}

function writeText({ kind, request }: Asked, choice: number): string {
  const { format } = request;
  const text = writeFreeText(kind, request) + (choice === 0 ? '' : ` This is answer ${choice + 1}.`);
  return format?.kind === 'json' ? JSON.stringify({ reply: text }) : text;
}

function writeFreeText(kind: TextKind, request: ConversationRequest): string {
  if (kind === 'slow') return slowText;
  if (kind === 'long') return longText;
  const results = toolResults(request);
  if (results.length > 0)
    return `The tool answered: "${clip(results.join(' '), quotedCharacters)}". Nothing else is needed.`;
  const quoted = clip(lastUserText(request), quotedCharacters);
  if (quoted === '') return 'The sandbox found no text to reply to, so it says only this.';
  return `The sandbox read: "${quoted}". It works offline and always replies the same way.`;
}

/** The last text of the last user turn; empty if it has none. */
function lastUserText({ turns }: ConversationRequest): string {
  const parts = turns.findLast((turn) => turn.role === 'user')?.parts ?? [];
  return parts.findLast((part) => part.kind === 'text')?.text ?? '';
}

/** Results since the model's last message. */
function toolResults({ turns }: ConversationRequest): readonly string[] {
  const fresh = turns.slice(turns.findLastIndex(({ role }) => role === 'assistant') + 1);
  return fresh
    .flatMap((turn) => (turn.role === 'results' ? turn.results : []))
    .map(({ parts }) => parts.map((part) => (part.kind === 'text' ? part.text : '')).join(' '));
}

/** Cuts text at the first stop sequence and everything at the cap. A call that does not fit is left out. */
function shorten(parts: readonly AnswerPart[], { request, inputTokens }: Asked): Answer {
  const kept: AnswerPart[] = [];
  let left = request.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  let [outputTokens, reasoningTokens] = [0, 0];
  let finish: FinishReason = parts.some(({ kind }) => kind === 'call') ? 'calls' : 'stop';
  let stopSequence: string | undefined;
  const stops = request.stop.filter((stop) => stop !== '');
  for (const part of parts) {
    const stopped = part.kind === 'text' ? firstMatch(part.text, stops) : undefined;
    const whole: AnswerPart =
      part.kind === 'text' && stopped !== undefined
        ? { ...part, text: part.text.slice(0, stopped.start) }
        : part;
    const piece = cutToCap(whole, left);
    const tokens = piece === undefined ? 0 : partTokens(piece);
    left -= tokens;
    outputTokens += tokens;
    if (part.kind === 'thinking') reasoningTokens += tokens;
    if (piece !== undefined) kept.push(piece);
    if (piece !== whole && !isEmpty(whole)) finish = 'length';
    else if (stopped !== undefined) [finish, stopSequence] = ['sequence', stopped.stop];
    if (finish === 'length' || finish === 'sequence') break;
  }
  const usage = { ...noUsage, inputTokens, outputTokens, reasoningTokens };
  return { parts: kept, finish, stopSequence, usage };
}

/** The same object if it fits; undefined if nothing of it does. */
function cutToCap(part: AnswerPart, tokens: number): AnswerPart | undefined {
  if (isEmpty(part)) return undefined;
  if (partTokens(part) <= tokens) return part;
  if (part.kind === 'call' || tokens < 1) return undefined;
  return { ...part, text: cutToTokens(part.text, tokens) };
}

function isEmpty(part: AnswerPart): boolean {
  return part.kind !== 'call' && part.text === '';
}

function partTokens(part: AnswerPart): number {
  return countTokens(part.kind === 'call' ? part.call.name + part.call.input : part.text);
}
