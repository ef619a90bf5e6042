import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import { answerHeader, challengeHeader, type OwnerProof } from '../../owner-proof.ts';
import type { OpenCounts } from '../../record/observer.ts';
import type { Exchange } from '../exchange.ts';

/** What of the gateway's surroundings works. Requests that need none of it are served all the same. */
export interface Neighbours {
  /** Where limits are counted: `away` while Redis doesn't answer. */
  readonly state: 'ok' | 'away';
  readonly ledger: 'ok' | 'failing' | 'off';
}

export interface Readiness {
  readonly isReady: () => boolean;
  readonly neighbours: () => Neighbours;
}

export interface Health {
  /** Of the user who started the gateway; the state file holds the same. */
  readonly ownerProof: OwnerProof | undefined;
  /** For the owner alone: what is open, in other processes of this gateway too. */
  readonly countOpen: () => OpenCounts | Promise<OpenCounts>;
}

/**
 * Answers whether the gateway accepts work. With a neighbour away it still does: every gateway would notice the same,
 * and a load balancer that drops all of them helps nobody. Throws gateway.draining.
 */
export function answerReady(exchange: Exchange, { isReady, neighbours }: Readiness): void {
  if (!isReady()) throw new GatewayError('gateway.draining', 'the gateway is stopping', { retryAfterS: 5 });
  const { state, ledger } = neighbours();
  const isWhole = state === 'ok' && ledger !== 'failing';
  exchange.sendJson({ status: isWhole ? 'ready' : 'degraded', state, ledger });
}

/** Answers that the process lives; its owner gets a proof of which gateway it is, and what is open. */
export async function answerHealth(exchange: Exchange, { ownerProof, countOpen }: Health): Promise<void> {
  const challenge = exchange.request.header(challengeHeader);
  if (ownerProof === undefined || !isSame(challenge ?? '', ownerProof.challenge)) {
    return exchange.sendJson({ status: 'ok' });
  }
  // Every command of the owner begins with this: its records would drown the others.
  exchange.isRecorded = false;
  exchange.sendJson(
    { status: 'ok', open: await countOpen() },
    { headers: { [answerHeader]: ownerProof.answer } },
  );
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
