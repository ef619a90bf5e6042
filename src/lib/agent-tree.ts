/** An agent of a session: the main one has no name, and what started the others may not be known. */
interface NamedAgent {
  readonly subagent?: string | undefined;
  readonly parent?: string | undefined;
}

/** In its place among the agents of a session. */
export type InTree<Agent> = Agent & {
  /** 0 for the main agent, and for those that it started 1. */
  readonly depth: number;
};

/**
 * The agents of a session, each behind the one that started it, in the order in which they were given. Those of which that
 * is not known are the main agent's; an agent that clients made its own ancestor is, too.
 */
export function agentTree<Agent extends NamedAgent>(agents: readonly Agent[]): readonly InTree<Agent>[] {
  const names = new Set(agents.flatMap(({ subagent }) => subagent ?? []));
  const startedBy = new Map<string | undefined, Agent[]>();
  for (const agent of agents) {
    const { subagent, parent } = agent;
    const isKnown = parent !== undefined && parent !== subagent && names.has(parent);
    const by = subagent === undefined ? undefined : isKnown ? parent : '';
    startedBy.set(by, [...(startedBy.get(by) ?? []), agent]);
  }
  const main = startedBy.get(undefined) ?? [];
  const placed = new Set<Agent>(main);
  const tree: InTree<Agent>[] = main.map((agent) => ({ ...agent, depth: 0 }));
  const place = (agent: Agent): void => {
    // Not by calls of itself: a chain may be as long as the session.
    const open = [{ agent, depth: 1 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { depth } = next;
      if (placed.has(next.agent)) continue;
      placed.add(next.agent);
      tree.push({ ...next.agent, depth });
      const started = startedBy.get(next.agent.subagent ?? '') ?? [];
      for (const each of started.toReversed()) open.push({ agent: each, depth: depth + 1 });
    }
  };
  for (const agent of startedBy.get('') ?? []) place(agent);
  for (const agent of agents) if (!placed.has(agent)) place(agent); // each in a circle of ancestors
  return tree;
}
