import type { AssistantTurn, ToolCall, ToolResult, Turn } from '../conversation.ts';
import { unsupported } from '../fields.ts';

type MutableResults = { role: 'results'; results: (ToolResult | undefined)[]; ids: string[] };

const missingText = 'no result was recorded for this call';

/**
 * Puts turns into the order that every provider requires: consecutive assistant turns are merged, and the results of
 * calls come right after them, one for each call in the calls' order. A call without a result gets an error as its
 * result; a result without a call is refused.
 */
export function orderTurns(turns: readonly Turn[]): readonly Turn[] {
  const ordered: (Exclude<Turn, { role: 'results' }> | MutableResults)[] = [];
  // Ids may be used again in later turns (some hosts count from 0 each time), so the newest call wins.
  const open = new Map<string, { readonly results: MutableResults; readonly slot: number }>();

  for (const turn of mergeAssistants(turns)) {
    if (turn.role === 'results') {
      for (const result of turn.results) place(result);
      continue;
    }
    ordered.push(turn);
    if (turn.role === 'assistant' && turn.calls.length > 0) ordered.push(expectResults(turn));
  }
  return ordered.map(fillGaps);

  function expectResults({ calls }: AssistantTurn): MutableResults {
    const results: MutableResults = {
      role: 'results',
      results: calls.map(() => undefined),
      ids: calls.map((call) => call.id),
    };
    for (const [slot, call] of calls.entries()) open.set(call.id, { results, slot });
    return results;
  }

  function place(result: ToolResult): void {
    const call = open.get(result.callId);
    if (call === undefined)
      throw unsupported(result.path, 'a tool result must follow the call it belongs to');
    call.results.results[call.slot] ??= result;
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

function fillGaps(turn: Exclude<Turn, { role: 'results' }> | MutableResults): Turn {
  if (turn.role !== 'results') return turn;
  const results = turn.results.map(
    (result, slot): ToolResult =>
      result ?? {
        callId: turn.ids[slot] ?? '',
        parts: [{ kind: 'text', text: missingText }],
        isError: true,
        path: 'messages',
      },
  );
  return { role: 'results', results };
}
