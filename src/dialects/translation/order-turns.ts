import type { AssistantTurn, ToolCall, ToolResult, Turn } from '../conversation.ts';
import { unsupported } from '../fields.ts';

const missing = [{ kind: 'text', text: 'no result was recorded for this call' }] as const;

/** The place of a call's result, which has an error until the result comes. */
interface Place {
  readonly results: ToolResult[];
  readonly slot: number;
  isTaken: boolean;
}

/**
 * Puts turns into the order that every provider requires: consecutive assistant turns are merged, and the results of
 * calls come right after them, one for each call in the calls' order. A call without a result gets an error as its
 * result; a result without a call is refused.
 */
export function orderTurns(turns: readonly Turn[]): readonly Turn[] {
  const ordered: Turn[] = [];
  // Ids may be used again in later turns (some hosts count from 0 each time), so the newest call wins.
  const open = new Map<string, Place>();

  for (const turn of mergeAssistants(turns)) {
    if (turn.role === 'results') {
      for (const result of turn.results) place(result);
      continue;
    }
    ordered.push(turn);
    if (turn.role === 'assistant' && turn.calls.length > 0) ordered.push(expectResults(turn));
  }
  return ordered;

  function expectResults({ calls }: AssistantTurn): Turn {
    const results = calls.map(
      ({ id }): ToolResult => ({ callId: id, parts: missing, isError: true, path: 'messages' }),
    );
    for (const [slot, call] of calls.entries()) open.set(call.id, { results, slot, isTaken: false });
    return { role: 'results', results };
  }

  function place(result: ToolResult): void {
    const call = open.get(result.callId);
    if (call === undefined)
      throw unsupported(result.path, 'a tool result must follow the call it belongs to');
    if (!call.isTaken) call.results[call.slot] = result;
    call.isTaken = true;
  }
}

function mergeAssistants(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  let texts: string[] = [];
  let calls: ToolCall[] = [];
  for (const turn of turns) {
    if (turn.role === 'assistant') {
      if (turn.text !== '') texts.push(turn.text);
      // Not spread into the call: a call can only have some ten thousand arguments.
      for (const call of turn.calls) calls.push(call);
      continue;
    }
    flush();
    merged.push(turn);
  }
  flush();
  return merged;

  function flush(): void {
    const isSilent = texts.length === 0 && calls.length === 0;
    if (!isSilent) merged.push({ role: 'assistant', text: texts.join('\n\n'), calls });
    texts = [];
    calls = [];
  }
}
