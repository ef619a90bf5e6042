// The sessions of agents, from the ledger; see events.ts for the units.

export interface SessionTokens {
  readonly input: number;
  /** Of the input, what was read from a cache. */
  readonly cached: number;
  readonly output: number;
}

/** One session of a key. */
export interface AgentSession {
  readonly session: string;
  readonly key: string;
  readonly project: string;
  /** Missing if it is none that is recognized. */
  readonly agent?: string | undefined;
  readonly started: string;
  /** When its last request began. */
  readonly last: string;
  readonly requests: number;
  readonly tokens: SessionTokens;
  /** Without requests whose price is not known. */
  readonly cost_usd: number;
  readonly unpriced: number;
}

/** `GET /_/api/agent-sessions?since=7d`: the latest first. 409 `inspector.no_ledger` if no ledger is kept. */
export interface AgentSessionList {
  readonly sessions: readonly AgentSession[];
  /** Whether there are earlier ones that the answer leaves out. */
  readonly has_more: boolean;
}

/** One exchange of a session. */
export interface SessionTurn {
  readonly id: string;
  readonly time: string;
  /** Missing for the session's main agent. */
  readonly subagent?: string | undefined;
  /** What started the subagent; of the main agent, the session that started this one. Missing if that is not said. */
  readonly parent?: string | undefined;
  readonly model: string;
  readonly outcome: string;
  readonly reason?: string | undefined;
  readonly tokens: SessionTokens;
  readonly cost_usd?: number | undefined;
  readonly total_ms?: number | undefined;
}

/** `GET /_/api/agent-session?session=ID&key=KEY`; 404 `inspector.unknown`. */
export interface AgentSessionDetail {
  readonly session: AgentSession;
  /** Oldest first: the latest 500. */
  readonly turns: readonly SessionTurn[];
}
