import type { Tally } from '../../dialects/usage.ts';
import type { Target } from '../../providers/route.ts';

/** What came of an answer, as far as it was read. */
export interface SeenAnswer {
  readonly tally: Tally;
  /** `cut`: by the gateway or its client. `unread`: more of it may have been written than was read. */
  readonly extent: 'whole' | 'cut' | 'unread';
}

/**
 * What became of an exchange at its last target, as far as it says what was used. A provider that may have worked on the
 * request is the last one that is asked, so earlier targets cost nothing.
 */
export class Outcome {
  target: Target | undefined;
  /** Whether the target may have worked on the request: it answered 2xx, or it has the request and said nothing. */
  wasAccepted = false;
  /** Undefined if nothing of an answer could be read. */
  answer: SeenAnswer | undefined;

  noteAttempt(target: Target): void {
    this.target = target;
    this.wasAccepted = false;
  }

  noteStatus(status: number): void {
    this.wasAccepted = status >= 200 && status < 300;
  }

  noteSilence(): void {
    this.wasAccepted = true;
  }
}
