import type { Finding, Range } from '../detector.ts';
import { findInPieces, isSeam, mostJoins } from '../shapes/across-seams.ts';
import { findGatewayKeys } from './gateway-key.ts';
import { findJsonWebTokens } from './json-web-token.ts';

const kinds = [
  { opening: 'eyJ', find: findJsonWebTokens },
  { opening: 'gw_', find: findGatewayKeys },
] as const;

/** Web tokens and keys of this gateway that are wrapped over lines or concatenated from literals. */
export function findTokensInPieces(text: string, runs: readonly Range[]): readonly Finding[] {
  const findings: Finding[] = [];
  let joins = 0;
  for (const run of runs) {
    if (joins >= mostJoins) break;
    if (!isSeam(text, run.end)) continue;
    const piece = text.slice(run.start, run.end);
    for (const { opening, find } of kinds) {
      const offset = piece.indexOf(opening);
      if (offset === -1) continue;
      joins += 1;
      const best = findInPieces(text, { start: run.start + offset, end: run.end }, (joined) =>
        find(joined).find(({ start }) => start === 0),
      );
      if (best !== undefined) findings.push(best);
    }
  }
  return findings;
}
