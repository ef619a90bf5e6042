import type { FailureCode } from '../errors.ts';
import type { Amounts, Claim } from './counters.ts';

/** A day or a month in a time zone: its name (`2026-11-22`, `2026-11`), when it starts and ends, in ms since 1970. */
export interface Period {
  readonly name: string;
  readonly startsMs: number;
  readonly endsMs: number;
}

export interface Calendar {
  day(nowMs: number): Period;
  month(nowMs: number): Period;
  /** The name of the day. */
  dayName(ms: number): string;
}

const hourMs = 3_600_000;
const dayLength = '2026-11-22'.length;

/**
 * Days and months in a time zone, so that a budget's midnight is the local one, even on days of 23 or 25 hours; without a
 * name in this machine's. Throws RangeError for anything but an IANA name such as Europe/Berlin.
 */
export function createCalendar(timeZone?: string): Calendar {
  const dateOf = timeZone === 'UTC' ? utcDate : dateIn(timeZone);
  const nameOf = (ms: number, length: number) => dateOf(ms).slice(0, length);
  const named = (length: number, maxHours: number) => {
    let known: Period | undefined;
    return (nowMs: number): Period => {
      if (known !== undefined && nowMs >= known.startsMs && nowMs < known.endsMs) return known;
      const name = nameOf(nowMs, length);
      const isIn = (ms: number) => nameOf(ms, length) === name;
      const maxMs = maxHours * hourMs;
      const startsMs = border(nowMs, nowMs - maxMs, isIn);
      known = { name, startsMs, endsMs: border(nowMs, nowMs + maxMs, isIn) + 1 };
      return known;
    };
  };
  return {
    day: named(dayLength, 26),
    month: named('2026-11'.length, 32 * 24),
    dayName: (ms) => nameOf(ms, dayLength),
  };
}

// Most gateways use no other zone, and the time zone tables take tens of milliseconds to load.
function utcDate(ms: number): string {
  return new Date(ms).toISOString();
}

function dateIn(timeZone: string | undefined): (ms: number) => string {
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const zone = timeZone === undefined ? {} : { timeZone };
  return new Intl.DateTimeFormat('en-CA', { ...zone, ...parts }).format;
}

/** The last millisecond of the period between a time within it and one outside, by bisection. */
function border(insideMs: number, outsideMs: number, isIn: (ms: number) => boolean): number {
  let inside = insideMs;
  let outside = outsideMs;
  while (Math.abs(outside - inside) > 1) {
    const middle = Math.floor((inside + outside) / 2);
    if (isIn(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}

interface LimitRow {
  readonly kind: Claim['kind'];
  readonly unit: keyof Amounts;
  readonly period?: 'day' | 'month' | 'session';
  /** Counted for each request by itself, and those that equal it. */
  readonly per?: 'request';
  readonly reason: Extract<FailureCode, `limit.${string}`>;
  /** In a refusal: "the limit of project shop is 60 requests a minute". */
  readonly words: string;
}

/** All limits: what each counts, over which time, and what its refusal says. */
export const limitTable = {
  requests_per_minute: {
    kind: 'minute',
    unit: 'requests',
    reason: 'limit.requests',
    words: 'requests a minute',
  },
  tokens_per_minute: { kind: 'minute', unit: 'tokens', reason: 'limit.tokens', words: 'tokens a minute' },
  concurrent_requests: {
    kind: 'level',
    unit: 'requests',
    reason: 'limit.concurrency',
    words: 'requests at a time',
  },
  tokens_per_day: {
    kind: 'period',
    period: 'day',
    unit: 'tokens',
    reason: 'limit.budget',
    words: 'tokens a day',
  },
  tokens_per_month: {
    kind: 'period',
    period: 'month',
    unit: 'tokens',
    reason: 'limit.budget',
    words: 'tokens a month',
  },
  usd_per_day: { kind: 'period', period: 'day', unit: 'nanoUsd', reason: 'limit.budget', words: 'a day' },
  usd_per_month: {
    kind: 'period',
    period: 'month',
    unit: 'nanoUsd',
    reason: 'limit.budget',
    words: 'a month',
  },
  requests_per_session: {
    kind: 'period',
    period: 'session',
    unit: 'requests',
    reason: 'limit.budget',
    words: 'requests a session',
  },
  tokens_per_session: {
    kind: 'period',
    period: 'session',
    unit: 'newTokens',
    reason: 'limit.budget',
    words: 'new tokens a session',
  },
  usd_per_session: {
    kind: 'period',
    period: 'session',
    unit: 'nanoUsd',
    reason: 'limit.budget',
    words: 'a session',
  },
  repeated_requests: {
    kind: 'minute',
    per: 'request',
    unit: 'requests',
    reason: 'limit.repeated',
    words: 'equal requests a minute',
  },
} as const satisfies Record<string, LimitRow>;

export type LimitName = keyof typeof limitTable;
export type SessionLimit = Extract<LimitName, `${string}_session`>;
export const limitNames = Object.keys(limitTable) as readonly LimitName[];
