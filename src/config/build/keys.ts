import { hash as digestOf, randomInt, timingSafeEqual } from 'node:crypto';
import type * as z from 'zod';
import { parseRunKey } from '../../lib/run-key.ts';
import { keyChecksum } from '../../policy/detectors/secrets/key-checksum.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import type { limitsSchema } from '../schema/sections.ts';

/** What a project or a key may use; money in nano US$, which add up exactly. */
export type LimitsConfig = z.output<typeof limitsSchema>;

const nanoUsdPerUsd = 1_000_000_000;

export type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

/** The limits of a project or key with this name. */
export function buildLimits(kind: KeyLimits['kind'], name: string, limits: LimitsConfig): KeyLimits {
  // Spreading what zod made takes several times as long.
  const settings: Writable<LimitsConfig> = Object.assign({}, limits);
  if (settings.usd_per_day !== undefined)
    settings.usd_per_day = Math.round(settings.usd_per_day * nanoUsdPerUsd);
  if (settings.usd_per_month !== undefined)
    settings.usd_per_month = Math.round(settings.usd_per_month * nanoUsdPerUsd);
  if (settings.usd_per_session !== undefined)
    settings.usd_per_session = Math.round(settings.usd_per_session * nanoUsdPerUsd);
  return { kind, name, settings };
}

/** What a presented key stands for. The key itself is not kept. */
export interface KeyRecord {
  readonly id: string;
  readonly project: string;
  /** When it stops working, in milliseconds since 1970; it stays known, so that the answer can say so. */
  readonly expiresMs?: number;
  /** All the policies that apply, ready to decide. */
  readonly policies: PolicySet;
  /** Names and patterns its project may use; absent: all. */
  readonly models?: readonly string[];
  /** What its project and it may use, where anything is limited: both hold. */
  readonly limits?: readonly KeyLimits[];
}

/** The limits of a project, or of one of its keys. */
export interface KeyLimits {
  readonly kind: 'project' | 'key';
  readonly name: string;
  readonly settings: LimitsConfig;
  /** The `gateway run` of this key whose requests alone it limits: those of a session hold for all of them together. */
  readonly run?: string;
}

export interface KeyRing {
  readonly size: number;
  /**
   * The record of a presented key, also one that names a run: one hash, one lookup, one comparison in constant time for
   * each of the two.
   */
  find(presented: string): KeyRecord | undefined;
  records(): Iterable<KeyRecord>;
}

interface KeyEntry {
  /** Of the key: SHA-256 in hexadecimal. */
  readonly hash: string;
  readonly record: KeyRecord;
}

const prefixLength = 8;

/** A ring of keys; `replaced` are found too, and are no keys of their own. */
export function createKeyRing(entries: readonly KeyEntry[], replaced: readonly KeyEntry[] = []): KeyRing {
  // Found by the first bytes of the hash: what the lookup's time reveals of them is no help in finding a key.
  const byPrefix = new Map<string, { readonly hash: Buffer; readonly record: KeyRecord }[]>();
  for (const { hash, record } of [...entries, ...replaced]) {
    const prefix = hash.slice(0, prefixLength);
    const entry = { hash: Buffer.from(hash), record };
    const others = byPrefix.get(prefix);
    if (others === undefined) byPrefix.set(prefix, [entry]);
    else others.push(entry);
  }
  const findPlain = (presented: string) => {
    const hash = hashKey(presented);
    const candidates = byPrefix.get(hash.slice(0, prefixLength));
    if (candidates === undefined) return undefined;
    const bytes = Buffer.from(hash);
    return candidates.find((entry) => timingSafeEqual(entry.hash, bytes))?.record;
  };
  return {
    size: entries.length,
    find(presented) {
      const { key, runs } = parseRunKey(presented);
      return findPlain(key) ?? (runs.length > 0 ? findPlain(presented) : undefined);
    },
    records: () => entries.map(({ record }) => record),
  };
}

/** SHA-256 in hexadecimal. */
export function hashKey(key: string): string {
  return digestOf('sha256', key, 'hex');
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^gw_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** A new key: `gw_`, 32 random characters (190 bits), and six that distinguish a typo from an unknown key. */
export function generateKey(): string {
  const body = Array.from({ length: 32 }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
  return `gw_${body}${keyChecksum(body)}`;
}

/**
 * What a key looks like: `generated` is whole, `damaged` begins like a generated one but was cut or mistyped,
 * `other` is any other text. It says nothing about whether the key is known.
 */
export function parseKey(key: string): 'generated' | 'damaged' | 'other' {
  if (!key.startsWith('gw_')) return 'other';
  const [, body = '', checksum] = shape.exec(key) ?? [];
  return checksum !== undefined && keyChecksum(body) === checksum ? 'generated' : 'damaged';
}
