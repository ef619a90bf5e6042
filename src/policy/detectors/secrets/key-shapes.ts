import type { Finding } from '../detector.ts';
import {
  type CharacterSet,
  isAlphanumeric,
  isIn,
  isKeyCharacter,
  isWordCharacter,
  toCharacterSet,
} from '../text/characters.ts';
import { isPlaceholder } from './placeholder.ts';

type KeyShape = { readonly prefix: string } & Body;

/** What follows the prefix; looked for where the prefix was found, and only there. */
type Body = { readonly body: RegExp } | Stretch;

/** So many characters of a set, between what may stand before and after them. */
interface Stretch {
  readonly of: CharacterSet;
  readonly least: number;
  readonly most: number;
  readonly lead?: RegExp;
  readonly trail?: RegExp;
}

// These hold the prefixes' own characters, so that candidates may overlap again and again: they are not read
// anew for each, as a pattern would.
const keySet = toCharacterSet(isKeyCharacter);
const padded = toCharacterSet((code) => isKeyCharacter(code) || code === 61);
const base64 = toCharacterSet((code) => isKeyCharacter(code) || code === 43 || code === 47);

/**
 * Keys that providers mark with a prefix of their own. A shape is a fact from the provider's documentation or
 * from a key it issued; lengths are as strict as they are known to be stable.
 */
const shapes: readonly KeyShape[] = [
  { prefix: 'sk-ant-', lead: /[a-z]{3,8}\d{2}-/y, of: keySet, least: 80, most: 140 },
  { prefix: 'sk-proj-', of: keySet, least: 40, most: 240 },
  { prefix: 'sk-svcacct-', of: keySet, least: 40, most: 240 },
  { prefix: 'sk-admin-', of: keySet, least: 40, most: 240 },
  { prefix: 'sk-or-v1-', body: /[0-9a-f]{64}/y },
  { prefix: 'sk-', body: /[A-Za-z0-9]{32,64}/y },
  { prefix: 'gsk_', body: /[A-Za-z0-9]{52}/y },
  { prefix: 'xai-', body: /[A-Za-z0-9]{80}/y },
  { prefix: 'pplx-', body: /[A-Za-z0-9]{48}/y },
  { prefix: 'r8_', body: /[A-Za-z0-9]{37}/y },
  { prefix: 'hf_', body: /[A-Za-z0-9]{34,40}/y },
  { prefix: 'api_org_', body: /[A-Za-z0-9]{34}/y },
  { prefix: 'AIza', of: keySet, least: 35, most: 35 },
  { prefix: 'GOCSPX-', of: keySet, least: 28, most: 28 },
  { prefix: 'AKIA', body: /[A-Z2-7]{16}/y },
  { prefix: 'ASIA', body: /[A-Z2-7]{16}/y },
  { prefix: 'ghp_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'gho_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'ghu_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'ghs_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'ghr_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'github_pat_', body: /[A-Za-z0-9]{22}_[A-Za-z0-9]{59}/y },
  { prefix: 'glpat-', of: keySet, least: 20, most: 60 },
  { prefix: 'gldt-', of: keySet, least: 20, most: 60 },
  { prefix: 'glrt-', of: keySet, least: 20, most: 60 },
  { prefix: 'glptt-', body: /[0-9a-f]{40}/y },
  { prefix: 'xoxb-', body: /\d{10,14}-\d{10,14}-[A-Za-z0-9]{20,40}/y },
  { prefix: 'xoxp-', body: /(?:\d{10,14}-){2,3}[A-Za-z0-9]{20,64}/y },
  { prefix: 'xoxa-', of: keySet, least: 24, most: 160 },
  { prefix: 'xoxr-', of: keySet, least: 24, most: 160 },
  { prefix: 'xoxs-', of: keySet, least: 24, most: 160 },
  { prefix: 'xoxc-', of: keySet, least: 24, most: 160 },
  { prefix: 'xoxe-', of: keySet, least: 24, most: 300 },
  { prefix: 'xapp-', body: /\d-[A-Z0-9]{9,14}-\d{10,14}-[a-f0-9]{40,80}/y },
  { prefix: 'sk_live_', body: /[A-Za-z0-9]{16,247}/y },
  { prefix: 'rk_live_', body: /[A-Za-z0-9]{16,247}/y },
  { prefix: 'whsec_', body: /[A-Za-z0-9+/]{32,64}/y },
  { prefix: 'npm_', body: /[A-Za-z0-9]{36}/y },
  { prefix: 'pypi-AgEIcHlwaS5vcmc', of: keySet, least: 50, most: 300 },
  { prefix: 'SG.', body: /[\w-]{22}\.[\w-]{43}/y },
  { prefix: 'SK', body: /[0-9a-f]{32}/y },
  { prefix: 'dop_v1_', body: /[0-9a-f]{64}/y },
  { prefix: 'dapi', body: /[0-9a-f]{32}/y },
  { prefix: 'dckr_pat_', of: keySet, least: 27, most: 27 },
  { prefix: 'hvs.', of: keySet, least: 90, most: 120 },
  { prefix: 'glsa_', body: /[A-Za-z0-9]{32}_[0-9a-f]{8}/y },
  { prefix: 'NRAK-', body: /[A-Z0-9]{27}/y },
  { prefix: 'PMAK-', body: /[0-9a-f]{24}-[0-9a-f]{34}/y },
  { prefix: 'figd_', of: keySet, least: 40, most: 40 },
  { prefix: 'sbp_', body: /[0-9a-f]{40}/y },
  { prefix: 'ntn_', body: /[A-Za-z0-9]{46}/y },
  { prefix: 'shpat_', body: /[0-9a-fA-F]{32}/y },
  { prefix: 'shpca_', body: /[0-9a-fA-F]{32}/y },
  { prefix: 'shpss_', body: /[0-9a-fA-F]{32}/y },
  { prefix: 'lin_api_', body: /[A-Za-z0-9]{40}/y },
  { prefix: 'ops_eyJ', of: base64, least: 150, most: 1500, trail: /={0,2}/y },
  { prefix: 'ATATT3', of: padded, least: 180, most: 200 },
];

/** The shapes by the first two characters of their prefixes. */
const byBeginning = new Map<number, readonly KeyShape[]>();
for (const shape of shapes) {
  const beginning = beginningAt(shape.prefix, 0);
  byBeginning.set(beginning, [...(byBeginning.get(beginning) ?? []), shape]);
}
const firstCharacters = toCharacterSet((code) => shapes.some(({ prefix }) => prefix.charCodeAt(0) === code));

function beginningAt(text: string, at: number): number {
  return text.charCodeAt(at) * 0x10000 + text.charCodeAt(at + 1);
}

/** Finds keys by their provider's prefix, among the stretches that are long enough. */
export function findKeyShapes(text: string, runs: readonly Finding[]): readonly Finding[] {
  const findings: Finding[] = [];
  const ends = new StretchEnds(text);
  for (const run of runs) {
    let isAfterWord = false;
    // A prefix with a dot begins before its stretch.
    for (let start = Math.max(0, run.start - 4); start < run.end; start += 1) {
      const code = text.charCodeAt(start);
      const isCandidate = !isAfterWord && isIn(firstCharacters, code);
      const shaped = isCandidate ? shapedAt(text, start, ends) : undefined;
      isAfterWord = isAlphanumeric(code);
      if (shaped === undefined) continue;
      if (!isPlaceholder(text.slice(shaped.bodyStart, shaped.end))) findings.push({ start, end: shaped.end });
      isAfterWord = isAlphanumeric(text.charCodeAt(shaped.end - 1));
      start = shaped.end - 1;
    }
  }
  return findings;
}

interface Shaped {
  readonly bodyStart: number;
  readonly end: number;
}

/** A key that begins at a place, with something that is no letter, digit or underscore after it. */
function shapedAt(text: string, start: number, ends: StretchEnds): Shaped | undefined {
  for (const shape of byBeginning.get(beginningAt(text, start)) ?? none) {
    if (!isAt(text, shape.prefix, start)) continue;
    const bodyStart = start + shape.prefix.length;
    const end =
      'body' in shape ? endOf(shape.body, text, bodyStart) : stretchEnd(shape, text, bodyStart, ends);
    if (end !== -1 && !isWordCharacter(text.charCodeAt(end))) return { bodyStart, end };
  }
  return undefined;
}

const none: readonly KeyShape[] = [];

/** `startsWith` in a loop, which takes a third of its time for prefixes that end early. */
function isAt(text: string, prefix: string, start: number): boolean {
  for (let at = 0; at < prefix.length; at += 1) {
    if (text.charCodeAt(start + at) !== prefix.charCodeAt(at)) return false;
  }
  return true;
}

/** Where a sticky pattern's match ends; -1 where there is none. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function stretchEnd(
  { of, least, most, lead, trail }: Stretch,
  text: string,
  at: number,
  ends: StretchEnds,
): number {
  const start = lead === undefined ? at : endOf(lead, text, at);
  if (start === -1) return -1;
  const end = Math.min(ends.of(of, start), start + most);
  if (end - start < least) return -1;
  return trail === undefined ? end : endOf(trail, text, end);
}

/** Where stretches of a set end; of each set the last one is remembered. */
class StretchEnds {
  readonly #text: string;
  readonly #last = new Map<CharacterSet, Finding>();

  constructor(text: string) {
    this.#text = text;
  }

  of(set: CharacterSet, start: number): number {
    const last = this.#last.get(set);
    if (last !== undefined && start >= last.start && start < last.end) return last.end;
    let end = start;
    while (end < this.#text.length && isIn(set, this.#text.charCodeAt(end))) end += 1;
    this.#last.set(set, { start, end });
    return end;
  }
}
