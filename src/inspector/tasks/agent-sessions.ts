import { GatewayError } from '../../errors.ts';
import { nanoUsdPerUsd } from '../../limits/price.ts';
import type { LedgerRow } from '../../record/ledger/ledger-row.ts';
import type { LedgerPlace } from '../../record/ledger/ledger-store.ts';
import { readSessions, readTurns } from '../../record/ledger/read-ledger.ts';
import type { SessionSum } from '../../record/ledger/session-report.ts';
import type {
  AgentSession,
  AgentSessionDetail,
  AgentSessionList,
  SessionTurn,
} from '../contract/agent-sessions.ts';

/** More than anybody scrolls through; a link or a command finds the others. */
const listed = 300;
const shownTurns = 500;
/** Keys that use one name for sessions. */
const mostKeys = 100;

export interface SessionsQuery {
  readonly place: LedgerPlace;
  readonly sinceMs: number;
}

export async function listSessions({ place, sinceMs }: SessionsQuery): Promise<AgentSessionList> {
  const found = await readSessions(place, { sinceMs, limit: listed + 1 });
  return { sessions: found.slice(0, listed).map(toSession), has_more: found.length > listed };
}

export interface SessionOfKey {
  readonly place: LedgerPlace;
  readonly session: string;
  readonly key: string;
  readonly records: string | undefined;
}

/** Throws inspector.unknown. */
export async function showSession({
  place,
  session,
  key,
  records,
}: SessionOfKey): Promise<AgentSessionDetail> {
  const sums = await readSessions(place, { sinceMs: 0, limit: mostKeys, session });
  const sum = sums.find((each) => each.key === key);
  if (sum === undefined)
    throw new GatewayError('inspector.unknown', 'there is no such session in the ledger');
  const turns = await readTurns(
    { place, records },
    { session, limit: shownTurns, sinceMs: sum.started_ms, untilMs: sum.last_ms },
  );
  return { session: toSession(sum), turns: turns.filter(({ key_id }) => key_id === key).map(toTurn) };
}

function toSession(sum: SessionSum): AgentSession {
  const { session, key, project, agent, requests, cost_usd, unpriced } = sum;
  return {
    ...{ session, key, project, agent: agent === '' ? undefined : agent },
    started: new Date(sum.started_ms).toISOString(),
    last: new Date(sum.last_ms).toISOString(),
    requests,
    tokens: tokensOf(sum),
    cost_usd,
    unpriced,
  };
}

function toTurn(row: LedgerRow): SessionTurn {
  return {
    id: row.request_id,
    time: new Date(row.started_ms).toISOString(),
    subagent: row.subagent ?? undefined,
    parent: row.parent ?? undefined,
    model: row.model,
    outcome: row.outcome,
    reason: row.reason ?? undefined,
    tokens: tokensOf(row),
    cost_usd: row.nano_usd === null ? undefined : row.nano_usd / nanoUsdPerUsd,
    total_ms: row.total_ms ?? undefined,
  };
}

function tokensOf(row: Pick<LedgerRow, 'input_tokens' | 'cache_read_tokens' | 'output_tokens'>) {
  return { input: row.input_tokens, cached: row.cache_read_tokens, output: row.output_tokens };
}
