import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import { answerHeader, challengeHeader, type OwnerProof } from '../../lib/owner-proof.ts';
import type { OpenCounts } from '../../record/gauges.ts';
import type { Exchange } from '../exchange.ts';

/** Whether the gateway's dependencies work. Requests that don't need them are served all the same. */
export interface Dependencies {
  /** The store of the limits' counters: `redis away` while Redis doesn't answer. */
  readonly state: 'ok' | 'redis away';
  readonly ledger: 'ok' | 'failing' | 'off';
}

export interface Readiness {
  readonly isDraining: () => boolean;
  /** Whether others can find this gateway: before that it is not ready. */
  readonly isAnnounced: () => boolean;
  readonly dependencies: () => Dependencies;
}

export interface HealthzSources {
  /** Identifies the user who started the gateway; the state file holds the same. */
  readonly ownerProof: OwnerProof | undefined;
  /** For the owner only: what is open, in all processes of this gateway. */
  readonly countOpen: () => OpenCounts | Promise<OpenCounts>;
}

/**
 * Answers whether the gateway accepts work. It still does while a dependency is unavailable: every gateway would notice
 * the same, and a load balancer that drops all of them helps no client. Throws gateway.draining and, while it starts,
 * gateway.overloaded.
 */
export function answerReady(exchange: Exchange, readiness: Readiness): void {
  const { isDraining, isAnnounced, dependencies } = readiness;
  exchange.record.isKept = false; // a record every two seconds would bury the others
  if (isDraining()) throw new GatewayError('gateway.draining', 'the gateway is stopping', { retryAfterS: 5 });
  if (!isAnnounced()) {
    throw new GatewayError('gateway.overloaded', 'the gateway is starting', { retryAfterS: 1 });
  }
  const { state, ledger } = dependencies();
  const isHealthy = state === 'ok' && ledger !== 'failing';
  exchange.sendJson({ status: isHealthy ? 'ready' : 'degraded', state, ledger });
}

/** Answers that the process is alive; its owner also gets a proof of which gateway it is, and what is open. */
export async function answerHealth(
  exchange: Exchange,
  { ownerProof, countOpen }: HealthzSources,
): Promise<void> {
  if (ownerProof === undefined || !isOwners(exchange, ownerProof)) {
    // A load balancer's check; who claims to be the owner and isn't is recorded.
    if (exchange.request.header(challengeHeader) === undefined) exchange.record.isKept = false;
    return exchange.sendJson({ status: 'ok' });
  }
  exchange.sendJson(
    { status: 'ok', open: await countOpen() },
    { headers: { [answerHeader]: ownerProof.answer } },
  );
}

/**
 * Whether it comes from a command of the owner. It isn't recorded then: each begins with such a look-up, which would bury
 * the exchanges.
 */
export function isOwners(exchange: Exchange, ownerProof: OwnerProof | undefined): boolean {
  const challenge = exchange.request.header(challengeHeader) ?? '';
  if (ownerProof === undefined || !isSameSecret(challenge, ownerProof.challenge)) return false;
  exchange.record.isKept = false;
  return true;
}

function isSameSecret(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
