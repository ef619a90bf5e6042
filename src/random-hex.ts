import { randomFillSync } from 'node:crypto';

/** How many ids are generated at once: calling the system's generator for each takes ten times as long. */
const drawnAtOnce = 128;

/** Returns a function that generates this many random hexadecimal digits, an even number. */
export function randomHex(digits: number): () => string {
  const bytes = Buffer.alloc((digits / 2) * drawnAtOnce);
  let drawn = '';
  let at = 0;
  return () => {
    if (at === drawn.length) {
      drawn = randomFillSync(bytes).toString('hex');
      at = 0;
    }
    at += digits;
    return drawn.slice(at - digits, at);
  };
}
