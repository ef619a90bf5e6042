import { challengeHeader, isChallenge, isProof, ownerHeader, proofHeader, prove } from '../../owner-proof.ts';
import type { Exchange } from '../exchange.ts';

/** Of the user who started the gateway; the state file holds the same. */
export interface Ownership {
  readonly secret: string;
  readonly url: string;
}

/** How much is under way; with workers, in all of them. */
export interface OpenCounts {
  readonly exchanges: number;
  readonly streams: number;
}

export interface Health {
  readonly ownership: Ownership | undefined;
  /** For the owner alone. */
  readonly countOpen: () => OpenCounts | Promise<OpenCounts>;
}

/**
 * Answers that the process lives. A challenge is answered with a proof that this is the gateway whose state file
 * the caller has read; a caller who proves the same gets the details.
 */
export async function answerHealth(exchange: Exchange, { ownership, countOpen }: Health): Promise<void> {
  const { request } = exchange;
  const challenge = request.header(challengeHeader);
  if (ownership === undefined || !isChallenge(challenge)) return exchange.sendJson({ status: 'ok' });
  const claim = { ...ownership, challenge };
  const isOwner = isProof(request.header(ownerHeader), { ...claim, side: 'owner' });
  // Every command of the owner begins with this: its records would drown the others.
  exchange.isRecorded = !isOwner;
  const details = isOwner ? { open: await countOpen() } : {};
  exchange.sendJson(
    { status: 'ok', ...details },
    { headers: { [proofHeader]: prove({ ...claim, side: 'gateway' }) } },
  );
}
