import { isDigit, isLatinLetter } from './characters.ts';
import type { Detector, Finding } from './detector.ts';
import { isRepetitive } from './placeholder.ts';

/** A key of 4096 bits with escaped line ends has some 3,400 characters. */
const usualLength = 4096;
/** The smallest, Ed25519 in PKCS#8, has 64 characters of base64. */
const leastBase64 = 60;
/** Between the opening line and the key: headers of encrypted and of PGP keys. */
const longestGap = 400;

/**
 * Private keys in text armour: PEM of all kinds, OpenSSH, SSH2, PGP and OpenVPN, also with escaped line ends, line
 * numbers, quotation marks or comment signs, and cut off before the end; PuTTY's files; age keys.
 * An opening line without a key after it (code that looks for one, documentation) is not a finding.
 * A block longer than `reach` is found as far as the text goes.
 */
export const privateKey: Detector = {
  prefilter: {
    kind: 'literals',
    literals: ['private key', 'openvpn static key', 'putty-user-key', 'age-secret-key-1'],
  },
  reach: usualLength,
  folded: true,
  find(text) {
    const findings: Finding[] = [];
    let next = 0;
    for (const opening of text.matchAll(openings)) {
      if (opening.index < next) continue;
      const finding = keyAfter(text, opening.index, opening.index + opening[0].length);
      if (finding === undefined) continue;
      findings.push(finding);
      next = finding.end;
    }
    return findings;
  },
};

const openings =
  /-{4,5} ?BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|STATIC KEY V1)(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-[123]:|AGE-SECRET-KEY-1[A-Z0-9]{58}(?![A-Z0-9])/gi;

const closing = /^[^\w]{0,24}(?:\d{1,6}[^\w]{1,4})?-{4,5} ?END [A-Z0-9 ]{0,60}-{4,5}/i;

function keyAfter(text: string, start: number, bodyStart: number): Finding | undefined {
  const opening = text.charCodeAt(start) | 32;
  if (opening === 97) return { start, end: bodyStart };
  let index = bodyStart;
  let counted = 0;
  let end = bodyStart;
  let sample = '';
  while (index < text.length) {
    const runStart = nextLongRun(text, index);
    if (runStart === -1 || runStart - end > longestGap) break;
    const runEnd = base64End(text, runStart);
    counted += runEnd - runStart;
    if (sample.length < 200) sample += text.slice(runStart, Math.min(runEnd, runStart + 200));
    end = runEnd;
    index = runEnd;
  }
  if (counted < leastBase64 || isRepetitive(sample)) return undefined;
  return { start, end: withClosingLine(text, end) };
}

/**
 * Where the next line of base64 begins: sixteen characters or more. What stands between may be anything but
 * another armour line, for that is where the block ends.
 */
function nextLongRun(text: string, from: number): number {
  let index = from;
  const limit = Math.min(text.length, from + longestGap + 16);
  while (index < limit) {
    if (text.startsWith('----', index)) return -1;
    const end = base64End(text, index);
    if (end - index >= 16) return index;
    index = end === index ? afterFiller(text, index) : end;
  }
  return -1;
}

/** Steps over an escaped line end as a whole, so that its letter isn't taken for part of the key. */
function afterFiller(text: string, index: number): number {
  if (text.charCodeAt(index) !== 92) return index + 1;
  let after = index + 1;
  while (text.charCodeAt(after) === 92 && after - index < 8) after += 1;
  const code = text.charCodeAt(after);
  return code === 110 || code === 114 || code === 116 ? after + 1 : after;
}

function base64End(text: string, start: number): number {
  let end = start;
  while (end < text.length && isBase64(text.charCodeAt(end))) end += 1;
  return end;
}

function isBase64(code: number): boolean {
  return isDigit(code) || isLatinLetter(code) || code === 43 || code === 47 || code === 61;
}

/** A short last line, a PGP checksum and the closing line belong to the match. */
function withClosingLine(text: string, end: number): number {
  const tail = text.slice(end, end + 200);
  const last =
    /^[^\w=+/-]{1,24}(?:\d{1,6}[^\w=+/-]{1,4})?(?:[nr](?=[A-Za-z0-9+/]))?[A-Za-z0-9+/=]{1,15}(?:(?:\\[nr]|[^\w]){1,12}=[A-Za-z0-9+/]{4})?(?=[^\w+/=]{1,24}(?:[nr]|\d{1,6}[^\w]{1,4})?-{4})/.exec(
      tail,
    );
  const bodyEnd = end + (last?.[0].length ?? 0);
  const rest = text
    .slice(bodyEnd, bodyEnd + 140)
    .replace(/^(?:\\{1,7}[nrt]){1,4}/, (escape) => ' '.repeat(escape.length));
  const closed = closing.exec(rest);
  return bodyEnd + (closed?.[0].length ?? 0);
}
