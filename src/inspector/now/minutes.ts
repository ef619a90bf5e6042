import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { ExchangeRecord } from '../../record/record.ts';
import type { Minute } from '../contract/events.ts';
import { decisionOf, shows } from '../contract/exchange-list.ts';

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
  /** In steps of 0.1 ms. */
  firstByte: RecordableHistogram | undefined;
  readonly blocks = new Map<string, number>();
  readonly errors = new Map<string, number>();

  constructor(startMs: number) {
    this.startMs = startMs;
  }

  add(record: ExchangeRecord): void {
    const { usage, cost_usd, first_byte_ms, method, outcome, reason, status } = record;
    this.requests += 1;
    this.input += usage?.input_tokens ?? 0;
    this.output += usage?.output_tokens ?? 0;
    this.cached += usage?.cache_read_tokens ?? 0;
    this.costUsd += cost_usd ?? 0;
    if (first_byte_ms !== undefined && outcome === 'answered') {
      this.firstByte ??= createHistogram({ figures: 2 });
      this.firstByte.record(Math.max(1, Math.round(first_byte_ms * 10)));
    }
    const ended = { method, status, outcome, reason, decision: decisionOf(record) };
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

  /** Oldest first, the current one last. */
  list(): readonly Minute[] {
    const nowMs = this.#nowMs();
    const knownMs = Math.min(nowMs, ...this.#kept.keys());
    const firstMs = Math.max(knownMs, nowMs - (keptMinutes - 1) * minuteMs);
    const minutes: Minute[] = [];
    for (let startMs = startOf(firstMs); startMs <= nowMs; startMs += minuteMs) {
      minutes.push(toMinute(this.#kept.get(startMs) ?? new MinuteCount(startMs)));
    }
    return minutes;
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

function toMinute(count: MinuteCount): Minute {
  const { startMs, requests, input, output, cached, costUsd, firstByte, blocks, errors } = count;
  return {
    time: new Date(startMs).toISOString(),
    requests,
    tokens: { input, output, cached },
    cost_usd: costUsd,
    first_byte_ms: firstByte && {
      p50: firstByte.percentile(50) / 10,
      p95: firstByte.percentile(95) / 10,
    },
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
