import type { Intent, LedgerChange } from './ledger-row.ts';

// Clients choose some of the texts, and providers report the numbers. If the database refused one of them, it would
// refuse everything that is committed with it, at every retry.

/** Longer than any configured name or known model. */
const longestText = 200;
const maxNumber = Number.MAX_SAFE_INTEGER;

/** The change with only texts and numbers that every database accepts. */
export function cleanChange(change: LedgerChange): LedgerChange {
  switch (change.kind) {
    case 'begin':
      return { kind: 'begin', intent: cleanIntent(change.intent) };
    case 'finish': {
      const { row } = change;
      return {
        kind: 'finish',
        row: {
          // Members are spelled out because V8 takes a slow path for each one added to a spread object.
          requestId: row.requestId,
          startedMs: whole(row.startedMs),
          project: text(row.project),
          keyId: text(row.keyId),
          endpoint: text(row.endpoint),
          model: text(row.model),
          inputTokens: whole(row.inputTokens),
          outputTokens: whole(row.outputTokens),
          nanoUsd: row.nanoUsd === null ? null : whole(row.nanoUsd),
          provider: cleanNullable(row.provider),
          targetModel: cleanNullable(row.targetModel),
          status: row.status,
          outcome: row.outcome,
          decision: cleanNullable(row.decision),
          reason: cleanNullable(row.reason),
          cacheReadTokens: whole(row.cacheReadTokens),
          cacheWriteTokens: whole(row.cacheWriteTokens),
          reasoningTokens: whole(row.reasoningTokens),
          isEstimated: row.isEstimated,
          firstByteMs: row.firstByteMs,
          totalMs: row.totalMs,
        },
      };
    }
    case 'cancel':
      return change;
  }
}

function cleanIntent({ requestId, startedMs, project, keyId, endpoint, model, ...amounts }: Intent): Intent {
  return {
    requestId,
    startedMs: whole(startedMs),
    project: text(project),
    keyId: text(keyId),
    endpoint: text(endpoint),
    model: text(model),
    inputTokens: whole(amounts.inputTokens),
    outputTokens: whole(amounts.outputTokens),
    nanoUsd: amounts.nanoUsd === null ? null : whole(amounts.nanoUsd),
  };
}

function cleanNullable(value: string | null): string | null {
  return value === null ? null : text(value);
}

/** PostgreSQL rejects NUL, UTF-8 has no lone surrogates, and control characters would only harm a reader. */
function text(value: string): string {
  return /^[\x20-\x7e]{0,200}$/.test(value) ? value : value.slice(0, longestText).replace(unfit, '\ufffd');
}

const unfit = /[\p{Cc}\p{Cs}]/gu;

/** Also handles values that JSON has turned into something other than a number. */
function whole(value: number): number {
  return value > 0 ? Math.min(Math.ceil(value), maxNumber) : 0;
}
