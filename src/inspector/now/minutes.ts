import type { ExchangeRecord } from '../../record/record.ts';
import type { InspectorBackend } from '../backend.ts';
import type { Minute, NowAnswer } from '../contract/now.ts';
import { shows } from '../contract/show.ts';
import type { KeepBodies } from '../keep-bodies.ts';
import type { Ring } from '../ring/ring.ts';
import { decisionOf } from '../ring/to-row.ts';

// Steps start at 0.1 ms and grow by a factor of 1.15: 120 of them reach 30 minutes.
const firstMs = 0.1;
const growth = 1.15;
const steps = 120;
const perStep = 1 / Math.log(growth);

/** A histogram with steps of a fixed ratio: percentiles accurate to 7 % in half a kilobyte, however many times it holds. */
export class TimeHistogram {
  #counts: Uint32Array | undefined;
  #total = 0;

  add(ms: number): void {
    this.#counts ??= new Uint32Array(steps);
    const step = Math.min(steps - 1, Math.max(0, Math.floor(Math.log(ms / firstMs) * perStep)));
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#total += 1;
  }

  /** The quantile for a share from 0 to 1, in ms, as the middle of its step; undefined if there are no times. */
  percentile(share: number): number | undefined {
    let left = Math.ceil(this.#total * share);
    if (this.#counts === undefined || left === 0) return undefined;
    const step = this.#counts.findIndex((count) => {
      left -= count;
      return left <= 0;
    });
    return Math.round(firstMs * growth ** (step + 0.5) * 10) / 10;
  }
}

const minuteMs = 60_000;
const keptMinutes = 60;
/** Rules choose their own reasons; this many per minute are counted separately. */
const maxReasons = 50;

class MinuteCount {
  readonly startMs: number;
  requests = 0;
  input = 0;
  output = 0;
  cached = 0;
  costUsd = 0;
  readonly firstByte = new TimeHistogram();
  readonly blocks = new Map<string, number>();
  readonly errors = new Map<string, number>();

  constructor(startMs: number) {
    this.startMs = startMs;
  }

  add(record: ExchangeRecord): void {
    const { usage, cost_usd, first_byte_ms, outcome, reason, status } = record;
    this.requests += 1;
    if (usage !== undefined) {
      this.input += usage.input_tokens;
      this.output += usage.output_tokens;
      this.cached += usage.cache_read_tokens;
    }
    if (cost_usd !== undefined) this.costUsd += cost_usd;
    if (first_byte_ms !== undefined && outcome === 'answered') this.firstByte.add(first_byte_ms);
    const ended = { ...record, decision: decisionOf(record) };
    if (shows.blocked(ended)) count(this.blocks, reason ?? 'policy.blocked');
    else if (shows.failed(ended))
      count(this.errors, reason ?? (outcome === 'answered' ? `status ${status}` : outcome));
  }
}

/** What happened in each minute of the last hour: a few numbers per minute, however many exchanges there were. */
export class Minutes {
  readonly #nowMs: () => number;
  /** By when they began. */
  readonly #kept = new Map<number, MinuteCount>();
  #newestMs = 0;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  add(record: ExchangeRecord): void {
    // If the clock was set back, later exchanges are counted in the last minute there is.
    this.#at(Math.max(startOf(this.#nowMs()), this.#newestMs)).add(record);
  }

  /** Adds what another process of this gateway has recorded. */
  recall(record: ExchangeRecord): void {
    const startMs = startOf(Date.parse(record.time));
    const nowMs = this.#nowMs();
    if (startMs > nowMs - keptMinutes * minuteMs && startMs <= nowMs) this.#at(startMs).add(record);
  }

  /** Oldest first, the current one last; at most `most`. */
  list(most = keptMinutes): readonly Minute[] {
    const nowMs = this.#nowMs();
    const knownMs = Math.min(nowMs, ...this.#kept.keys());
    const firstMs = Math.max(knownMs, nowMs - (most - 1) * minuteMs);
    const minutes: Minute[] = [];
    for (let startMs = startOf(firstMs); startMs <= nowMs; startMs += minuteMs) {
      minutes.push(toMinute(this.#kept.get(startMs) ?? new MinuteCount(startMs)));
    }
    return minutes.slice(-most);
  }

  #at(startMs: number): MinuteCount {
    const known = this.#kept.get(startMs);
    if (known !== undefined) return known;
    const minute = new MinuteCount(startMs);
    this.#kept.set(startMs, minute);
    this.#newestMs = Math.max(this.#newestMs, startMs);
    for (const ms of this.#kept.keys()) {
      if (ms <= this.#newestMs - keptMinutes * minuteMs) this.#kept.delete(ms);
    }
    return minute;
  }
}

function toMinute({ startMs, requests, input, output, cached, costUsd, ...rest }: MinuteCount): Minute {
  const { firstByte, blocks, errors } = rest;
  const p50 = firstByte.percentile(0.5);
  const p95 = firstByte.percentile(0.95);
  return {
    time: new Date(startMs).toISOString(),
    requests,
    tokens: { input, output, cached },
    cost_usd: costUsd,
    ...(p50 === undefined || p95 === undefined ? {} : { first_byte_ms: { p50, p95 } }),
    blocks: Object.fromEntries(blocks),
    errors: Object.fromEntries(errors),
  };
}

function startOf(ms: number): number {
  return Math.floor(ms / minuteMs) * minuteMs;
}

function count(counts: Map<string, number>, reason: string): void {
  const name = counts.has(reason) || counts.size < maxReasons ? reason : 'other';
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

interface Sources {
  readonly backend: Pick<InspectorBackend, 'open' | 'budgets' | 'breakers'>;
  readonly minutes: Minutes;
  readonly ring: Ring;
  readonly keeping: KeepBodies;
}

/** What the gateway is doing now, and did in the last minutes. */
export async function toNow({ backend, minutes, ring, keeping }: Sources, most?: number): Promise<NowAnswer> {
  const budgets = await backend.budgets();
  return {
    time: new Date().toISOString(),
    minutes: minutes.list(most),
    open: backend.open(),
    budgets,
    breakers: backend.breakers(),
    ...keeping.state,
    ring: { exchanges: ring.size, bytes: ring.bytes },
  };
}
