import { partitionPoint } from '../../../lib/partition-point.ts';
import type { Detector, Finding } from '../detector.ts';
import { isAlphanumeric, toCharacterSet } from '../text/characters.ts';
import { findLongRuns } from '../text/long-runs.ts';
import { isRepetitive } from './placeholder.ts';

/** A 4096-bit key with escaped line breaks has about 3,400 characters. */
const usualLength = 4096;
/** The smallest, Ed25519 in PKCS#8, has 64 characters of base64. */
const minBase64Length = 60;
/** A key of age: its prefix and 58 characters; all others need an opening line and `minBase64Length`. */
const minLength = 'AGE-SECRET-KEY-1'.length + 58;
/** Between the opening line and the key: headers of encrypted and of PGP keys. */
const maxGapLength = 400;
/** Between two lines of the key: line breaks, line numbers, quotation marks. */
const maxJointLength = 40;
/** Armour lines have 64 characters or more; names in program code seldom have half of that. */
const minLineLength = 32;

/**
 * Private keys in text armour: PEM of all kinds, OpenSSH, SSH2, PGP and OpenVPN, also with escaped line breaks, line
 * numbers, quotation marks or comment signs, truncated, or as a whole in base64; PuTTY's files; age keys. An opening line without a key
 * after it (code that looks for one, documentation) is not a finding. Within one text a block may be longer than
 * `reach`.
 */
export const privateKey: Detector = {
  prefilter: {
    kind: 'literals',
    literals: ['private key', 'openvpn static key', 'putty-user-key', 'age-secret-key-1', 'ls0tls1crudjti'],
  },
  reach: usualLength,
  folded: true,
  ignoresCase: true,
  find(text) {
    if (text.length < minLength) return [];
    const findings: Finding[] = [];
    let lines: readonly Finding[] | undefined;
    let next = 0;
    for (const opening of text.matchAll(openings)) {
      if (opening.index < next) continue;
      lines ??= findLongRuns(text, minLineLength, base64Characters);
      const end = keyEnd(text, lines, opening);
      if (end === undefined) continue;
      findings.push({ start: opening.index, end, confidence: 'certain', why: 'private key' });
      next = end;
    }
    return findings;
  },
};

const openings =
  /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|STATIC KEY V1)(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-[123]: [a-z0-9-]{3,30}(?=[\s\\])|AGE-SECRET-KEY-1[A-Z0-9]{58}(?![A-Z0-9])|(?<![a-z0-9+/])LS0tLS1CRUdJTi[a-z0-9+/]{46}/gi;

/** A whole file in base64, as in settings of Kubernetes, where certificates and keys look the same. */
function isEncoded(opening: string): boolean {
  return opening.startsWith('LS0t') && Buffer.from(opening, 'base64').includes('PRIVATE KEY');
}

const closing = /-{4,5} ?END [A-Z0-9 ]{0,60}-{4,5}/i;

function keyEnd(text: string, lines: readonly Finding[], opening: RegExpExecArray): number | undefined {
  const whole = opening.index + opening[0].length;
  if (/^age/i.test(opening[0])) return whole;
  const encoded = isEncoded(opening[0]);
  if (/^ls0t/i.test(opening[0]) && !encoded) return undefined;
  // The opening line is part of the first line of base64.
  const bodyStart = encoded ? opening.index : whole;
  let end = bodyStart;
  let counted = 0;
  let sample = '';
  const first = partitionPoint(lines.length, (index) => (lines[index] as Finding).start < bodyStart);
  for (let index = first; index < lines.length; index += 1) {
    const line = lines[index];
    const gap = counted === 0 ? maxGapLength : maxJointLength;
    if (line === undefined || line.start - end > gap) break;
    // Another armour line ends the block.
    if (text.slice(end, line.start).includes('----')) break;
    if (counted > 0 && text.startsWith('LS0tLS1', line.start)) break;
    counted += line.end - line.start;
    if (sample.length < 200) sample += text.slice(line.start, Math.min(line.end, line.start + 200));
    end = line.end;
  }
  if (counted < minBase64Length || !looksRandom(sample)) return undefined;
  return withClosingLine(text, end);
}

// The "n" of an escaped line break counts as the first character of the line, which does no harm.
const base64Characters = toCharacterSet(isAlphanumeric, '+/=');

/** Base64 and hex are full of digits and signs; long names in program code are not. */
function looksRandom(sample: string): boolean {
  const marks = sample.match(/[\d+/]/g)?.length ?? 0;
  return !isRepetitive(sample) && marks >= sample.length * 0.04;
}

/** A short last line, a PGP checksum and the closing line are part of the match. */
function withClosingLine(text: string, end: number): number {
  const tail = text.slice(end, end + 180);
  const closed = closing.exec(tail);
  if (closed === null || closed.index > 100 || tail.slice(0, closed.index).includes('---')) return end;
  return end + closed.index + closed[0].length;
}
