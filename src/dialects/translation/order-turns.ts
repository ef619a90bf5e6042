import { createHash } from 'node:crypto';
import {
  type AnswerPart,
  addText,
  type ContentPart,
  callsOf,
  type ToolCall,
  type ToolResult,
  type Turn,
} from '../conversation.ts';
import { unsupported } from '../fields.ts';
import type { Seal } from './seals.ts';

const missing = [{ kind: 'text', text: 'no result was recorded for this call' }] as const;

/** OpenAI takes no longer ids; other gateways put signatures into them (openai/codex#14355, 2026-03). */
const idLimit = 64;

function shortId(id: string): string {
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

/** The results of calls with one id, in the calls' order; each is an error until it comes. */
interface ExpectedResults {
  readonly results: ToolResult[];
  readonly slots: number[];
  taken: number;
  /** The parts of the result that came last, to which what comes again is added. */
  last: ContentPart[];
}

/**
 * Puts turns into the order that every provider requires: consecutive assistant turns are merged, and the results of
 * calls come right after them, one for each call in the calls' order. A call without a result gets an error as its
 * result; a result without a call is refused. What comes twice for one call is one result.
 */
export function orderTurns(turns: readonly Turn[]): readonly Turn[] {
  const ordered: Turn[] = [];
  // Some hosts count from 0 in each answer, or give all calls of one the same id, or none: the newest call without a
  // result is meant. Others refuse an id that comes twice, so each gets one of its own.
  const open = new Map<string, ExpectedResults>();
  const used = new Map<string, number>();

  for (const turn of mergeAssistants(turns)) {
    if (turn.role === 'results') {
      for (const result of turn.results) place(result);
      continue;
    }
    const calls = turn.role === 'assistant' ? callsOf(turn.parts) : [];
    if (turn.role !== 'assistant' || calls.length === 0) {
      ordered.push(turn);
      continue;
    }
    const parts = turn.parts.map((part) =>
      part.kind === 'call' ? { ...part, call: { ...part.call, id: uniqueId(part.call.id) } } : part,
    );
    ordered.push({ ...turn, parts }, expectResults(calls, callsOf(parts)));
  }
  return ordered;

  function uniqueId(id: string): string {
    if (id.length > idLimit) return uniqueId(shortId(id));
    const times = used.get(id) ?? 0;
    used.set(id, times + 1);
    if (times === 0 && id !== '') return id;
    return uniqueId(`${id || 'call'}_${times + 1}`);
  }

  function expectResults(calls: readonly ToolCall[], named: readonly ToolCall[]): Turn {
    const results = named.map(
      ({ id }): ToolResult => ({ callId: id, parts: missing, isError: true, path: 'messages' }),
    );
    for (const [slot, { id }] of calls.entries()) {
      const expected = open.get(id);
      if (expected?.results === results) expected.slots.push(slot);
      else open.set(id, { results, slots: [slot], taken: 0, last: [] });
    }
    return { role: 'results', results };
  }

  function place(result: ToolResult): void {
    const expected = open.get(result.callId);
    if (expected === undefined)
      throw unsupported(result.path, 'a tool result must follow the call it belongs to');
    const { results, slots, taken, last } = expected;
    const slot = slots[taken];
    const call = slot === undefined ? undefined : results[slot];
    if (slot === undefined || call === undefined) {
      for (const part of result.parts) last.push(part);
      return;
    }
    expected.last = [...result.parts];
    results[slot] = { ...result, parts: expected.last, callId: call.callId };
    expected.taken += 1;
  }
}

function mergeAssistants(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  let parts: AnswerPart[] = [];
  /** That of the call which follows, from a client whose calls have no slot for one. */
  let seal: Seal | undefined;
  for (const turn of turns) {
    if (turn.role === 'assistant') turn.parts.forEach(add);
    else {
      flush();
      merged.push(turn);
    }
  }
  flush();
  return merged;

  function add(part: AnswerPart, index: number): void {
    if (part.kind === 'thinking' && part.seal?.of === 'call') seal = part.seal;
    else if (part.kind === 'call') {
      const { call } = part;
      parts.push(
        call.seal === undefined && seal !== undefined ? { kind: 'call', call: { ...call, seal } } : part,
      );
      seal = undefined;
    } else if (part.kind === 'thinking') parts.push(part);
    else addText(parts, part.text, index === 0 ? '\n\n' : '');
  }

  function flush(): void {
    if (parts.some(({ kind }) => kind !== 'thinking')) merged.push({ role: 'assistant', parts });
    parts = [];
    seal = undefined;
  }
}
