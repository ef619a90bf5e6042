import type { Intent, LedgerRow } from '../../../src/record/ledger/ledger-row.ts';

export const dayMs = 86_400_000;
export const startedMs = Date.parse('2026-11-22T12:34:00Z');
const sinceMs = Date.parse('2026-11-22T00:00:00Z');
/** What the project of the rows has used on their day. */
export const wanted = [{ scope: 'project' as const, name: 'shop', sinceMs, untilMs: sinceMs + dayMs }];
export const retention = { days: 90, bytes: 1e9 };
export const intent = (requestId: string): Intent => ({
  requestId,
  startedMs,
  project: 'shop',
  keyId: 'shop-web',
  endpoint: 'chat',
  model: 'm',
  inputTokens: 30,
  outputTokens: 100,
  nanoUsd: 1_000,
});
export const row = (requestId: string): LedgerRow => ({
  ...intent(requestId),
  provider: 'host',
  targetModel: 'm',
  status: 200,
  outcome: 'answered',
  decision: 'allow',
  reason: null,
  inputTokens: 5,
  outputTokens: 3,
  cacheReadTokens: 1,
  cacheWriteTokens: 0,
  reasoningTokens: 2,
  nanoUsd: 80,
  isEstimated: false,
  firstByteMs: 1.5,
  totalMs: 2.5,
});
