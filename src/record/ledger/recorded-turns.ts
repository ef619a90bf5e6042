import { linesWith, recordsBackwards } from '../read-records.ts';
import type { ExchangeRecord } from '../record.ts';
import type { LedgerRow } from './ledger-row.ts';

export interface TurnQuery {
  readonly session: string;
  readonly limit: number;
  /** When its first request began, and its last one. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

const nanoUsdPerUsd = 1_000_000_000;

/** A session's last exchanges: given rows, and those of which there are records alone. The latest last. */
export async function withRecorded(
  rows: readonly LedgerRow[],
  file: string | undefined,
  query: TurnQuery,
): Promise<readonly LedgerRow[]> {
  const turns = new Map<string, LedgerRow>();
  for (const row of file === undefined ? [] : await recordedTurns(file, query))
    turns.set(row.request_id, row);
  for (const row of rows) turns.set(row.request_id, row);
  return [...turns.values()].toSorted((one, other) => one.started_ms - other.started_ms).slice(-query.limit);
}

async function recordedTurns(
  file: string,
  { session, limit, sinceMs, untilMs }: TurnQuery,
): Promise<readonly LedgerRow[]> {
  const found: LedgerRow[] = [];
  const ofSession = linesWith([session]); // an id has no character that JSON escapes
  // The first line of each block shows whether those before it are older than the session.
  const lines = (block: Buffer) => {
    const first = block.subarray(0, block.indexOf('\n'));
    return first.includes(session) ? ofSession(block) : [...ofSession(block), first];
  };
  for await (const record of recordsBackwards(file, lines, untilMs)) {
    if (Date.parse(record.time) + record.total_ms < sinceMs) break;
    if (record.session === session && isCharged(record)) found.push(toRow(record));
    if (found.length > limit) break;
  }
  return found;
}

/** Whether the ledger has entered it: a provider was chosen, and not to count tokens. */
function isCharged({ provider, endpoint, repeats }: ExchangeRecord): boolean {
  return provider !== undefined && endpoint !== 'count_tokens' && repeats === undefined;
}

function toRow(record: ExchangeRecord): LedgerRow {
  const { usage, provider, provider_key: keyName, cost_usd: costUsd } = record;
  return {
    request_id: record.request_id,
    started_ms: Date.parse(record.time),
    project: record.project ?? '',
    key_id: record.key ?? '',
    endpoint: record.endpoint ?? '',
    model: record.model ?? '',
    session: record.session ?? null,
    agent: record.agent ?? null,
    subagent: record.subagent ?? null,
    parent: record.parent ?? null,
    provider: keyName === undefined ? (provider ?? null) : `${provider}/${keyName}`,
    target_model: record.target_model ?? null,
    status: record.status,
    outcome: record.outcome,
    decision: record.decision ?? null,
    reason: record.reason ?? null,
    input_tokens: usage?.input_tokens ?? 0,
    output_tokens: usage?.output_tokens ?? 0,
    cache_read_tokens: usage?.cache_read_tokens ?? 0,
    cache_write_tokens: usage?.cache_write_tokens ?? 0,
    reasoning_tokens: usage?.reasoning_tokens ?? 0,
    new_tokens: null,
    nano_usd: usage === undefined ? 0 : costUsd === undefined ? null : Math.round(costUsd * nanoUsdPerUsd),
    is_estimated: usage?.estimated === true ? 1 : 0,
    first_byte_ms: record.first_byte_ms ?? null,
    total_ms: record.total_ms,
  };
}
