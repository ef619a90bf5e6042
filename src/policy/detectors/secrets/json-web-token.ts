import type { Finding } from '../detector.ts';
import { isKeyCharacter } from '../text/characters.ts';
import { isSampleToken } from './placeholder.ts';

const opening = 'eyJ';
/** Longer ones exist but are not used as bearer tokens: servers limit header sizes. */
const longestToken = 4096;

/**
 * Signed JSON Web Tokens: three parts, of which the first decodes to a header that names an algorithm and the
 * second begins like an object.
 */
export function findJsonWebTokens(text: string, runs: readonly Finding[]): readonly Finding[] {
  const findings: Finding[] = [];
  for (const header of runs) {
    if (!text.startsWith(opening, header.start) || text.charAt(header.end) !== '.') continue;
    const payloadEnd = partEnd(text, header.end + 1);
    const end = text.charAt(payloadEnd) === '.' ? partEnd(text, payloadEnd + 1) : payloadEnd;
    const isWhole = end - payloadEnd > 20 && text.startsWith('ey', header.end + 1);
    if (
      isWhole &&
      namesAlgorithm(text.slice(header.start, header.end)) &&
      !isSampleToken(text.slice(header.start, end))
    ) {
      findings.push({ start: header.start, end });
    }
  }
  return findings;
}

function partEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && end - start < longestToken && isKeyCharacter(text.charCodeAt(end))) end += 1;
  return end;
}

function namesAlgorithm(header: string): boolean {
  return header.length < 2000 && /"alg"\s{0,8}:/.test(Buffer.from(header, 'base64url').toString('latin1'));
}
