import { isHexDigit, isWordCharacter, toCharacterSet } from './characters.ts';
import { wordsBefore } from './context-words.ts';
import type { Detector, Finding } from './detector.ts';
import { findLongRuns } from './long-runs.ts';

/**
 * Internet addresses of both versions. Left out is what belongs to nobody: loopback, "any", broadcast and
 * netmasks; and what has the shape alone: versions, object identifiers, hardware addresses, `a::b` of code.
 */
export const ipAddress: Detector = {
  prefilter: { kind: 'digits', atLeast: 1 },
  reach: 45,
  folded: true,
  find(text) {
    const findings: Finding[] = [];
    for (const run of findLongRuns(text, 7, addressCharacters)) {
      const finding = addressWithin(text, run);
      if (finding !== undefined) findings.push(finding);
    }
    return findings;
  },
};

const addressCharacters = toCharacterSet((code) => isHexDigit(code) || code === 58 || code === 46);

function addressWithin(text: string, run: Finding): Finding | undefined {
  if (run.end - run.start > 80) return undefined;
  const isFree =
    !isNameCharacter(text.charCodeAt(run.start - 1)) && !isWordCharacter(text.charCodeAt(run.end));
  if (isFree) {
    const version6 = version6Within(text, run);
    if (version6 !== undefined) return version6;
  }
  return version4Within(text, run);
}

function isNameCharacter(code: number): boolean {
  return isWordCharacter(code) || code === 45;
}

const quad = /(?<![\w.-])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\w]|\.[\w])/;

function version4Within(text: string, run: Finding): Finding | undefined {
  const offset = Math.max(0, run.start - 1);
  const match = quad.exec(text.slice(offset, run.end + 1));
  if (match === null) return undefined;
  const start = offset + match.index;
  const end = start + match[0].length;
  const parts = match.slice(1, 5);
  if (!isOctets(parts) || isNobodys(parts.map(Number))) return undefined;
  return isVersion(text, start, end) ? undefined : { start, end };
}

function isOctets(parts: readonly string[]): boolean {
  return parts.every((part) => Number(part) <= 255 && (part.length === 1 || !part.startsWith('0')));
}

function isNobodys(octets: readonly number[]): boolean {
  const [first = 0, second = 0] = octets;
  const isNetmask = first === 255 || (first >= 224 && first <= 239 && second === 0 && octets[2] === 0);
  return first === 0 || first === 127 || isNetmask || octets.every((octet) => octet < 10 && octet === first);
}

const announcesOther =
  /(?:versions?|\bver|release|revision|build|\bv|\boid|section|chapter|clause|§|assembly\w*|firmware|driver|chrome|edg|safari|firefox|opr|sdk|\^|~|[<>=]=|>=|package\w*|runtime|\bv8(?: to)?|==|\bsec)["')]?[ :=/]{0,3}["'v]{0,2}$/;

const announcesAddress =
  /(?:\bips?(?:v4)?|host(?:name)?|addr(?:ess)?|server|dns|gateway|router|client|remote|peer|from|ping|ssh|curl|via|subnet|network|:\/\/)(?: (?:is|at|to|was))?[^a-z0-9]{0,4}$/;

/** Numbers of sections and object identifiers are small in all four places; addresses hardly ever are. */
function isSectionLike(quadruple: string): boolean {
  const octets = quadruple.split('.').map(Number);
  return octets[0] !== 10 && octets.every((octet) => octet < 32);
}

/** Four numbers are a version too: after its name, or with a suffix that addresses don't have. */
function isVersion(text: string, start: number, end: number): boolean {
  if (/^[-+][a-z]/i.test(text.slice(end, end + 2)) && !/^-\d/.test(text.slice(end, end + 2))) return true;
  const words = wordsBefore(text, start);
  const isAnnounced = announcesAddress.test(words);
  if (announcesOther.test(words)) return !isAnnounced;
  if (isSectionLike(text.slice(start, end)) && !isAnnounced && !/^[:/]\d/.test(text.slice(end, end + 2)))
    return true;
  return /[a-z][-_ ]$/.test(words) && /^\.?\.?(?:dll|exe|nupkg|jar|tgz|zip)/.test(text.slice(end, end + 6));
}

function version6Within(text: string, run: Finding): Finding | undefined {
  let { start, end } = run;
  while (end > start && (text.charCodeAt(end - 1) === 46 || isLooseColon(text, start, end))) end -= 1;
  while (start < end && (text.charCodeAt(start) === 46 || isLooseStart(text, start))) start += 1;
  return isVersion6(text.slice(start, end).toLowerCase()) ? { start, end } : undefined;
}

function isLooseColon(text: string, start: number, end: number): boolean {
  return end - start > 1 && text.charCodeAt(end - 1) === 58 && text.charCodeAt(end - 2) !== 58;
}

function isLooseStart(text: string, start: number): boolean {
  return text.charCodeAt(start) === 58 && text.charCodeAt(start + 1) !== 58;
}

function isVersion6(address: string): boolean {
  const halves = address.split('::');
  if (halves.length > 2) return false;
  const groups = address.split(':').filter((group) => group !== '');
  const last = groups.at(-1) ?? '';
  const hasQuad = last.includes('.');
  const plain = hasQuad ? groups.slice(0, -1) : groups;
  if (!plain.every((group) => /^[0-9a-f]{1,4}$/.test(group))) return false;
  if (hasQuad && !isOctets(last.split('.'))) return false;
  const count = plain.length + (hasQuad ? 2 : 0);
  const isComplete = halves.length === 2 ? count >= 2 && count <= 7 : count === 8;
  return isComplete && isAssigned(address, plain) && !plain.every((group) => group.length === 2);
}

/**
 * Only the address space in use counts: global (2000::/3), unique local, link local, multicast, NAT64 and mapped.
 * It tells addresses from `dead::beef`, from C++ names and from fingerprints.
 */
function isAssigned(address: string, groups: readonly string[]): boolean {
  if (address.startsWith('::')) return address.startsWith('::ffff:') && groups.length >= 1;
  return /^(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]|ff[0-7][0-9a-f]|64:ff9b):/.test(address);
}
