import type { Claim, Ticket } from '../counters.ts';
import type { ScriptedRedis } from './redis-connection.ts';

/** One hash slot, so that a cluster can run a script over all counters of an exchange. */
export const prefix = '{gateway}:limits:';

const gateways = `${prefix}gateways`;
/** A lease that is not renewed for this long expires: its gateway is dead. */
export const leaseMs = 60_000;

/** This gateway among those that share a Redis. */
export class RedisMembership {
  /** The levels that each of its open leases takes a place in. */
  readonly open = new Map<string, readonly string[]>();
  /** How many gateways shared the limits when Redis last answered. */
  gateways = 1;
  readonly #redis: ScriptedRedis;
  readonly #id: string;
  readonly #openKey: string;

  constructor(redis: ScriptedRedis, id: string, openKey: string) {
    this.#redis = redis;
    this.#id = id;
    this.#openKey = openKey;
  }

  /** Keeps this gateway's leases alive, also those that expired, or were lost, while Redis was away. */
  async renew(): Promise<void> {
    const [seconds] = await this.#redis.time().catch(() => [0, 0]);
    if (Number(seconds) === 0) return;
    const nowMs = Number(seconds) * 1_000;
    const pipeline = this.#redis.pipeline();
    pipeline.zremrangebyscore(gateways, '-inf', nowMs);
    pipeline.zadd(gateways, nowMs + leaseMs, this.#id);
    pipeline.zcard(gateways);
    pipeline.pexpire(this.#openKey, 2 * leaseMs);
    for (const [lease, levels] of this.open) {
      for (const level of levels) pipeline.zadd(level, nowMs + leaseMs, lease).pexpire(level, 2 * leaseMs);
    }
    const answers = await pipeline.exec().catch(() => undefined);
    const count = Number(answers?.[2]?.[1] ?? 0);
    if (count > 0) this.gateways = count;
  }

  /** It would also expire. */
  async leave(): Promise<void> {
    await this.#redis.zrem(gateways, this.#id).catch(() => undefined);
  }
}

export interface RedisTicket extends Ticket {
  readonly lease: string;
  /** The mark of the data set in which it was counted. */
  readonly mark: string;
}

/** What replaces a claim by what was used. */
export interface Settlement {
  /** The name of the reservation, or a new name if it was counted without one. */
  readonly lease: string;
  /** In which second it was counted. */
  readonly second: number;
  readonly differences: readonly { readonly claim: Claim; readonly difference: number }[];
}

/** Most settlements kept for an unreachable server; beyond that the worst case stays counted, which errs on the safe side. */
const unsettledLimit = 100_000;
/** Most commands that are sent without waiting for an answer. */
const atOnce = 500;

interface SettlementOptions {
  /** Whether a budget's counter that is missing will be read from the ledger. */
  readonly isLedgerKept: boolean;
  /** Called with the key of a counter that holds something else, and so can't be settled. */
  readonly onBadCounter: (key: string) => void;
}

/** Sends settlements. Redis keeps the names of open reservations, so that one that is sent twice counts once. */
export class Settlements {
  readonly #redis: ScriptedRedis;
  /** The set of this gateway's open reservations. */
  readonly #openKey: string;
  readonly #options: SettlementOptions;
  #kept: { readonly settlement: Settlement; wasSent: boolean }[] = [];
  #sending: Promise<void> | undefined;

  constructor(redis: ScriptedRedis, openKey: string, options: SettlementOptions) {
    this.#redis = redis;
    this.#openKey = openKey;
    this.#options = options;
  }

  /** Rejects, and keeps the settlement, if it is unknown whether it was counted. */
  async send(settlement: Settlement): Promise<void> {
    try {
      await this.#settle(settlement, false);
    } catch (cause) {
      this.keep(settlement, true);
      throw cause;
    }
  }

  /** For `sendKept`. `wasSent`: Redis may have counted it already, or may know nothing of its reservation. */
  keep(settlement: Settlement, wasSent: boolean): void {
    if (this.#kept.length < unsettledLimit) this.#kept.push({ settlement, wasSent });
  }

  forgetKept(): void {
    this.#kept = [];
  }

  /** Sends what was kept; rejects if Redis does not answer, and keeps the rest. */
  sendKept(): Promise<void> {
    this.#sending ??= this.#sendKept().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendKept(): Promise<void> {
    while (this.#kept.length > 0) {
      const batch = this.#kept.slice(0, atOnce);
      // One that was never sent may have no open reservation, or one that has expired: it opens one.
      const leases = batch.filter(({ wasSent }) => !wasSent).map(({ settlement }) => settlement.lease);
      if (leases.length > 0) await this.#redis.sadd(this.#openKey, ...leases);
      for (const each of batch) each.wasSent = true;
      const sent = await Promise.allSettled(batch.map(({ settlement }) => this.#settle(settlement, true)));
      const done = new Set(batch.filter((_, i) => sent[i]?.status === 'fulfilled'));
      this.#kept = this.#kept.filter((each) => !done.has(each));
      const failed = sent.find((each) => each.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
  }

  async #settle({ lease, second, differences }: Settlement, onlyIfOpen: boolean): Promise<void> {
    const keys = [this.#openKey, ...differences.map(({ claim }) => prefix + claim.counter)];
    const rest = differences.flatMap(({ claim, difference }) => [
      claim.kind,
      difference,
      claim.endsMs,
      this.#options.isLedgerKept && claim.budget !== undefined ? 1 : 0,
    ]);
    const bad = await this.#redis.gatewaySettle(
      keys.length,
      ...keys,
      lease,
      second,
      onlyIfOpen ? 1 : 0,
      ...rest,
    );
    for (const key of bad) this.#options.onBadCounter(key);
  }
}

/** The key of the counter that holds something else, if that is why Redis did not reserve. */
export function badCounterOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  return /BADCOUNTER (.*?)(?: script: \w+, on @user_script.*)?$/s.exec(cause.message)?.[1];
}

export function isRedisTicket(ticket: Ticket): ticket is RedisTicket {
  return 'lease' in ticket;
}
