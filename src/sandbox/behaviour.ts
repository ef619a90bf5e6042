import type { Answer, Ask, End, Part, Tool } from './ask.ts';
import { Refusal } from './refusal.ts';
import { buildValue } from './schema/schema-value.ts';
import { clip, countTokens, cutToTokens } from './tokens.ts';

const slowEvents = 50;
const longEvents = 2_000;

// Two digits and a space, one digit and a space: short enough that a usual cap on output keeps all events.
const deltaLengths = { slow: 3, long: 2, mini: 6, tool: 6, think: 6, cut: 6 } as const;
const slowText = Array.from({ length: slowEvents }, (_, i) => String(i + 1).padStart(2, '0')).join(' ');
const longText = Array.from({ length: longEvents }, (_, i) => String((i + 1) % 10)).join(' ');
const quotedCharacters = 200;

/**
 * Decides what the model answers: always the same for the same request, streamed or not. `choice` numbers the answers of
 * a request that asks for several.
 */
export function decideAnswer(ask: Ask, choice = 0): Answer {
  const tool = chooseTool(ask);
  const part: Part = tool === undefined ? { kind: 'text', text: buildText(ask, choice) } : call(tool);
  return shorten([...think(ask), part], ask);
}

function think({ model, mayThink, userText }: Ask): readonly Part[] {
  if (model.kind !== 'think' || !mayThink) return [];
  const text = `The last text has ${countTokens(userText)} tokens. A short reply that repeats it will do.`;
  return [{ kind: 'thinking', text }];
}

function chooseTool(ask: Ask): Tool | undefined {
  const { toolChoice, tools } = ask;
  if (toolChoice.kind === 'none') return undefined;
  if (toolChoice.kind === 'named') return tools.find(({ name }) => name === toolChoice.name) ?? uncallable();
  if (toolChoice.kind === 'required') return tools[0] ?? uncallable();
  return ask.model.kind === 'tool' && ask.toolResults.length === 0 ? tools[0] : undefined;
}

function uncallable(): never {
  throw new Refusal(
    400,
    'tool_choice forces a call, but none of the tools it leaves can be called by the sandbox',
  );
}

function call(tool: Tool): Part {
  if (tool.input.kind === 'text') return { kind: 'call', tool, input: 'sandbox', inputText: 'sandbox' };
  const input = buildValue(tool.input);
  return { kind: 'call', tool, input, inputText: JSON.stringify(input) };
}

function buildText(ask: Ask, choice: number): string {
  if (ask.format.kind === 'schema') return JSON.stringify(buildValue(ask.format));
  if (ask.format.kind === 'json') return JSON.stringify({ reply: buildFreeText(ask, choice) });
  return buildFreeText(ask, choice);
}

function buildFreeText({ model, toolResults, userText }: Ask, choice: number): string {
  if (model.kind === 'slow') return slowText;
  if (model.kind === 'long') return longText;
  const suffix = choice === 0 ? '' : ` This is answer ${choice + 1}.`;
  if (toolResults.length > 0) {
    return `The tool answered: "${clip(toolResults.join(' '), quotedCharacters)}". Nothing else is needed.${suffix}`;
  }
  const quoted = clip(userText, quotedCharacters);
  if (quoted === '') return `The sandbox found no text to reply to, so it says only this.${suffix}`;
  return `The sandbox read: "${quoted}". It works offline and always replies the same way.${suffix}`;
}

/** Truncates text at the first stop sequence and everything at the cap. A call that does not fit is left out. */
function shorten(parts: readonly Part[], ask: Ask): Answer {
  const spoken: Part[] = [];
  let tokensLeft = ask.outputCap ?? Number.POSITIVE_INFINITY;
  let outputTokens = 0;
  let thinkingTokens = 0;
  let end: End = { kind: 'done' };
  for (const part of parts) {
    const shortened = part.kind === 'text' ? cutAtStop(part.text, ask.stops) : undefined;
    const whole = shortened === undefined ? part : { kind: 'text' as const, text: shortened.text };
    const kept = cutToCap(whole, tokensLeft);
    const tokens = kept === undefined ? 0 : partTokens(kept);
    tokensLeft -= tokens;
    outputTokens += tokens;
    if (kept !== undefined) spoken.push(kept);
    if (part.kind === 'thinking') thinkingTokens += tokens;
    if (kept !== whole && !isEmptyText(whole)) end = { kind: 'length' };
    else if (shortened?.sequence !== undefined) end = { kind: 'stop', sequence: shortened.sequence };
    if (end.kind !== 'done') break;
  }
  return { parts: spoken, end, outputTokens, thinkingTokens, deltaLength: deltaLengths[ask.model.kind] };
}

function cutAtStop(text: string, stops: readonly string[]): { text: string; sequence?: string } {
  let first: { text: string; sequence?: string } = { text };
  for (const sequence of stops) {
    const index = text.indexOf(sequence);
    if (index >= 0 && index < first.text.length) first = { text: text.slice(0, index), sequence };
  }
  return first;
}

/** The same object when it fits; undefined when nothing of it does. */
function cutToCap(part: Part, tokens: number): Part | undefined {
  if (isEmptyText(part)) return undefined;
  if (partTokens(part) <= tokens) return part;
  if (part.kind === 'call' || tokens < 1) return undefined;
  return { kind: part.kind, text: cutToTokens(part.text, tokens) };
}

function isEmptyText(part: Part): boolean {
  return part.kind !== 'call' && part.text === '';
}

function partTokens(part: Part): number {
  return countTokens(part.kind === 'call' ? part.tool.name + part.inputText : part.text);
}
