/** Numbers that look random and are the same in every run. */
export interface Random {
  /** From 0 to 1, without 1. */
  next(): number;
  /** A whole number below the limit. */
  below(limit: number): number;
  of<T>(choices: readonly T[]): T;
}

/** The generator mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const bits = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number) => bits() % limit;
  return {
    next: () => bits() / 4_294_967_296,
    below,
    of: (choices) => choices[below(choices.length)] as (typeof choices)[number],
  };
}
