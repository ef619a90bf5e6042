import type { Detector, Finding } from '../detector.ts';
import { joinOverlapping } from '../detector.ts';
import { isAlphanumeric } from '../text/characters.ts';
import { findThroughDisguise } from '../text/invisible.ts';
import { findKeyLikeRuns } from '../text/long-runs.ts';
import { keyBodyLength, keyChecksum, keyChecksumLength } from './key-checksum.ts';

const prefix = 'gw_';
const keyLength = prefix.length + keyBodyLength + keyChecksumLength;
/** Local providers have keys such as "ollama" or "none"; searching for those would refuse ordinary words. */
const minSecretLength = 12;

/**
 * Keys of any gateway of this kind, recognized by their checksum (of those, the ones that are meant), and the given values
 * of at least twelve characters.
 */
export function createGatewayKeyDetector(
  secrets: readonly string[],
  isMeant: (key: string) => boolean = () => true,
): Detector {
  const values = [...new Set(secrets)].filter((secret) => secret.length >= minSecretLength);
  const inRuns = values.filter((value) => value.length >= 16 && /^[\w-]+$/.test(value));
  const anywhere = values.filter((value) => !inRuns.includes(value));
  const minRunLength = Math.min(...inRuns.map((value) => value.length));
  return {
    prefilter: { kind: 'always' },
    reach: Math.max(keyLength, ...values.map((value) => value.length)),
    folded: false,
    find: (text) =>
      findThroughDisguise(text, (plain) => findKeys(plain, { inRuns, minRunLength, anywhere, isMeant })),
  };
}

interface Sought {
  readonly inRuns: readonly string[];
  /** Length of the shortest of them; Infinity if there are none. */
  readonly minRunLength: number;
  readonly anywhere: readonly string[];
  readonly isMeant: (key: string) => boolean;
}

/** Every text is searched, and nearly all hold nothing: so there is one list, and it is empty. */
function findKeys(text: string, { inRuns, minRunLength, anywhere, isMeant }: Sought): readonly Finding[] {
  const found: Finding[] = [];
  for (const value of anywhere) addOccurrences(found, text, { value, offset: 0 });
  for (const key of findGatewayKeys(text)) if (isMeant(text.slice(key.start, key.end))) found.push(key);
  for (const run of findKeyLikeRuns(text, minRunLength)) {
    const content = text.slice(run.start, run.end);
    for (const value of inRuns) addOccurrences(found, content, { value, offset: run.start });
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

function addOccurrences(
  found: Finding[],
  text: string,
  { value, offset }: { readonly value: string; readonly offset: number },
): void {
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length)) {
    found.push({ start: offset + at, end: offset + at + value.length, confidence: 'certain' });
  }
}
