import type { FailureCode } from '../errors.ts';
import type { Amounts, Claim } from './counters.ts';

interface LimitRow {
  readonly kind: Claim['kind'];
  readonly unit: keyof Amounts;
  readonly period?: 'day' | 'month';
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
} as const satisfies Record<string, LimitRow>;

export type LimitName = keyof typeof limitTable;
export const limitNames = Object.keys(limitTable) as readonly LimitName[];
