import type { ExchangeRecord } from '../../record/record.ts';
import {
  decidingRule,
  decisionOf,
  type ExchangeRow,
  type Times,
  type Tokens,
} from '../contract/exchange-list.ts';
import type { RingEntry } from './ring.ts';

const shownCharacters = 4;
const minLength = 12;

/** Of a secret only its beginning, by which its owner can recognize it. */
export function shorten(secret: string): string {
  return `${secret.length < minLength ? '' : secret.slice(0, shownCharacters)}…`;
}

/** Words that begin as vendors' keys and logins do, wherever somebody has put them. */
const token = /(?<![A-Za-z])(?:sk-|gw_|eyJ)[\w.-]{16,}/g;

export function hideTokens(value: string): string {
  return value.replace(token, shorten);
}

/** What clients can put a key into by mistake. */
const fromClient = ['path', 'client', 'session', 'model', 'target_model'] as const;

/** What the list shows of an exchange, with configured secrets scrubbed. */
export function toRow(entry: RingEntry, scrub: (text: string) => string): ExchangeRow {
  const row = entryRow(entry);
  const texts = fromClient.map((name) => row[name] ?? '').join('\n');
  if (scrub(texts) === texts) return row;
  const clean = fromClient.flatMap((name) => (row[name] === undefined ? [] : [[name, scrub(row[name])]]));
  return { ...row, ...Object.fromEntries(clean) };
}

function entryRow(entry: RingEntry): ExchangeRow {
  const { soFar, record } = entry;
  const client = clientOf(entry.rawHeaders);
  const decision = decisionOf(soFar);
  const rule = decidingRule(soFar, decision);
  const row = {
    seq: entry.seq,
    id: entry.id,
    state: record === undefined ? 'open' : 'finished',
    time: soFar.time ?? '',
    method: soFar.method ?? '',
    path: soFar.path ?? '',
    endpoint: soFar.endpoint,
    project: soFar.project,
    key: soFar.key,
    session: soFar.session,
    client,
    model: soFar.model,
    provider: soFar.provider,
    target_model: soFar.target_model,
    stream: soFar.stream,
    status: record?.status ?? 0,
    outcome: record?.outcome,
    reason: record?.reason,
    decision,
    rule,
    would_block: soFar.would_block,
    tokens: soFar.usage && tokensOf(soFar.usage),
    cost_usd: soFar.cost_usd,
    first_byte_ms: soFar.first_byte_ms,
    total_ms: record?.total_ms,
    times: record && timesOf(entry, record),
    bytes_in: soFar.bytes_in ?? 0,
    bytes_out: record?.bytes_out ?? entry.bytesOut,
    attempts: soFar.attempts,
    bodies: entry.hasBodies,
    again: entry.again,
  };
  return row as ExchangeRow; // undefined members are left out of the JSON
}

function tokensOf(usage: NonNullable<ExchangeRecord['usage']>): Tokens {
  const { input_tokens: input, output_tokens: output, cache_read_tokens: cached } = usage;
  return { input, output, cached, ...(usage.estimated === true ? { estimated: true } : {}) };
}

/** The phases of an exchange, one after the other; the last one reached extends to the end. */
function timesOf(entry: RingEntry, { total_ms, first_byte_ms, outcome }: ExchangeRecord): Times {
  const firstByteMs = outcome === 'answered' || entry.sentAtMs !== undefined ? first_byte_ms : undefined;
  const ends: readonly (readonly [keyof Times, number | undefined])[] = [
    ['read', entry.readAtMs],
    ['decide', entry.admittedAtMs],
    ...(entry.queuedUntilMs === undefined ? [] : [['queue', entry.queuedUntilMs] as const]),
    ['connect', entry.sentAtMs],
    ['first_byte', firstByteMs],
    ['stream', undefined],
  ];
  const times: { -readonly [Part in keyof Times]?: number } = {};
  let atMs = 0;
  for (const [part, endMs] of ends) {
    times[part] = rounded(Math.max(0, (endMs ?? total_ms) - atMs));
    if (endMs === undefined) break;
    atMs = Math.max(atMs, endMs);
  }
  return times;
}

export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

const maxClientLength = 80;

/** The first product of the user agent. */
function clientOf(rawHeaders: readonly string[]): string | undefined {
  const at = rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'user-agent');
  const product = at < 0 ? '' : (rawHeaders[at + 1] ?? '').trim().split(' ', 1)[0];
  return product === undefined || product === '' ? undefined : hideTokens(product).slice(0, maxClientLength);
}
