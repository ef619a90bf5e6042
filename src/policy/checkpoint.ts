/**
 * Is called in between while a decision is made, with what comes next: characters that a detector will read at once, if
 * any. It may throw `GivenUp`, and the decision ends there: somebody who has more time makes it again from the beginning.
 */
export type Checkpoint = (next?: number) => void;

/** Ends a decision that takes too long where it is made. No failure of a rule: nothing was decided. */
export class GivenUp extends Error {}

/** Where a decision may take as long as it takes. */
export const unhurried: Checkpoint = () => {};
