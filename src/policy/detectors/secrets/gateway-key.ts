import type { Detector, Finding } from '../detector.ts';
import { joinOverlapping } from '../detector.ts';
import { isAlphanumeric } from '../text/characters.ts';
import { findThroughDisguise } from '../text/invisible.ts';
import { keyBodyLength, keyChecksum, keyChecksumLength } from './key-checksum.ts';

const prefix = 'gw_';
const keyLength = prefix.length + keyBodyLength + keyChecksumLength;
/** Local providers have keys such as "ollama" or "none"; searching for those would refuse ordinary words. */
const leastSecretLength = 12;

/**
 * Keys of any gateway of this kind, recognized by their checksum (of those, the ones that are meant), and the given values
 * of at least twelve characters.
 */
export function createGatewayKeyDetector(
  secrets: readonly string[],
  isMeant: (key: string) => boolean = () => true,
): Detector {
  const values = [...new Set(secrets)].filter((secret) => secret.length >= leastSecretLength);
  return {
    prefilter: { kind: 'always' },
    reach: Math.max(keyLength, ...values.map((value) => value.length)),
    folded: false,
    find: (text) => findThroughDisguise(text, (plain) => findKeys(plain, values, isMeant)),
  };
}

/** Every text is searched, and nearly all hold nothing: so there is one list, and it is empty. */
function findKeys(
  text: string,
  values: readonly string[],
  isMeant: (key: string) => boolean,
): readonly Finding[] {
  const found: Finding[] = [];
  for (const key of findGatewayKeys(text)) if (isMeant(text.slice(key.start, key.end))) found.push(key);
  for (const value of values) {
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length)) {
      found.push({ start: at, end: at + value.length, confidence: 'certain' });
    }
  }
  return joinOverlapping(found);
}

/** Gateway keys by checksum alone; `createGatewayKeyDetector` also finds the configured ones. */
export function findGatewayKeys(text: string): readonly Finding[] {
  const found: Finding[] = [];
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + prefix.length)) {
    if (!isGatewayKey(text, at)) continue;
    found.push({ start: at, end: at + keyLength, confidence: 'certain', why: 'gateway key, checksum' });
  }
  return found;
}

function isGatewayKey(text: string, start: number): boolean {
  const bodyStart = start + prefix.length;
  const bodyEnd = bodyStart + keyBodyLength;
  const end = bodyEnd + keyChecksumLength;
  for (let at = bodyStart; at < end; at += 1) if (!isAlphanumeric(text.charCodeAt(at))) return false;
  return keyChecksum(text.slice(bodyStart, bodyEnd)) === text.slice(bodyEnd, end);
}
