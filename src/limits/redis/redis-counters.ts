import { GatewayError } from '../../errors.ts';
import { OutageCauses } from '../../lib/outage-causes.ts';
import { mustKnow } from '../budget-loader.ts';
import {
  type BudgetCounter,
  type Claim,
  type Counters,
  type Grant,
  type ReadSums,
  stateUnavailable,
  type Ticket,
} from '../counters.ts';
import { MemoryCounters } from '../memory-counters.ts';
import { connectRedis, type ScriptedRedis } from './redis-connection.ts';
import {
  badCounterOf,
  isRedisTicket,
  leaseMs,
  prefix,
  RedisMembership,
  type RedisTicket,
  Settlements,
} from './redis-settlement.ts';
import { filled, RedisSums } from './redis-sums.ts';

export interface RedisOptions {
  readonly url: string;
  /** What applies while Redis is unreachable; by default budgets refuse, and rates are counted here against a share. */
  readonly onFailure: 'refuse' | 'local' | undefined;
  /** Notified when Redis becomes unreachable, once for each cause, and when it is back. */
  readonly onState: (state: { readonly isConnected: boolean; readonly cause?: unknown }) => void;
  /** Notified once for each key of a counter that holds something else, so that its limit can't be counted. */
  readonly onBadCounter?: ((key: string) => void) | undefined;
  /** What budgets have used, for a Redis that is new, has lost its data, or does not know a budget yet. */
  readonly readSums?: ReadSums | undefined;
}

/** Written to check that Redis accepts writes: one that is full or a replica answers, but counts nothing. */
const writable = `${prefix}writable`;
const renewMs = 20_000;
const silentMs = 1_000; // without an answer for this long it counts as unreachable
const againMs = 1_000;
/** Most keys of bad counters that are reported. */
const reportedKeys = 1_000;

/**
 * Counts in Redis, for any number of gateways. A reservation is one script, so it is exact under any concurrency. While
 * Redis is unreachable budgets refuse, and rates are counted here against this gateway's share.
 */
export class RedisCounters implements Counters {
  readonly #redis: ScriptedRedis;
  readonly #options: RedisOptions;
  readonly #local = new MemoryCounters();
  readonly #id: string;
  /** This gateway's open leases in Redis: they show whether a command without an answer took effect. */
  readonly #openKey: string;
  readonly #settlements: Settlements;
  readonly #membership: RedisMembership;
  readonly #badCounters = new Set<string>();
  #sequence = 0;
  #isConnected = true;
  #isClosed = false;
  readonly #causes = new OutageCauses();
  /** The mark of the data set that Redis had when it last answered. */
  #mark = '';
  readonly #sums: RedisSums;
  /** Counters that are read from the ledger again before they are used. */
  readonly #stale = new Set<string>();
  #again: NodeJS.Timeout | undefined;
  readonly #renewal: NodeJS.Timeout;

  private constructor(redis: ScriptedRedis, id: string, options: RedisOptions) {
    this.#redis = redis;
    this.#id = id;
    this.#openKey = `${prefix}open:${id}`;
    this.#options = options;
    this.#membership = new RedisMembership(redis, id, this.#openKey);
    this.#sums = new RedisSums(redis, options.readSums);
    this.#settlements = new Settlements(redis, this.#openKey, {
      isLedgerKept: options.readSums !== undefined,
      onBadCounter: (key) => this.#reportBadCounter(key),
    });
    redis.on('error', (cause) => (this.#isConnected ? this.#lost(cause) : this.#report(cause)));
    redis.on('close', () => this.#lost('the connection to Redis was closed'));
    redis.on('ready', () => {
      if (!this.#isConnected) void this.#regained();
    });
    const renew = () => (this.#isConnected ? this.#membership.renew() : undefined);
    this.#renewal = setInterval(() => void renew(), renewMs).unref();
  }

  /** `id` identifies this gateway. Resolves immediately, and keeps trying to connect to an unreachable server. */
  static async open(id: string, options: RedisOptions): Promise<RedisCounters> {
    const redis = await connectRedis(options.url, { silentMs });
    const counters = new RedisCounters(redis, id, options);
    await redis.connect().then(
      () => counters.#regained(),
      (cause: unknown) => counters.#lost(cause),
    );
    return counters;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  async reserve(claims: readonly Claim[], nowMs: number): Promise<Grant> {
    if (!this.#isConnected) return this.#reserveLocally(claims, nowMs);
    try {
      const stale = this.#stale.size === 0 ? [] : claims.filter(({ counter }) => this.#stale.has(counter));
      if (stale.length > 0 && (await this.#load(stale)))
        for (const { counter } of stale) this.#stale.delete(counter);
      let granted = await this.#reserveThere(claims);
      if (granted === 'lost') {
        // Though the connection held.
        await this.#fill();
        granted = await this.#reserveThere(claims);
      }
      if (granted !== 'lost' && 'unknown' in granted) {
        const isKnown = await this.#load(granted.unknown);
        granted = await this.#reserveThere(claims, { isKnown });
      }
      if (granted !== 'lost' && 'isGranted' in granted) return granted;
      return this.#reserveLocally(claims, nowMs);
    } catch (cause) {
      if (cause instanceof GatewayError) throw cause;
      const key = badCounterOf(cause);
      if (key !== undefined) {
        this.#reportBadCounter(key);
        throw stateUnavailable('a counter in Redis holds something else; the log has its key', { cause });
      }
      this.#lost(cause);
      return this.#reserveLocally(claims, nowMs);
    }
  }

  /** Without a grant: `lost` if Redis has lost its data, or the claims of counters that are `unknown` to it. */
  async #reserveThere(
    claims: readonly Claim[],
    { isKnown = true } = {},
  ): Promise<Grant | 'lost' | { readonly unknown: readonly Claim[] }> {
    const lease = `${this.#id}:${++this.#sequence}`;
    const args = claims.flatMap(({ kind, max, amount, endsMs, isEnforced, budget }) => [
      kind,
      max,
      amount,
      endsMs,
      isEnforced ? 1 : 0,
      isKnown && this.#options.readSums !== undefined && budget !== undefined ? 1 : 0,
    ]);
    const keys = [filled, this.#openKey, ...claims.map(({ counter }) => prefix + counter)];
    const answer = await this.#redis
      .gatewayReserve(keys.length, ...keys, lease, leaseMs, ...args)
      .catch((cause: unknown) => {
        if (badCounterOf(cause) === undefined) this.#undo(claims, lease);
        throw cause;
      });
    const [refused, second, mark, ...rest] = answer;
    if (Number(refused) === -1) return 'lost';
    this.#mark = String(mark);
    const numbers = rest.map(Number);
    if (Number(refused) === -2) return { unknown: numbers.map((index) => claims[index - 1] as Claim) };
    const states = claims.map((_, i) => ({
      used: numbers[2 * i] as number,
      resetMs: numbers[2 * i + 1] as number,
    }));
    if (Number(refused) > 0) return { isGranted: false, refusedBy: Number(refused) - 1, states };
    const levels = claims.flatMap(({ kind, counter }) => (kind === 'level' ? [prefix + counter] : []));
    if (levels.length > 0) this.#membership.open.set(lease, levels);
    const ticket: RedisTicket = { claims, atMs: Number(second) * 1_000, lease, mark: this.#mark };
    return { isGranted: true, states, ticket };
  }

  settle(ticket: Ticket, used: readonly number[]): void {
    if (!isRedisTicket(ticket)) {
      this.#local.settle(ticket, used);
      const counted = ticket.claims.flatMap((claim, i) =>
        claim.kind === 'period' ? [{ claim, difference: used[i] ?? 0 }] : [],
      );
      if (counted.length === 0) return;
      // Redis knows no reservation of it.
      const lease = `${this.#id}:${++this.#sequence}`;
      this.#settlements.keep({ lease, second: 0, differences: counted }, false);
      if (this.#isConnected) this.#settlements.sendKept().catch((cause: unknown) => this.#lost(cause));
      return;
    }
    this.#membership.open.delete(ticket.lease);
    // Without a ledger, data that was lost meanwhile is not restored, and neither is the claim.
    const isForgotten = this.#options.readSums === undefined && ticket.mark !== this.#mark;
    const differences = ticket.claims.map((claim, i) => ({
      claim,
      difference: (used[i] ?? 0) - (isForgotten && claim.kind === 'period' ? 0 : claim.amount),
    }));
    const settlement = { lease: ticket.lease, second: ticket.atMs / 1_000, differences };
    if (this.#isConnected) this.#settlements.send(settlement).catch((cause: unknown) => this.#lost(cause));
    else this.#settlements.keep(settlement, false);
  }

  /** It is not known whether a reservation was counted: if it was, it is returned when Redis is back. */
  #undo(claims: readonly Claim[], lease: string): void {
    // Nor is its second known; a minute's window drops it soon.
    const differences = claims
      .filter(({ kind }) => kind !== 'minute')
      .map((claim) => ({ claim, difference: -claim.amount }));
    this.#settlements.keep({ lease, second: 0, differences }, true);
  }

  #reportBadCounter(key: string): void {
    if (this.#badCounters.has(key) || this.#badCounters.size >= reportedKeys) return;
    this.#badCounters.add(key);
    this.#options.onBadCounter?.(key);
  }

  async close(): Promise<void> {
    clearInterval(this.#renewal);
    clearTimeout(this.#again);
    if (this.#isConnected) await this.#membership.leave();
    this.#isClosed = true;
    this.#redis.disconnect();
  }

  #reserveLocally(claims: readonly Claim[], nowMs: number): Promise<Grant> {
    const { onFailure } = this.#options;
    const refuses = claims.some(
      ({ kind, isEnforced }) =>
        isEnforced && (onFailure === 'refuse' || (onFailure === undefined && kind === 'period')),
    );
    if (refuses) {
      throw stateUnavailable(
        'Redis is away, so limits cannot be counted together with other gateways; try again soon',
      );
    }
    const shared = claims.map((claim) => ({
      ...claim,
      max: Math.max(1, Math.floor(claim.max / this.#membership.gateways)),
    }));
    return this.#local.reserve(shared, nowMs);
  }

  #lost(cause: unknown): void {
    if (!this.#isConnected) return;
    this.#isConnected = false;
    // A hanging server keeps its connections open: only a new one can show when it answers again.
    if (this.#redis.status === 'ready') this.#redis.disconnect(true);
    this.#report(cause);
  }

  #report(cause: unknown): void {
    if (this.#isClosed || !this.#causes.add(cause)) return;
    this.#options.onState({ isConnected: false, cause });
  }

  async #regained(): Promise<void> {
    clearTimeout(this.#again);
    try {
      // ioredis only mentions a number that doesn't exist, and goes on in database 0.
      await this.#redis.select(this.#redis.options.db ?? 0);
      await this.#redis.set(writable, '1', 'PX', leaseMs);
      const mark = await this.#redis.get(filled);
      const isSame = mark !== null && mark === this.#mark;
      // If another gateway has refilled it, the ledger included what was settled here, which must not be subtracted again.
      if (isSame || this.#options.readSums === undefined) await this.#settlements.sendKept();
      else this.#settlements.forgetKept();
      // Another run of the server may have come back with older data.
      if (!isSame || !mark.startsWith(await this.#sums.runId())) await this.#fill();
      const wasConnected = this.#isConnected;
      this.#isConnected = true;
      await this.#settlements.sendKept(); // what ended during the awaits above
      await this.#membership.renew();
      this.#causes.clear();
      if (!wasConnected) this.#options.onState({ isConnected: true });
    } catch (cause) {
      this.#isConnected = false;
      this.#report(cause);
      this.#again = setTimeout(() => {
        if (this.#redis.status === 'ready') void this.#regained();
      }, againMs).unref();
    }
  }

  async #fill(): Promise<void> {
    this.#mark = await this.#sums.fill(`${this.#id} ${this.#sequence}`);
  }

  /** False if the ledger does not answer; then the claims must not become known. */
  async #load(claims: readonly Claim[]): Promise<boolean> {
    try {
      await this.#sums.load(claims.flatMap(({ budget }) => budget ?? []));
      return true;
    } catch (cause) {
      if (mustKnow(claims)) throw cause;
      return false;
    }
  }

  reread(budgets: readonly BudgetCounter[]): void {
    for (const { counter } of budgets) this.#stale.add(counter);
  }
}
