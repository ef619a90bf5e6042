import { createHash } from 'node:crypto';
import { type Effort, efforts } from '../../hosts/models.ts';
import type { SystemTurn, Turn } from '../conversation.ts';
import { wrongField } from '../fields.ts';

const lengthLimit = 64;

/** Agents send long texts with account ids as user, which another provider should not get to see. */
export function hashUser(user: string | undefined): string | undefined {
  if (user === undefined || user === '') return undefined;
  return createHash('sha256').update(user).digest('hex').slice(0, lengthLimit);
}

/** OpenAI takes no more than 64 characters. */
export function limitUser(user: string | undefined): string | undefined {
  return user !== undefined && user.length > lengthLimit ? hashUser(user) : user;
}

export function parseEffort(value: unknown, path: string): Effort | undefined {
  if (value === undefined || value === null) return undefined;
  const effort = efforts.find((each) => each === value);
  if (effort === undefined) throw wrongField(path, `one of ${efforts.join(', ')}`);
  return effort;
}

/** The effort that a budget for thinking stands for, in tokens. */
export function effortOfBudget(tokens: number): Effort {
  if (tokens <= 4_096) return 'low';
  return tokens <= 16_384 ? 'medium' : 'high';
}

/** A system prompt; none if it is empty. */
export function systemTurns(text: string): SystemTurn[] {
  return text === '' ? [] : [{ role: 'system', isDeveloper: false, text }];
}

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
