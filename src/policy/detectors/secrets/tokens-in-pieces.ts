import type { Finding, Range } from '../detector.ts';
import { isSeam, joinPieces, mostJoins } from '../shapes/across-seams.ts';
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
      const at = run.start + offset;
      let best: Finding | undefined;
      for (const { text: joined, isLastAlone, placeOf } of joinPieces(text, at, run.end)) {
        if (best !== undefined && !isLastAlone) break;
        const found = find(joined).find(({ start }) => start === 0);
        if (found !== undefined) best = { ...found, start: at, end: placeOf(found.end - 1) + 1 };
      }
      if (best !== undefined) findings.push(best);
    }
  }
  return findings;
}
