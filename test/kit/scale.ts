/** Whether generators try all that they have: `npm run test:all` asks for it. */
export const isExhaustive = process.env.EXHAUSTIVE === '1';

/** How much a generator tries: a sample, or with EXHAUSTIVE=1 everything. */
export function scale<T>(sample: T, everything: T): T {
  return isExhaustive ? everything : sample;
}
