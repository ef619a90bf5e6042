import { timingSafeEqual } from 'node:crypto';
import { answerHeader, challengeHeader, type OwnerProof } from '../../owner-proof.ts';
import type { OpenCounts } from '../../record/observer.ts';
import type { Exchange } from '../exchange.ts';

export interface Health {
  /** Of the user who started the gateway; the state file holds the same. */
  readonly ownerProof: OwnerProof | undefined;
  /** For the owner alone: what is open, in other processes of this gateway too. */
  readonly countOpen: () => OpenCounts | Promise<OpenCounts>;
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
