import { agentTree, type InTree } from '../../../lib/agent-tree.ts';
import type { SessionTurn } from '../../contract/agent-sessions.ts';

/** A turn, beside the one before it of the same agent. */
export interface ShownTurn extends SessionTurn {
  /** Tokens of input that the turn before did not have; below zero after the conversation was shortened. */
  readonly added: number;
  /** Whether the conversation went on and a cache that had it was not hit. */
  readonly hasMissed: boolean;
}

/** One agent of a session, with all that it used. */
export interface SessionAgent {
  /** Undefined for the main one. */
  readonly subagent: string | undefined;
  /** What started it; of the main one, another session. */
  readonly parent: string | undefined;
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly cost_usd: number;
}

/** Each turn with what it added; a miss is one that reads less than half of the input that the agent's turn before had. */
export function showTurns(turns: readonly SessionTurn[]): readonly ShownTurn[] {
  const before = new Map<string, SessionTurn>();
  const caching = new Set<string>();
  return turns.map((turn) => {
    const agent = `${turn.subagent ?? ''} ${turn.model}`;
    const last = before.get(agent);
    const { input, cached } = turn.tokens;
    if (input > 0) before.set(agent, turn);
    const lastInput = last?.tokens.input ?? 0;
    const hasMissed = caching.has(agent) && input >= lastInput && 2 * cached < lastInput;
    if (cached > 0) caching.add(agent);
    return { ...turn, added: input - lastInput, hasMissed };
  });
}

/** The main agent first, then each behind the one that started it. */
export function agentsOf(turns: readonly SessionTurn[]): readonly InTree<SessionAgent>[] {
  const agents = new Map<string | undefined, SessionAgent>();
  for (const { subagent, parent, tokens, cost_usd: usd = 0 } of turns) {
    const none = { requests: 0, input: 0, cached: 0, output: 0, cost_usd: 0 };
    const so = agents.get(subagent) ?? { subagent, parent, ...none };
    agents.set(subagent, {
      subagent,
      parent: so.parent ?? parent,
      requests: so.requests + 1,
      input: so.input + tokens.input,
      cached: so.cached + tokens.cached,
      output: so.output + tokens.output,
      cost_usd: so.cost_usd + usd,
    });
  }
  return agentTree([...agents.values()]);
}
