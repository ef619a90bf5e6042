import { createHash } from 'node:crypto';
import type { HttpRequest } from '../http/request.ts';
import type { Answer } from './ask.ts';
import type { Owner } from './fields.ts';
import type { TextModel } from './models.ts';
import type { Pace } from './reply.ts';
import { slices } from './tokens.ts';

/** What an endpoint sees of a request. */
export interface Exchange {
  readonly body: Owner;
  readonly model: string;
  readonly headers: HttpRequest['headers'];
  /** Creates ids that are the same whenever the same request is repeated. */
  readonly makeId: (prefix: string, count?: number) => string;
}

/** The time of every answer, in seconds: with the clock in it, no two answers would have the same bytes. */
export const createdSeconds = 1_735_689_600;

/** Ids are derived from what is asked, not from how it is to be sent: a streamed answer has the ids of the plain one. */
export function idMaker({ fields }: Owner): Exchange['makeId'] {
  let seed: string | undefined;
  return (prefix, count = 0) => {
    seed ??= sha256(JSON.stringify({ ...fields, stream: undefined, stream_options: undefined }));
    return prefix + sha256(`${seed} ${prefix} ${count}`).slice(0, 24);
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function paceOf({ kind }: TextModel): Pace {
  return kind === 'slow' || kind === 'cut' ? kind : 'free';
}

/** How many deltas a stream of this answer has. */
export function countDeltas({ parts, deltaLength }: Answer): number {
  let count = 0;
  for (const part of parts) {
    for (const _ of slices(part.kind === 'call' ? part.inputText : part.text, deltaLength)) count += 1;
  }
  return count;
}
