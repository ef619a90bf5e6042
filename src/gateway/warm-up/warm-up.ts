import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { type Checkpoint, GivenUp } from '../../policy/checkpoint.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import type { Scrubber } from '../scrub.ts';
import {
  answerMadeUp,
  type ConfiguredProvider,
  decideMadeUp,
  madeUpIn,
  waysThrough,
} from './made-up-exchange.ts';

/** What is warmed: what an exchange uses before and after its provider. */
export interface WarmUpParts {
  readonly policySets: Iterable<PolicySet>;
  readonly providers: readonly ConfiguredProvider[];
  readonly scrubber: Scrubber;
}

export interface Pace {
  /** Whether somebody waits for this process. */
  readonly isBusy: () => boolean;
  /** Whether it is in vain by now. */
  readonly isOver: () => boolean;
}

/** Longest that others wait for one slice of it. */
const sliceMs = 5;
/** CPU time of all of it; what V8 compiles beside it and the own exchange come on top. */
const budgetMs = 100;
const pauseMs = 20;
/** Slices in which one job may come to its end. */
const maxSlices = 40;

/**
 * Makes the first request like the tenth: decides on made-up bodies, so that automata have the states that usual texts
 * need, regular expressions are compiled, and V8 knows the code. It takes slices of idle time and a bounded amount of CPU
 * time, and touches nothing that lasts but those: no counter, record or provider. Never rejects.
 */
export async function warmUp(parts: WarmUpParts, { isBusy, isOver }: Pace): Promise<void> {
  let spentMs = 0;
  for (const job of jobs(parts)) {
    for (let slice = 0; slice < maxSlices; slice += 1) {
      await nextTurn();
      while (isBusy() && !isOver()) await pause(pauseMs, undefined, { ref: false });
      if (isOver() || spentMs > budgetMs) return;
      const before = process.cpuUsage();
      const isDone = runFor(job, sliceMs);
      const { user, system } = process.cpuUsage(before);
      spentMs += (user + system) / 1_000;
      if (isDone) break;
    }
  }
}

/** Goes further than before when it is run again, as what was met is known by then. */
type Job = (checkpoint: Checkpoint) => unknown;

function runFor(job: Job, limitMs: number): boolean {
  const endsAt = performance.now() + limitMs;
  try {
    job(() => {
      if (performance.now() > endsAt) throw new GivenUp('the slice is over');
    });
    return true;
  } catch (thrown) {
    // Any other failure also fails a request, which then reports it.
    return !(thrown instanceof GivenUp);
  }
}

/** What matters to most clients comes first: all of it may be too much. */
function* jobs({ policySets, providers, scrubber }: WarmUpParts): Iterable<Job> {
  const sets = [...new Set(policySets)];
  for (const set of sets) yield () => set.compile();
  for (const policies of sets) {
    for (const way of waysThrough(providers)) {
      const decideOn = (hasMatch: boolean) => {
        let body: Buffer | undefined; // made once, as a decision that was given up begins anew
        return (checkpoint: Checkpoint) => {
          body ??= madeUpIn(way.endpoint.dialectName, hasMatch);
          return decideMadeUp(way, policies, { body, checkpoint });
        };
      };
      yield decideOn(false);
      const decide = decideOn(true);
      yield (checkpoint) => answerMadeUp(way, decide(checkpoint), { policies, scrubber, checkpoint });
    }
  }
}
