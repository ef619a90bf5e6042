import type { Intent, LedgerChange, LedgerRow } from './ledger-row.ts';

// Changes on their way to the ledger's thread: lists of values, since JSON with the names in it takes twice as long to
// write and to read. Clients choose some of the texts, and providers report the numbers. A database that refuses one of
// them would refuse all that is committed with it, now and ever after, so what is read is made fit.

/** Values in the order of `toIntent` and `toRow`, or the id of a request alone. */
export type PackedChange = readonly unknown[];

/** Longer than any configured name or known model. */
const longestText = 200;
/** Above every real amount (US$ 10,000) and time, as for counters; a million of them still fit into a sum's 64 bits. */
const mostNumber = 1e13;

export function packIntent(intent: Intent): PackedChange {
  const { requestId, startedMs, project, keyId, endpoint, model, inputTokens, outputTokens, nanoUsd } =
    intent;
  return [requestId, startedMs, project, keyId, endpoint, model, inputTokens, outputTokens, nanoUsd];
}

export function packRow(row: LedgerRow): PackedChange {
  return [
    row.requestId,
    row.startedMs,
    row.project,
    row.keyId,
    row.endpoint,
    row.model,
    row.inputTokens,
    row.outputTokens,
    row.nanoUsd,
    row.provider,
    row.targetModel,
    row.status,
    row.outcome,
    row.decision,
    row.reason,
    row.cacheReadTokens,
    row.cacheWriteTokens,
    row.reasoningTokens,
    row.isEstimated,
    row.firstByteMs,
    row.totalMs,
  ];
}

export function packCancel(requestId: string): PackedChange {
  return [requestId];
}

/** The change with texts and numbers that every database takes. */
export function cleanChange(packed: PackedChange): LedgerChange {
  if (packed.length === 1) return { kind: 'cancel', requestId: packed[0] as string };
  const intent = toIntent(packed);
  return packed.length === 9 ? { kind: 'begin', intent } : { kind: 'finish', row: toRow(intent, packed) };
}

function toIntent(packed: PackedChange): Intent {
  return {
    requestId: packed[0] as string,
    startedMs: whole(packed[1]),
    project: text(packed[2]),
    keyId: text(packed[3]),
    endpoint: text(packed[4]),
    model: text(packed[5]),
    inputTokens: whole(packed[6]),
    outputTokens: whole(packed[7]),
    nanoUsd: packed[8] === null ? null : whole(packed[8]),
  };
}

function toRow(intent: Intent, packed: PackedChange): LedgerRow {
  return {
    // Spelled out: V8 takes its slow path for each member that is added to a spread object.
    requestId: intent.requestId,
    startedMs: intent.startedMs,
    project: intent.project,
    keyId: intent.keyId,
    endpoint: intent.endpoint,
    model: intent.model,
    inputTokens: intent.inputTokens,
    outputTokens: intent.outputTokens,
    nanoUsd: intent.nanoUsd,
    provider: nullable(packed[9]),
    targetModel: nullable(packed[10]),
    status: packed[11] as number,
    outcome: packed[12] as string,
    decision: nullable(packed[13]),
    reason: nullable(packed[14]),
    cacheReadTokens: whole(packed[15]),
    cacheWriteTokens: whole(packed[16]),
    reasoningTokens: whole(packed[17]),
    isEstimated: packed[18] as boolean,
    firstByteMs: packed[19] as number | null,
    totalMs: packed[20] as number | null,
  };
}

function nullable(value: unknown): string | null {
  return value === null ? null : text(value);
}

/** PostgreSQL has no NUL, and UTF-8 no lone surrogates; control characters would only harm readers. */
function text(value: unknown): string {
  const given = value as string;
  return fit.test(given) ? given : given.slice(0, longestText).replace(unfit, '\ufffd');
}

const fit = /^[\x20-\x7e]{0,200}$/;
const unfit = /[\p{Cc}\p{Cs}]/gu;

/** Also for what is not a number after a JSON round trip. */
function whole(value: unknown): number {
  const given = value as number;
  return given > 0 ? Math.min(Math.ceil(given), mostNumber) : 0;
}
