import type { Detector, Finding, Range } from '../detector.ts';
import {
  isDigit,
  isHexDigit,
  isKeyCharacter,
  isLatinLetter,
  isWordCharacter,
  toCharacterSet,
} from '../text/characters.ts';
import { wordsBefore } from '../text/context-words.ts';
import { createExpressionDetector, likely } from '../text/expression-detector.ts';
import { findLongRuns } from '../text/long-runs.ts';

/**
 * IP addresses of both versions, except those that identify no one (loopback, "any", broadcast, netmasks) and
 * lookalikes: versions, object identifiers, hardware addresses, `a::b` in code.
 */
export const ipAddress: Detector = createAddressDetector({
  leavesOut: isSpecialAddress,
  accepts6: () => true,
});

/** Publicly routable addresses: no private, link-local or shared ranges. */
export const publicIpAddress: Detector = createAddressDetector({
  leavesOut: (octets) => isSpecialAddress(octets) || isPrivate(octets),
  accepts6: isPublic6,
});

/** 127.0.0.0/8, ::1 and "any" (0.0.0.0), which `ip_address` leaves out because every machine has them. */
export const loopbackAddress = createExpressionDetector({
  prefilter: ['\\b127\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]', '\\b0\\.0\\.0\\.0', '::1'],
  reach: 16,
  rules: [
    {
      expression:
        /(?<![\w.:-])(?:127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|0\.0\.0\.0|::1)(?![\w]|[.:]\w{1,4}[.:])/g,
      validate: () => likely('loopback'),
    },
  ],
  neverCertain: true,
});

/** Which addresses count. */
interface Choice {
  readonly leavesOut: (octets: readonly number[]) => boolean;
  readonly accepts6: (address: string) => boolean;
}

function createAddressDetector(choice: Choice): Detector {
  return {
    prefilter: {
      kind: 'regexes',
      regexes: [
        '[0-9]\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]',
        '(?:[23][0-9a-f]{3}|f[c-f][0-9a-f]{2}|64):[0-9a-f]{0,4}:',
        '(?:64:ff9b|::ffff):',
      ],
    },
    reach: 45,
    folded: true,
    ignoresCase: true,
    holdsSpace: 'never',
    neverCertain: true,
    find(text) {
      const findings: Finding[] = [];
      for (const run of findLongRuns(text, 7, addressCharacters)) {
        const finding = addressWithin(text, run, choice);
        if (finding !== undefined) findings.push(finding);
      }
      return findings;
    },
  };
}

const addressCharacters = toCharacterSet(isHexDigit, ':.');

function addressWithin(text: string, run: Finding, choice: Choice): Finding | undefined {
  if (run.end - run.start > 80) return undefined;
  let colons = 0;
  let dots = 0;
  for (let at = run.start; at < run.end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 58) colons += 1;
    else if (code === 46) dots += 1;
  }
  const isFree =
    !isKeyCharacter(text.charCodeAt(run.start - 1)) && !isWordCharacter(text.charCodeAt(run.end));
  if (isFree && colons >= 2) {
    const version6 = version6Within(text, run);
    if (version6 !== undefined) {
      return choice.accepts6(text.slice(version6.start, version6.end)) ? version6 : undefined;
    }
  }
  return dots >= 3 ? version4Within(text, run, choice) : undefined;
}

/** Four numbers separated by dots, as they are in the text. */
interface Quad extends Range {
  readonly octets: readonly number[];
}

function version4Within(text: string, run: Finding, { leavesOut }: Choice): Finding | undefined {
  for (let start = run.start; start < run.end; start += 1) {
    const before = text.charCodeAt(start - 1);
    if (isKeyCharacter(before) || before === 46 || !isDigit(text.charCodeAt(start))) continue;
    const quad = quadAt(text, start);
    if (quad === undefined) continue;
    const { end, octets } = quad;
    const isNone = octets.length < 4 || leavesOut(octets) || isVersion(text, quad);
    return isNone ? undefined : { start, end };
  }
  return undefined;
}

/** Four numbers of up to three digits with dots between, not part of a longer number or word; without octets if one is above 255 or has a leading zero. */
function quadAt(text: string, start: number): Quad | undefined {
  const octets: number[] = [];
  let isRight = true;
  let at = start;
  for (let part = 0; part < 4; part += 1) {
    if (part > 0 && text.charCodeAt(at++) !== 46) return undefined;
    const first = at;
    let octet = 0;
    for (; at - first < 3 && isDigit(text.charCodeAt(at)); at += 1)
      octet = octet * 10 + text.charCodeAt(at) - 48;
    if (at === first) return undefined;
    if (octet > 255 || (at - first > 1 && text.charCodeAt(first) === 48)) isRight = false;
    octets.push(octet);
  }
  const after = text.charCodeAt(at);
  if (isWordCharacter(after) || (after === 46 && isWordCharacter(text.charCodeAt(at + 1)))) return undefined;
  return { start, end: at, octets: isRight ? octets : [] };
}

/** Whether each is at most 255 and has no leading zero. */
function isOctets(parts: readonly string[]): boolean {
  return parts.every((part) => Number(part) <= 255 && (part.length === 1 || !part.startsWith('0')));
}

function isSpecialAddress(octets: readonly number[]): boolean {
  const [first = 0, second = 0] = octets;
  const isNetmask = first === 255 || (first >= 224 && first <= 239 && second === 0 && octets[2] === 0);
  return first === 0 || first === 127 || isNetmask || octets.every((octet) => octet < 10 && octet === first);
}

/** RFC 1918, 6598 and 3927. */
function isPrivate([first = 0, second = 0]: readonly number[]): boolean {
  if (first === 10 || (first === 192 && second === 168) || (first === 169 && second === 254)) return true;
  return (first === 172 && second >= 16 && second < 32) || (first === 100 && second >= 64 && second < 128);
}

/** 2000::/3, and IPv4 addresses mapped or translated into IPv6. */
function isPublic6(address: string): boolean {
  return /^(?:[23]|64:ff9b|::ffff)/i.test(address);
}

const announcesOther =
  /(?:versions?|\bver|release|revision|build|\bv|\boid|section|chapter|clause|§|assembly\w*|firmware|driver|chrome|edg|safari|firefox|opr|sdk|\^|~|[<>=]=|>=|package\w*|runtime|\bv8(?: to)?|==|\bsec)["')]?[ :=/]{0,3}["'v]{0,2}$/;

const announcesAddress =
  /(?:\bips?(?:v4)?|host(?:name)?|addr(?:ess)?|server|dns|gateway|router|client|remote|peer|from|ping|ssh|curl|via|subnet|network|:\/\/)(?: (?:is|at|to|was))?[^a-z0-9]{0,4}$/;

/** Section numbers and object identifiers have only small numbers; addresses hardly ever do. */
function isSectionLike(octets: readonly number[]): boolean {
  return octets[0] !== 10 && octets.every((octet) => octet < 32);
}

const fileEnding = /\.?\.?(?:dll|exe|nupkg|jar|tgz|zip)/y;

/** Whether it is a version: after a word for one, or with a suffix that addresses don't have. */
function isVersion(text: string, { start, end, octets }: Quad): boolean {
  const after = text.charCodeAt(end);
  const next = text.charCodeAt(end + 1);
  if ((after === 43 || after === 45) && isLatinLetter(next)) return true;
  const words = wordsBefore(text, start);
  if (announcesOther.test(words)) return !announcesAddress.test(words);
  const hasPort = (after === 58 || after === 47) && isDigit(next);
  if (isSectionLike(octets) && !hasPort && !announcesAddress.test(words)) return true;
  fileEnding.lastIndex = end;
  return fileEnding.test(text) && /[a-z][-_ ]$/.test(words);
}

function version6Within(text: string, run: Finding): Finding | undefined {
  let { start, end } = run;
  while (end > start && (text.charCodeAt(end - 1) === 46 || isLooseColon(text, start, end))) end -= 1;
  while (start < end && (text.charCodeAt(start) === 46 || isLooseStart(text, start))) start += 1;
  return isVersion6(text.slice(start, end)) ? { start, end } : undefined;
}

function isLooseColon(text: string, start: number, end: number): boolean {
  return end - start > 1 && text.charCodeAt(end - 1) === 58 && text.charCodeAt(end - 2) !== 58;
}

function isLooseStart(text: string, start: number): boolean {
  return text.charCodeAt(start) === 58 && text.charCodeAt(start + 1) !== 58;
}

/**
 * Whether it is in the address space in use: global (2000::/3), unique local, link local, multicast, NAT64 or mapped.
 * That separates addresses from `dead::beef`, C++ names and fingerprints.
 */
const assigned = /^(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]|ff[0-7][0-9a-f]|64:ff9b|::ffff):/i;

function isVersion6(address: string): boolean {
  if (!assigned.test(address)) return false;
  const groups = address.split(':').filter((group) => group !== '');
  // The last group may be dotted IPv4, which counts as two groups.
  const quad = groups.at(-1)?.includes('.') ? groups.pop()?.split('.') : undefined;
  if ((quad !== undefined && !isOctets(quad)) || groups.some((group) => !/^[^.]{1,4}$/.test(group)))
    return false;
  const gaps = address.match(/::/g)?.length ?? 0;
  const count = groups.length + (quad === undefined ? 0 : 2);
  const isComplete = gaps === 1 ? count >= 2 && count <= 7 : gaps === 0 && count === 8;
  return isComplete && groups.some((group) => group.length !== 2);
}
