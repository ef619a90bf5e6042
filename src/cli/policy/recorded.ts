import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { toFields, toText } from '../../dialects/fields.ts';
import { recordedTarget } from '../../dialects/registry.ts';
import { unreadable } from '../shell/input.ts';
import type { Io } from '../shell/io.ts';

/** The recorded decision. */
export interface Was {
  readonly decision: string;
  /** The rule that determined a block or a redaction. */
  readonly rule?: string | undefined;
  readonly reason?: string | undefined;
}

/** One line of a file of records. */
export type Recorded =
  | {
      readonly kind: 'decided';
      readonly line: number;
      readonly requestId: string;
      readonly time: string;
      readonly endpoint: string;
      /** Its path with the model's name, or the endpoint's name. */
      readonly destination: string;
      readonly key: string;
      readonly body: Buffer;
      readonly was: Was;
    }
  /** Why a record can't be replayed. */
  | { readonly kind: 'skipped'; readonly line: number; readonly why: Skipped };

export type Skipped = 'no body' | 'not decided' | 'unreadable' | 'unknown key';

/** The records of a file, line by line; `-` reads standard input. Throws usage.invalid. */
export async function* readRecords(file: string, io: Io): AsyncGenerator<Recorded> {
  const input = file === '-' ? io.stdin : createReadStream(resolve(io.cwd, file));
  let line = 0;
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      io.signal.throwIfAborted();
      line += 1;
      if (text.trim() !== '') yield parseRecord(text, line);
    }
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code !== 'string' || !code.startsWith('E')) throw cause;
    throw unreadable(file, cause);
  }
}

function parseRecord(text: string, line: number): Recorded {
  const skipped = (why: Skipped): Recorded => ({ kind: 'skipped', line, why });
  let record: Readonly<Record<string, unknown>>;
  try {
    record = toFields(JSON.parse(text));
  } catch {
    return skipped('unreadable'); // the last line of a file that is being written
  }
  const { request_body: body, key, endpoint, time, path, model, request_id: requestId } = record;
  if (![key, endpoint, time, requestId].every((field) => typeof field === 'string')) {
    return skipped(typeof requestId === 'string' ? 'not decided' : 'unreadable');
  }
  if (typeof body !== 'string') return skipped('no body');
  const was = wasDecided(record);
  // Bytes that are not UTF-8 can't be kept in a record, so they can't be read again either.
  if (was === undefined || was.reason === 'request.encoding') return skipped('not decided');
  return {
    kind: 'decided',
    line,
    requestId: String(requestId),
    time: String(time),
    endpoint: String(endpoint),
    destination: typeof path === 'string' ? recordedTarget({ path, model: toText(model) }) : String(endpoint),
    key: String(key),
    body: Buffer.from(body),
    was,
  };
}

/** The decision, or the refusal of strict parsing that comes before it. */
function wasDecided({
  decision,
  outcome,
  reason,
  rules,
}: Readonly<Record<string, unknown>>): Was | undefined {
  if (typeof decision !== 'string') {
    const isGate = outcome === 'refused' && typeof reason === 'string' && reason.startsWith('request.');
    return isGate ? { decision: 'block', reason: String(reason) } : undefined;
  }
  if (!['block', 'redact', 'mask'].includes(decision)) return { decision };
  const first = (Array.isArray(rules) ? rules : [])
    .map(toFields)
    .find(({ action, mode }) => action === decision && mode === 'enforce');
  const isBlocked = decision === 'block';
  return {
    decision,
    rule: toText(first?.id) || undefined,
    reason: (isBlocked && toText(reason)) || undefined,
  };
}
