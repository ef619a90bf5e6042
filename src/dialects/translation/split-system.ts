import type { SystemTurn, Turn } from '../conversation.ts';

/** Takes the leading run of system turns apart from the conversation; empty ones are left out. */
export function splitSystem(turns: readonly Turn[]): { system: SystemTurn[]; turns: Turn[] } {
  const kept = turns.filter((turn) => turn.role !== 'system' || turn.text !== '');
  const system: SystemTurn[] = [];
  for (const turn of kept) {
    if (turn.role !== 'system') break;
    system.push(turn);
  }
  return { system, turns: kept.slice(system.length) };
}
