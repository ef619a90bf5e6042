import type { Redis } from 'ioredis';
import {
  type Claim,
  type Counters,
  type Grant,
  type RestoredSum,
  stateUnavailable,
  type Ticket,
} from './counters.ts';
import { MemoryCounters } from './memory-counters.ts';
import { reserveScript, restoreScript, settleScript } from './redis-script.ts';

export interface RedisOptions {
  readonly url: string;
  /** What holds while Redis is away; by default budgets refuse and rates are counted here, by a share. */
  readonly onFailure: 'refuse' | 'local' | undefined;
  /** Notified when Redis goes away (with the cause) and when it is back. */
  readonly onState: (state: { readonly isConnected: boolean; readonly cause?: unknown }) => void;
  /** What budgets have used up, for a Redis that is new or has lost its data; asked before anything is counted. */
  readonly restore?: (() => Promise<readonly RestoredSum[]>) | undefined;
}

interface Scripts {
  gatewayReserve(keys: number, ...args: (string | number)[]): Promise<(string | number)[]>;
  gatewaySettle(keys: number, ...args: (string | number)[]): Promise<number>;
  gatewayRestore(keys: number, counter: string, used: number, endsMs: number): Promise<number>;
}

interface RedisTicket extends Ticket {
  readonly lease: string;
}

// One hash slot, so that a cluster can run the script over all counters of an exchange.
const prefix = '{gateway}:limits:';
const gateways = `${prefix}gateways`;
/** Missing where Redis is new, or has lost its data. */
const filled = `${prefix}filled`;
/** A lease that nobody renews ends then: its gateway is dead. */
const leaseMs = 60_000;
const renewMs = 20_000;
// A request waits for a server that does not answer this long, then it counts as away.
const commandMs = 1_000;
/** Settlements kept for a server that is away; beyond it their worst case stays counted, which only refuses more. */
const unsettledLimit = 100_000;

/**
 * Counts in Redis, for any number of gateways. A reservation is one script, so it is exact however many count at
 * once. While Redis is away budgets refuse, and rates are counted here by this gateway's share of them.
 */
export class RedisCounters implements Counters {
  readonly #redis: Redis & Scripts;
  readonly #options: RedisOptions;
  readonly #local = new MemoryCounters();
  readonly #open = new Map<string, readonly string[]>();
  readonly #id: string;
  #unsettled: (readonly (string | number)[])[] = [];
  #sequence = 0;
  #share = 1;
  #isConnected = true;
  readonly #renewal: NodeJS.Timeout;

  private constructor(redis: Redis & Scripts, id: string, options: RedisOptions) {
    this.#redis = redis;
    this.#id = id;
    this.#options = options;
    redis.on('error', (cause) => this.#lost(cause));
    redis.on('close', () => this.#lost('the connection was closed'));
    redis.on('ready', () => {
      if (!this.#isConnected) void this.#regained();
    });
    this.#renewal = setInterval(() => void this.#renew(), renewMs).unref();
  }

  /** `id` tells this gateway from others. Resolves at once; a server that is away is asked for again and again. */
  static async open(id: string, options: RedisOptions): Promise<RedisCounters> {
    const { Redis } = await import('ioredis'); // only those who configure it pay for its start
    const redis = new Redis(options.url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: commandMs,
      connectTimeout: 5_000,
      retryStrategy: (tries) => Math.min(5_000, 50 * 2 ** Math.min(tries, 7)) * (0.5 + Math.random() / 2),
    });
    redis.defineCommand('gatewayReserve', { lua: reserveScript });
    redis.defineCommand('gatewaySettle', { lua: settleScript });
    redis.defineCommand('gatewayRestore', { lua: restoreScript });
    const counters = new RedisCounters(redis as Redis & Scripts, id, options);
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
    const lease = `${this.#id}:${++this.#sequence}`;
    const args = claims.flatMap(({ kind, max, amount, endsMs, isEnforced }) => [
      kind,
      max,
      amount,
      endsMs,
      isEnforced ? 1 : 0,
    ]);
    try {
      const keys = claims.map(({ counter }) => prefix + counter);
      const answer = await this.#redis.gatewayReserve(keys.length, ...keys, lease, leaseMs, ...args);
      const [refused, second, ...numbers] = answer.map(Number) as [number, number, ...number[]];
      const states = claims.map((_, i) => ({
        used: numbers[2 * i] as number,
        resetMs: numbers[2 * i + 1] as number,
      }));
      if (refused > 0) return { isGranted: false, refusedBy: refused - 1, states };
      const levels = claims.flatMap(({ kind, counter }) => (kind === 'level' ? [prefix + counter] : []));
      if (levels.length > 0) this.#open.set(lease, levels);
      const ticket: RedisTicket = { claims, atMs: second * 1_000, lease };
      return { isGranted: true, states, ticket };
    } catch (cause) {
      this.#lost(cause);
      return this.#reserveLocally(claims, nowMs);
    }
  }

  settle(ticket: Ticket, used: readonly number[]): void {
    if (!isRedisTicket(ticket)) {
      this.#local.settle(ticket, used);
      const counted = ticket.claims.flatMap((claim, i) =>
        claim.kind === 'period' ? [{ claim, difference: used[i] ?? 0 }] : [],
      );
      if (counted.length > 0) this.#send(settleArgs(counted, '-', 0));
      return;
    }
    this.#open.delete(ticket.lease);
    const differences = ticket.claims.map((claim, i) => ({
      claim,
      difference: (used[i] ?? 0) - claim.amount,
    }));
    this.#send(settleArgs(differences, ticket.lease, ticket.atMs / 1_000));
  }

  async close(): Promise<void> {
    clearInterval(this.#renewal);
    if (this.#isConnected) {
      await this.#redis.zrem(gateways, this.#id).catch(() => undefined); // it ends by itself too
    }
    this.#redis.disconnect();
  }

  /** Nobody waits for it; what can't be sent is kept until Redis is back. */
  #send(args: readonly (string | number)[]): void {
    const [keys, ...rest] = args as [number, ...(string | number)[]];
    if (!this.#isConnected) return this.#keep(args);
    // Whether it was counted nobody knows then. Counting it twice could give back too much, so the worst case stays.
    this.#redis.gatewaySettle(keys, ...rest).catch((cause: unknown) => this.#lost(cause));
  }

  #keep(args: readonly (string | number)[]): void {
    if (this.#unsettled.length < unsettledLimit) this.#unsettled.push(args);
  }

  #reserveLocally(claims: readonly Claim[], nowMs: number): Grant {
    const { onFailure } = this.#options;
    const refuses = claims.some(
      ({ kind, isEnforced }) =>
        isEnforced && (onFailure === 'refuse' || (onFailure === undefined && kind === 'period')),
    );
    if (refuses) {
      throw stateUnavailable('limits can not be counted: Redis does not answer');
    }
    const shared = claims.map((claim) => ({
      ...claim,
      max: Math.max(1, Math.floor(claim.max / this.#share)),
    }));
    return this.#local.reserve(shared, nowMs);
  }

  #lost(cause: unknown): void {
    if (!this.#isConnected) return;
    this.#isConnected = false;
    // A server that hangs holds its connections: only a new one can tell when it answers again.
    if (this.#redis.status === 'ready') this.#redis.disconnect(true);
    this.#options.onState({ isConnected: false, cause });
  }

  async #regained(): Promise<void> {
    try {
      await this.#restore();
      // Before anybody counts on: what was used meanwhile.
      const unsettled = this.#unsettled;
      this.#unsettled = [];
      for (const [keys, ...rest] of unsettled as [number, ...(string | number)[]][]) {
        await this.#redis.gatewaySettle(keys, ...rest);
      }
      const wasConnected = this.#isConnected;
      this.#isConnected = true;
      await this.#renew();
      if (!wasConnected) this.#options.onState({ isConnected: true });
    } catch (cause) {
      this.#isConnected = true;
      this.#lost(cause);
    }
  }

  /** Fills a Redis that has no counters with what the ledger knows; a sum that is there already is never lowered. */
  async #restore(): Promise<void> {
    const { restore } = this.#options;
    if (restore === undefined || (await this.#redis.exists(filled)) === 1) return;
    for (const { counter, used, endsMs } of await restore()) {
      await this.#redis.gatewayRestore(1, prefix + counter, used, endsMs);
    }
    await this.#redis.set(filled, '1');
  }

  /** Keeps this gateway's leases alive, and counts the gateways that share the limits. */
  async #renew(): Promise<void> {
    if (!this.#isConnected) return;
    const [seconds] = await this.#redis.time().catch(() => [0, 0]);
    if (Number(seconds) === 0) return;
    const nowMs = Number(seconds) * 1_000;
    const pipeline = this.#redis.pipeline();
    pipeline.zremrangebyscore(gateways, '-inf', nowMs);
    pipeline.zadd(gateways, nowMs + leaseMs, this.#id);
    pipeline.zcard(gateways);
    for (const [lease, levels] of this.#open) {
      for (const level of levels) pipeline.zadd(level, 'XX', nowMs + leaseMs, lease);
    }
    const answers = await pipeline.exec().catch(() => undefined);
    const count = Number(answers?.[2]?.[1] ?? 0);
    if (count > 0) this.#share = count;
  }
}

function isRedisTicket(ticket: Ticket): ticket is RedisTicket {
  return 'lease' in ticket;
}

function settleArgs(
  differences: readonly { readonly claim: Claim; readonly difference: number }[],
  lease: string,
  second: number,
): readonly (string | number)[] {
  const keys = differences.map(({ claim }) => prefix + claim.counter);
  const rest = differences.flatMap(({ claim, difference }) => [claim.kind, difference, claim.endsMs]);
  return [keys.length, ...keys, lease, second, ...rest];
}
