import type { ScriptedRedis } from './redis-connection.ts';
import { prefix } from './redis-settlement.ts';

const gateways = `${prefix}gateways`;
/** A lease that is not renewed for this long expires: its gateway is dead. */
export const leaseMs = 60_000;

/** This gateway among those that share a Redis. */
export class RedisMembership {
  readonly #redis: ScriptedRedis;
  readonly #id: string;
  readonly #openKey: string;
  /** The levels that each of its open leases takes a place in. */
  readonly #open = new Map<string, readonly string[]>();
  #gateways = 1;

  constructor(redis: ScriptedRedis, id: string, openKey: string) {
    this.#redis = redis;
    this.#id = id;
    this.#openKey = openKey;
  }

  /** How many gateways shared the limits when Redis last answered. */
  get gateways(): number {
    return this.#gateways;
  }

  add(lease: string, levels: readonly string[]): void {
    this.#open.set(lease, levels);
  }

  delete(lease: string): void {
    this.#open.delete(lease);
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
    for (const [lease, levels] of this.#open) {
      for (const level of levels) pipeline.zadd(level, nowMs + leaseMs, lease).pexpire(level, 2 * leaseMs);
    }
    const answers = await pipeline.exec().catch(() => undefined);
    const count = Number(answers?.[2]?.[1] ?? 0);
    if (count > 0) this.#gateways = count;
  }

  /** It would also expire. */
  async leave(): Promise<void> {
    await this.#redis.zrem(gateways, this.#id).catch(() => undefined);
  }
}
