import type { SystemTurn, Turn } from '../conversation.ts';

/** Separates the leading system turns from the conversation; empty ones are dropped. */
export function splitSystem(turns: readonly Turn[]): { system: SystemTurn[]; turns: Turn[] } {
  const kept = turns.filter((turn) => turn.role !== 'system' || turn.text !== '');
  const system: SystemTurn[] = [];
  for (const turn of kept) {
    if (turn.role !== 'system') break;
    system.push(turn);
  }
  return { system, turns: kept.slice(system.length) };
}
