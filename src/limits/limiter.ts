import type { KeyLimits } from '../config/build/keys.ts';
import { GatewayError } from '../errors.ts';
import { memoize } from '../lib/memoize.ts';
import {
  type Amounts,
  type BudgetCounter,
  type Claim,
  type CounterState,
  type Counters,
  type Grant,
  noAmounts,
  type Ticket,
} from './counters.ts';
import {
  type Calendar,
  createCalendar,
  type LimitName,
  limitNames,
  limitTable,
  type Period,
} from './limit-table.ts';
import { nanoUsdPerUsd } from './price.ts';

/** Most claims in one call: one script in Redis, which blocks all other clients. */
const atOnce = 200;

/** The state of one limit after an exchange was admitted. */
export interface LimitState extends CounterState, Pick<PlannedLimit, 'limit' | 'scope' | 'max'> {
  readonly remaining: number;
}

/** What an exchange was granted. Must be settled exactly once, however the exchange ends. */
export interface Reservation {
  readonly states: readonly LimitState[];
  /** Limits in monitor mode that would have refused, as `project shop usd_per_day`. */
  readonly wouldRefuse: readonly string[];
  /** Returns what was reserved but not used. Requests stay counted unless `used.requests` is 0. */
  settle(used: Amounts): void;
}

export interface PlannedLimit {
  readonly limit: LimitName;
  readonly scope: KeyLimits;
  readonly max: number;
  readonly counter: string;
  /** The counter of a budget at a time; undefined for limits that are no budgets. */
  readonly budgetAt: ((nowMs: number) => BudgetCounter) | undefined;
}

/** The limits of a key and of its project, both of which apply. Created once per configuration. */
export class Limiter {
  readonly #counters: Counters;
  readonly #planned: readonly PlannedLimit[];
  /** Whether tokens or money are limited, so that a request's worst case must be known. */
  readonly needsAmounts: boolean;
  /** Whether a model without a price must be refused. */
  readonly needsPrice: boolean;
  /** Whether a limit must survive a restart of the process. */
  readonly hasBudget: boolean;

  /** Throws RangeError for an unknown time zone. */
  constructor(counters: Counters, scopes: readonly KeyLimits[]) {
    this.#counters = counters;
    this.#planned = scopes.flatMap((scope) => planLimits(scope));
    this.needsAmounts = this.#planned.some(({ limit }) => limitTable[limit].unit !== 'requests');
    this.hasBudget = this.#planned.some(
      ({ limit, scope }) => limitTable[limit].kind === 'period' && scope.settings.mode === 'enforce',
    );
    this.needsPrice = this.#planned.some(
      ({ limit, scope }) =>
        limitTable[limit].unit === 'nanoUsd' &&
        scope.settings.unpriced === 'refuse' &&
        scope.settings.mode === 'enforce',
    );
  }

  /**
   * Reserves the worst case of an exchange. Throws limit.requests, .tokens, .concurrency and .budget, with the advice if
   * the exchange might need too much.
   */
  async reserve(worst: Amounts, nowMs: number, advice = () => ''): Promise<Reservation> {
    const claims = this.#planned.map((planned) => toClaim(planned, worst, nowMs));
    const grant = await this.#counters.reserve(claims, nowMs);
    const limitStates = this.#planned.map((planned, i) => stateOf(planned, grant.states[i]));
    if (!grant.isGranted) throw refusal({ planned: this.#planned, claims, grant, limitStates, advice });
    const { ticket } = grant;
    const exceeded = limitStates.filter(({ used, max }, i) => used > max && claims[i]?.isEnforced === false);
    return {
      states: limitStates,
      wouldRefuse: exceeded.map(({ limit, scope }) => `${scope.kind} ${scope.name} ${limit}`),
      settle: once((used: Amounts) => this.#settle(ticket, used)),
    };
  }

  #settle(ticket: Ticket, used: Amounts): void {
    this.#counters.settle(
      ticket,
      this.#planned.map(({ limit }) => countable(used[limitTable[limit].unit])),
    );
  }
}

/** Thousands of keys have the same days and months. */
const calendarIn = memoize(createCalendar);

export function planLimits(scope: KeyLimits): readonly PlannedLimit[] {
  const calendar = calendarIn(scope.settings.time_zone);
  const planned: PlannedLimit[] = [];
  for (const limit of limitNames) {
    const max = scope.settings[limit];
    if (max === undefined) continue;
    const counter = `${scope.kind} ${scope.name} ${limit}`;
    planned.push({ limit, scope, max, counter, budgetAt: budgetFinder(limit, scope, calendar) });
  }
  return planned;
}

function budgetFinder(limit: LimitName, scope: KeyLimits, calendar: Calendar): PlannedLimit['budgetAt'] {
  const row = limitTable[limit];
  if (!('period' in row)) return undefined;
  let known: { readonly period: Period; readonly budget: BudgetCounter } | undefined;
  return (nowMs) => {
    const period = calendar[row.period](nowMs);
    if (known?.period !== period) known = { period, budget: budgetIn(period, limit, scope) };
    return known.budget;
  };
}

function budgetIn(period: Period, limit: LimitName, { kind, name, settings }: KeyLimits): BudgetCounter {
  const { startsMs, endsMs } = period;
  // In another zone the day of the same name is another day.
  const zone = settings.time_zone === 'UTC' ? '' : ` ${settings.time_zone}`;
  const counter = `${kind} ${name} ${limit} ${period.name}${zone}`;
  return { counter, scope: kind, name, unit: limitTable[limit].unit, startsMs, endsMs };
}

/** The limits that are budgets, of a day or a month. */
export function planBudgets(scopes: readonly KeyLimits[]): readonly PlannedLimit[] {
  return scopes.flatMap((scope) => planLimits(scope)).filter(({ budgetAt }) => budgetAt !== undefined);
}

/** The counters of all budgets, in the day and month of a time. */
export function budgetCounters(scopes: readonly KeyLimits[], nowMs: number): readonly BudgetCounter[] {
  return planBudgets(scopes).flatMap(({ budgetAt }) => budgetAt?.(nowMs) ?? []);
}

/**
 * The state of limits, wherever they are counted: read by claiming nothing, which is always granted. None if the shared
 * counters can't be reached.
 */
export async function readLimits(
  counters: Counters,
  planned: readonly PlannedLimit[],
  nowMs: number,
): Promise<readonly LimitState[]> {
  const states: LimitState[] = [];
  for (let from = 0; from < planned.length; from += atOnce) {
    const some = planned.slice(from, from + atOnce);
    // An enforced limit that is used up would refuse even a claim of nothing.
    const claims = some.map((plan) => ({ ...toClaim(plan, noAmounts, nowMs), isEnforced: false }));
    const grant = await counters.reserve(claims, nowMs);
    if (grant.isGranted) counters.settle(grant.ticket, new Array(claims.length).fill(0));
    states.push(...some.map((plan, i) => stateOf(plan, grant.states[i])));
  }
  // Checked afterwards: if Redis became unreachable meanwhile, the counts are only this gateway's share.
  return counters.isConnected ? states : [];
}

/** The state of a limit by that of its counter. */
function stateOf(
  { limit, scope, max }: PlannedLimit,
  { used, resetMs }: CounterState = { used: 0, resetMs: 0 },
): LimitState {
  return { limit, scope, max, used, remaining: Math.max(0, max - used), resetMs };
}

function toClaim(
  { limit, scope, max, counter, budgetAt }: PlannedLimit,
  worst: Amounts,
  nowMs: number,
): Claim {
  const row = limitTable[limit];
  const budget = budgetAt?.(nowMs);
  const isEnforced = scope.settings.mode === 'enforce';
  return {
    counter: budget?.counter ?? counter,
    kind: row.kind,
    max,
    // What is enforced is refused above its maximum; what is only monitored is counted, whatever a client asks for.
    amount: isEnforced ? worst[row.unit] : countable(worst[row.unit]),
    endsMs: budget?.endsMs ?? 0,
    isEnforced,
    budget,
  };
}

/** A refusal with the state of all limits of the key, for the rate-limit headers. */
export class LimitError extends GatewayError {
  readonly states: readonly LimitState[];

  constructor(states: readonly LimitState[], ...rest: ConstructorParameters<typeof GatewayError>) {
    super(...rest);
    this.states = states;
  }
}

interface Refused {
  readonly planned: readonly PlannedLimit[];
  readonly claims: readonly Claim[];
  readonly grant: Extract<Grant, { isGranted: false }>;
  readonly limitStates: readonly LimitState[];
  readonly advice: () => string;
}

/** The refusal, with what was asked for and what is left; without Retry-After if the request can never fit. */
function refusal({ planned, claims, grant, limitStates, advice }: Refused): LimitError {
  const { limit, scope, max } = planned[grant.refusedBy] as PlannedLimit;
  const { amount } = claims[grant.refusedBy] as Claim;
  const { used, resetMs } = grant.states[grant.refusedBy] as CounterState;
  const row = limitTable[limit];
  const neverFits = amount > max;
  const inUnit = (value: number) => (row.unit === 'nanoUsd' ? `US$ ${toUsd(value)}` : String(value));
  const left = neverFits
    ? `this request alone may need ${inUnit(amount)}`
    : `${inUnit(Math.max(0, max - used))} left, and this request may need ${inUnit(amount)}`;
  const hint = row.unit === 'requests' ? '' : advice();
  // One request, not "1 requests".
  const words = max === 1 ? row.words.replace(/^(request|token)s/, '$1') : row.words;
  const message = `the limit of ${scope.kind} ${scope.name} is ${inUnit(max)} ${words}: ${left}${hint}`;
  return new LimitError(limitStates, row.reason, message, {
    ...(neverFits
      ? { retry: false }
      : { retryAfterS: Math.max(1, Math.ceil((row.kind === 'level' ? 1_000 : resetMs) / 1_000)) }),
  });
}

/** Only meaningful digits, at most six decimals. */
function toUsd(nanoUsd: number): string {
  return String(Number((nanoUsd / nanoUsdPerUsd).toFixed(6)));
}

/** Far above any real request (US$ 10,000), so that many of them still fit into a counter: 63 bits in Redis. */
const largestAmount = 1e13;

function countable(amount: number): number {
  return Math.min(amount, largestAmount);
}

function once<T>(call: (value: T) => void): (value: T) => void {
  let isDone = false;
  return (value) => {
    if (isDone) return;
    isDone = true;
    call(value);
  };
}
