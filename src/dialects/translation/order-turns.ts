import { createHash } from 'node:crypto';
import type { AssistantTurn, Thought, ToolCall, ToolResult, Turn } from '../conversation.ts';
import { unsupported } from '../fields.ts';
import type { Seal } from './seals.ts';

const missing = [{ kind: 'text', text: 'no result was recorded for this call' }] as const;

/** OpenAI takes no longer ids; other gateways put signatures into them (openai/codex#14355, 2026-03). */
const idLimit = 64;

function shorten(id: string): string {
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

/** The places of the results of calls with one id, in the calls' order; each has an error until its result comes. */
interface Places {
  readonly results: ToolResult[];
  readonly slots: number[];
  taken: number;
}

/**
 * Puts turns into the order that every provider requires: consecutive assistant turns are merged, and the results of
 * calls come right after them, one for each call in the calls' order. A call without a result gets an error as its
 * result; a result without a call is refused.
 */
export function orderTurns(turns: readonly Turn[]): readonly Turn[] {
  const ordered: Turn[] = [];
  // Some hosts count from 0 in each answer, or give all calls of one the same id, or none: the newest call without a
  // result is meant. Others refuse an id that comes twice, so each gets one of its own.
  const open = new Map<string, Places>();
  const used = new Map<string, number>();

  for (const turn of mergeAssistants(turns)) {
    if (turn.role === 'results') {
      for (const result of turn.results) place(result);
      continue;
    }
    if (turn.role !== 'assistant' || turn.calls.length === 0) {
      ordered.push(turn);
      continue;
    }
    const calls = turn.calls.map((call) => ({ ...call, id: uniqueId(call.id) }));
    ordered.push({ ...turn, calls }, expectResults(turn, calls));
  }
  return ordered;

  function uniqueId(id: string): string {
    if (id.length > idLimit) return uniqueId(shorten(id));
    const times = used.get(id) ?? 0;
    used.set(id, times + 1);
    if (times === 0 && id !== '') return id;
    return uniqueId(`${id || 'call'}_${times + 1}`);
  }

  function expectResults({ calls }: AssistantTurn, named: readonly ToolCall[]): Turn {
    const results = named.map(
      ({ id }): ToolResult => ({ callId: id, parts: missing, isError: true, path: 'messages' }),
    );
    for (const [slot, { id }] of calls.entries()) {
      const places = open.get(id);
      if (places?.results === results) places.slots.push(slot);
      else open.set(id, { results, slots: [slot], taken: 0 });
    }
    return { role: 'results', results };
  }

  function place(result: ToolResult): void {
    const places = open.get(result.callId);
    if (places === undefined)
      throw unsupported(result.path, 'a tool result must follow the call it belongs to');
    const slot = places.slots[places.taken];
    const call = slot === undefined ? undefined : places.results[slot];
    if (slot === undefined || call === undefined) return;
    places.results[slot] = { ...result, callId: call.callId };
    places.taken += 1;
  }
}

function mergeAssistants(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  let thoughts: Thought[] = [];
  let texts: string[] = [];
  let calls: ToolCall[] = [];
  /** That of the call which follows, from a client whose calls have no slot for one. */
  let seal: Seal | undefined;
  for (const turn of turns) {
    if (turn.role === 'assistant') {
      if (turn.text !== '') texts.push(turn.text);
      // Not spread into the call: a call can only have some ten thousand arguments.
      for (const thought of turn.thoughts) {
        if (thought.seal?.of === 'call') seal = thought.seal;
        else thoughts.push(thought);
      }
      for (const call of turn.calls) {
        calls.push(call.seal === undefined && seal !== undefined ? { ...call, seal } : call);
        seal = undefined;
      }
      continue;
    }
    flush();
    merged.push(turn);
  }
  flush();
  return merged;

  function flush(): void {
    const isSilent = texts.length === 0 && calls.length === 0;
    if (!isSilent) merged.push({ role: 'assistant', thoughts, text: texts.join('\n\n'), calls });
    thoughts = [];
    texts = [];
    calls = [];
    seal = undefined;
  }
}
