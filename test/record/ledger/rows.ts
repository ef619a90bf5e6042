import type { Intent, LedgerRow } from '../../../src/record/ledger/ledger-row.ts';

export const dayMs = 86_400_000;
export const startedMs = Date.parse('2026-11-22T12:34:00Z');
const sinceMs = Date.parse('2026-11-22T00:00:00Z');
/** What the project of the rows has used on their day. */
export const wanted = [{ scope: 'project' as const, name: 'shop', sinceMs, untilMs: sinceMs + dayMs }];
export const retention = { keepsRows: true, days: 90, bytes: 1e9 };
export const intent = (requestId: string): Intent => ({
  request_id: requestId,
  started_ms: startedMs,
  project: 'shop',
  key_id: 'shop-web',
  endpoint: 'chat',
  model: 'm',
  session: null,
  agent: null,
  subagent: null,
  parent: null,
  input_tokens: 30,
  output_tokens: 100,
  nano_usd: 1_000,
});
export const row = (requestId: string): LedgerRow => ({
  ...intent(requestId),
  provider: 'host',
  target_model: 'm',
  status: 200,
  outcome: 'answered',
  decision: 'allow',
  reason: null,
  input_tokens: 5,
  output_tokens: 3,
  cache_read_tokens: 1,
  cache_write_tokens: 0,
  reasoning_tokens: 2,
  new_tokens: 8,
  nano_usd: 80,
  is_estimated: 0,
  first_byte_ms: 1.5,
  total_ms: 2.5,
});
