import type { GatewayError } from '../../errors.ts';
import type { Paused, PieceBudget } from '../../lib/tick-queue.ts';
import type { BodySink, ProviderAnswer } from '../../providers/transport/pool.ts';

interface Turns {
  readonly budget: PieceBudget;
  /** Maximum bytes that are handled in one go. */
  readonly sliceBytes: number;
}

/**
 * The answer in slices that take turns with those of other answers: what came is kept until there is time, and the host
 * is paused meanwhile.
 */
export function takeTurns(answer: ProviderAnswer, { budget, sliceBytes }: Turns): ProviderAnswer {
  let sink: BodySink | undefined;
  let held: Buffer[] = [];
  let ending: ((sink: BodySink) => void) | undefined;
  let isPaused = false;
  let isWaiting = false;

  /** Returns whether all that came has been handled, and more may come. */
  function work(): boolean {
    while (sink !== undefined && !isPaused && !isWaiting && held.length > 0) {
      if (!budget.hasLeft(turns)) {
        isWaiting = true;
        return false;
      }
      const [first = Buffer.alloc(0)] = held;
      if (first.length <= sliceBytes) held.shift();
      else held[0] = first.subarray(sliceBytes);
      const beganMs = performance.now();
      isPaused = !sink.data(first.subarray(0, sliceBytes));
      budget.spend(performance.now() - beganMs);
    }
    if (held.length > 0) return false;
    if (sink !== undefined) ending?.(sink);
    ending = undefined;
    return !isPaused;
  }

  const turns: Paused = {
    goOn: () => {
      isWaiting = false;
      if (work()) answer.resume();
    },
  };

  function end(how: (sink: BodySink) => void): void {
    ending = how;
    if (!isPaused && !isWaiting) work();
  }

  return {
    status: answer.status,
    headers: answer.headers,
    get isBehind() {
      return held.length > 0 || answer.isBehind;
    },
    resume: () => {
      isPaused = false;
      if (work()) answer.resume();
    },
    flush: () => answer.flush(),
    abort: () => {
      held = [];
      sink = undefined;
      answer.abort();
    },
    pipe: (to) => {
      sink = to;
      answer.pipe({
        data: (chunk) => {
          held.push(chunk);
          return work();
        },
        end: () => end((over) => over.end()),
        fail: (error: GatewayError) => end((over) => over.fail(error)),
      });
    },
  };
}
