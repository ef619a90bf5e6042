import { type Checkpoint, GivenUp } from '../../policy/checkpoint.ts';

/** What a decision may take in the main thread, where all other exchanges wait for it, until it is given up there. */
const budgetMs = 20;
/** Characters that a detector reads in less than 30 ms in the worst case. */
const longText = 49_152;
/** Reading the clock costs as much as a very short text: it is read once in this many texts, or characters. */
const textsBetween = 16;
const charactersOfText = 256;

/**
 * Gives a decision up when it has taken its time, or is about to run a detector over a long text: what that costs shows
 * only afterwards. From here on, with a clock.
 */
export function mainThreadBudget(now: () => number = () => performance.now()): Checkpoint {
  const endsAt = now() + budgetMs;
  let unread = 0;
  return (next = 0) => {
    if (next > longText) throw new GivenUp('the text is long');
    unread += 1 + next / charactersOfText;
    if (unread < textsBetween) return;
    unread = 0;
    if (now() > endsAt) throw new GivenUp('it took too long');
  };
}
