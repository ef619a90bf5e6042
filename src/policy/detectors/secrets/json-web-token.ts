import type { Finding } from '../detector.ts';
import { codeAt, isKeyCharacter } from '../text/characters.ts';
import { isSampleToken } from './placeholder.ts';

const opening = 'eyJ';
/** Longer ones exist but are not used as bearer tokens: servers limit header sizes. */
const longestToken = 4096;

/** Characters of a header that names an algorithm, at least. */
const shortestHeader = 16;

/**
 * Signed JSON Web Tokens: three parts, of which the first decodes to a header that names an algorithm and the
 * second begins like an object.
 */
export function findJsonWebTokens(text: string): readonly Finding[] {
  const findings: Finding[] = [];
  for (let start = text.indexOf(opening); start !== -1; start = text.indexOf(opening, start + 1)) {
    if (isKeyCharacter(codeAt(text, start - 1))) continue;
    const headerEnd = partEnd(text, start);
    if (headerEnd - start < shortestHeader || text.charAt(headerEnd) !== '.') continue;
    const payloadEnd = partEnd(text, headerEnd + 1);
    const end = text.charAt(payloadEnd) === '.' ? partEnd(text, payloadEnd + 1) : payloadEnd;
    const isWhole = end - payloadEnd > 20 && text.startsWith('ey', headerEnd + 1);
    if (isWhole && namesAlgorithm(text.slice(start, headerEnd)) && !isSampleToken(text.slice(start, end))) {
      findings.push({ start, end });
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
