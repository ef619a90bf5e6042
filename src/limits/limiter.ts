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
} from './counters.ts';
import {
  type Calendar,
  createCalendar,
  type LimitName,
  limitNames,
  limitTable,
  type Period,
  type SessionLimit,
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
  /** Whose it is, if it holds for one session or run. */
  readonly session?: KeySession;
  /** The counter of a budget of days or months at a time; undefined for other limits. */
  readonly budgetAt: ((nowMs: number) => BudgetCounter) | undefined;
}

/** A session of a key, or a run, whose name its client chose. */
export interface KeySession {
  readonly key: string;
  readonly session: string;
}

/** A request as far as it can be repeated. */
export interface RequestIdentity {
  /** The same for equal requests only. */
  readonly digest: string;
  /** What it is, in a refusal. */
  readonly words: string;
}

/** What the budgets of a session were raised by, in the units of their counters. */
export type Raises = Readonly<Partial<Record<SessionLimit, number>>>;

/** Reads from the ledger what a session was raised by. */
export type ReadRaises = (session: KeySession) => Promise<Raises>;

export interface ReserveOptions {
  /** What the request belongs to; limits of sessions don't apply without it. */
  readonly session?: KeySession | undefined;
  /** Which request it is; asked only where repetition is limited. */
  readonly identify?: (() => RequestIdentity) | undefined;
  /** How a request that might need too much can need less. */
  readonly advice?: () => string;
}

/** The limits of a key and of its project, both of which apply. Created once per configuration. */
export class Limiter {
  readonly #counters: Counters;
  readonly #planned: readonly PlannedLimit[];
  /** Those of the key's sessions: each is counted for each session by itself; of a run for all of its requests. */
  readonly #ofSessions: readonly PlannedLimit[];
  /** Those of equal requests. */
  readonly #ofRequests: readonly PlannedLimit[];
  readonly #raises: SessionRaises;
  /** Whether repetition is limited, so that it must be known which request it is. */
  readonly needsIdentity: boolean;
  /** Whether tokens or money are limited, so that a request's worst case must be known. */
  readonly needsAmounts: boolean;
  /** Whether a model without a price must be refused. */
  readonly needsPrice: boolean;
  /** Whether a limit must survive a restart of the process. */
  readonly hasBudget: boolean;

  /** Throws RangeError for an unknown time zone. */
  constructor(counters: Counters, scopes: readonly KeyLimits[], readRaises?: ReadRaises) {
    this.#counters = counters;
    this.#planned = scopes.flatMap((scope) => planLimits(scope));
    this.#ofSessions = scopes.flatMap((scope) => planPartial(scope, sessionLimits));
    this.#ofRequests = scopes.flatMap((scope) => planPartial(scope, requestLimits));
    this.#raises = new SessionRaises(readRaises);
    const all = [...this.#planned, ...this.#ofSessions];
    this.needsIdentity = this.#ofRequests.length > 0;
    this.needsAmounts = all.some(({ limit }) => limitTable[limit].unit !== 'requests');
    this.hasBudget = all.some(
      ({ limit, scope }) => limitTable[limit].kind === 'period' && scope.settings.mode === 'enforce',
    );
    this.needsPrice = all.some(
      ({ limit, scope }) =>
        limitTable[limit].unit === 'nanoUsd' &&
        scope.settings.unpriced === 'refuse' &&
        scope.settings.mode === 'enforce',
    );
  }

  /**
   * Reserves the worst case of an exchange. Throws limit.requests, .tokens, .concurrency, .repeated and .budget, with the
   * advice if the exchange might need too much.
   */
  async reserve(
    worst: Amounts,
    nowMs: number,
    { session, identify, advice = () => '' }: ReserveOptions = {},
  ): Promise<Reservation> {
    const request = this.needsIdentity ? identify?.() : undefined;
    let planned = this.#plannedFor(session, request);
    let claims = planned.map((each) => toClaim(each, worst, nowMs));
    let grant = await this.#counters.reserve(claims, nowMs);
    const refusing = grant.isGranted ? undefined : planned[grant.refusedBy];
    // What was raised meanwhile is only looked for where it matters.
    if (refusing?.session !== undefined && (await this.#raises.read(refusing.session))) {
      planned = this.#plannedFor(session, request);
      claims = planned.map((each) => toClaim(each, worst, nowMs));
      grant = await this.#counters.reserve(claims, nowMs);
    }
    const { states } = grant;
    const limitStates = planned.map((each, i) => stateOf({ ...each, max: claims[i]?.max ?? 0 }, states[i]));
    if (!grant.isGranted) throw refusal({ planned, claims, grant, limitStates, advice, request });
    const { ticket } = grant;
    const exceeded = limitStates.filter(({ used, max }, i) => used > max && claims[i]?.isEnforced === false);
    return {
      states: limitStates,
      wouldRefuse: exceeded.map(({ limit, scope }) => `${scope.kind} ${scope.name} ${limit}`),
      settle: once((used: Amounts) => {
        const amounts = planned.map(({ limit }) => countable(used[limitTable[limit].unit]));
        this.#counters.settle(ticket, amounts);
      }),
    };
  }

  /** With the limits of this session, and what it was raised by, and of this request. */
  #plannedFor(
    session: KeySession | undefined,
    request: RequestIdentity | undefined,
  ): readonly PlannedLimit[] {
    const ofRequest = request === undefined ? [] : this.#ofRequests;
    if (this.#ofSessions.length + ofRequest.length === 0) return this.#planned;
    const ofSession = this.#ofSessions.flatMap((plan) => {
      const owner = plan.session ?? session;
      if (owner === undefined) return [];
      const max = plan.max + (this.#raises.known(owner)[plan.limit as SessionLimit] ?? 0);
      const budgetAt = (nowMs: number) => sessionBudget(plan, owner, nowMs);
      return [{ ...plan, session: owner, max, budgetAt }];
    });
    const repeated = ofRequest.map((plan) => ({ ...plan, counter: `${plan.counter} ${request?.digest}` }));
    return [...this.#planned, ...repeated, ...ofSession];
  }
}

/** Most sessions whose raises are remembered. */
const rememberedSessions = 1_000;
/** A session that is refused again and again is looked up no more often. */
const raiseAgeMs = 1_000;

/** What sessions were raised by, as far as they were refused here. */
class SessionRaises {
  readonly #read: ReadRaises | undefined;
  readonly #known = new Map<string, { readonly raises: Raises; readonly atMs: number }>();

  constructor(read: ReadRaises | undefined) {
    this.#read = read;
  }

  known({ key, session }: KeySession): Raises {
    return this.#known.get(`${key} ${session}`)?.raises ?? {};
  }

  /** Whether there is more than was known. */
  async read(of: KeySession): Promise<boolean> {
    const id = `${of.key} ${of.session}`;
    const before = this.#known.get(id);
    const nowMs = performance.now();
    if (this.#read === undefined || nowMs - (before?.atMs ?? Number.NEGATIVE_INFINITY) < raiseAgeMs)
      return false;
    const raises = await this.#read(of).catch(() => before?.raises ?? {}); // refused until it can be read
    this.#known.delete(id);
    if (this.#known.size >= rememberedSessions) this.#known.delete(this.#known.keys().next().value ?? '');
    this.#known.set(id, { raises, atMs: nowMs });
    return sessionLimits.some((limit) => (raises[limit] ?? 0) > (before?.raises[limit] ?? 0));
  }
}

/** Thousands of keys have the same days and months. */
const calendarIn = memoize(createCalendar);

export function planLimits(scope: KeyLimits): readonly PlannedLimit[] {
  const calendar = calendarIn(scope.settings.time_zone);
  const planned: PlannedLimit[] = [];
  for (const limit of limitNames) {
    const max = scope.settings[limit];
    if (max === undefined || isPartial(limit)) continue;
    const counter = `${scope.kind} ${scope.name} ${limit}`;
    planned.push({ limit, scope, max, counter, budgetAt: budgetFinder(limit, scope, calendar) });
  }
  return planned;
}

/** Limits that are counted apart for each session or request. */
function planPartial(scope: KeyLimits, names: readonly LimitName[]): readonly PlannedLimit[] {
  return names.flatMap((limit) => {
    const max = scope.settings[limit];
    if (max === undefined) return [];
    const { kind, name, run } = scope;
    const plan = { limit, scope, max, counter: `${kind} ${name} ${limit}`, budgetAt: undefined };
    return run === undefined
      ? [plan]
      : [{ ...plan, counter: `run ${plan.counter}`, session: { key: name, session: run } }];
  });
}

const sessionLimits = limitNames.filter(isSessionLimit);
const requestLimits = limitNames.filter((limit) => 'per' in limitTable[limit]);

function isPartial(limit: LimitName): boolean {
  return isSessionLimit(limit) || requestLimits.includes(limit);
}

function isSessionLimit(limit: LimitName): limit is SessionLimit {
  const row = limitTable[limit];
  return 'period' in row && row.period === 'session';
}

/** Longer than most pauses within a session. */
const keptMs = 86_400_000;

/** A project's limit too holds for each session of each of its keys: the same name of another key is another session. */
function sessionBudget(
  { limit, counter }: PlannedLimit,
  { key, session }: KeySession,
  nowMs: number,
): BudgetCounter {
  return {
    counter: `${counter} ${key} ${session}`,
    scope: 'key',
    name: key,
    session,
    unit: limitTable[limit].unit,
    startsMs: 0,
    endsMs: nowMs + keptMs,
  };
}

function budgetFinder(limit: LimitName, scope: KeyLimits, calendar: Calendar): PlannedLimit['budgetAt'] {
  const row = limitTable[limit];
  if (!('period' in row) || row.period === 'session') return undefined;
  const { period: length } = row;
  let known: { readonly period: Period; readonly budget: BudgetCounter } | undefined;
  return (nowMs) => {
    const period = calendar[length](nowMs);
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
    ...('per' in row ? { isChosen: true } : {}),
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
  readonly request: RequestIdentity | undefined;
}

/** The refusal, with what was asked for and what is left; without Retry-After if the request can never fit. */
function refusal({ planned, claims, grant, limitStates, advice, request }: Refused): LimitError {
  const { limit, scope, session } = planned[grant.refusedBy] as PlannedLimit;
  const { amount, max } = claims[grant.refusedBy] as Claim;
  const { used, resetMs } = grant.states[grant.refusedBy] as CounterState;
  const row = limitTable[limit];
  const neverFits = amount > max;
  const inUnit = (value: number) => (row.unit === 'nanoUsd' ? `US$ ${toUsd(value)}` : String(value));
  const left = neverFits
    ? `this request alone may need ${inUnit(amount)}`
    : `${inUnit(Math.max(0, max - used))} left, and this request may need ${inUnit(amount)}`;
  const ofSession = isSessionLimit(limit) && session !== undefined ? raiseHint(limit, session) : '';
  const isOfRun = scope.run !== undefined;
  const hint = `${row.unit === 'requests' ? '' : advice()}${ofSession}`;
  // One request, not "1 requests".
  const plural = isOfRun ? row.words.replace(/ ?a session$/, '') : row.words;
  const words = max === 1 ? plural.replace(/(request|token)s/, '$1') : plural;
  const found = 'per' in row ? `${request?.words} came ${used} times` : `${left}${hint}`;
  const owner = isOfRun ? 'this run' : `${scope.kind} ${scope.name}`;
  const message = `the limit of ${owner} is ${`${inUnit(max)} ${words}`.trimEnd()}: ${found}`;
  return new LimitError(limitStates, row.reason, message, {
    // Waiting brings nothing back to a session.
    ...(neverFits || isSessionLimit(limit)
      ? { retry: false }
      : { retryAfterS: Math.max(1, Math.ceil((row.kind === 'level' ? 1_000 : resetMs) / 1_000)) }),
  });
}

function raiseHint(limit: SessionLimit, { session }: KeySession): string {
  const options = {
    usd_per_session: '',
    tokens_per_session: '--tokens ',
    requests_per_session: '--requests ',
  };
  return `; "gateway sessions raise ${session} ${options[limit]}N" lets it go on`;
}

/** Only meaningful digits, at most six decimals. */
function toUsd(nanoUsd: number): string {
  return String(Number((nanoUsd / nanoUsdPerUsd).toFixed(6)));
}

/** Far above any real request (US$ 10,000), so that many of them still fit into a counter: 63 bits in Redis. */
const maxAmount = 1e13;

function countable(amount: number): number {
  return Math.min(amount, maxAmount);
}

function once<T>(call: (value: T) => void): (value: T) => void {
  let isDone = false;
  return (value) => {
    if (isDone) return;
    isDone = true;
    call(value);
  };
}
