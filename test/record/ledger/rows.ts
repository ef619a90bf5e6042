import type { Intent, LedgerRow } from '../../../src/record/ledger/ledger-row.ts';

export const startedMs = Date.parse('2026-11-22T12:34:00Z');
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
