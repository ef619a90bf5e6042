import { isDigit, isLatinLetter, toCharacterSet } from './characters.ts';
import type { Finding } from './detector.ts';
import { isPlaceholder } from './placeholder.ts';

interface KeyShape {
  readonly prefix: string;
  /** What follows the prefix; matched where the prefix was found, and only there. */
  readonly body: RegExp;
}

/**
 * Keys that providers mark with a prefix of their own. A shape is a fact from the provider's documentation or
 * from a key it issued; lengths are as strict as they are known to be stable.
 */
const shapes: readonly KeyShape[] = [
  { prefix: 'sk-ant-', body: /[a-z]{3,8}\d{2}-[\w-]{80,140}/y },
  { prefix: 'sk-proj-', body: /[\w-]{40,240}/y },
  { prefix: 'sk-svcacct-', body: /[\w-]{40,240}/y },
  { prefix: 'sk-admin-', body: /[\w-]{40,240}/y },
  { prefix: 'sk-or-v1-', body: /[0-9a-f]{64}/y },
  { prefix: 'sk-', body: /[A-Za-z0-9]{32,64}/y },
  { prefix: 'gsk_', body: /[A-Za-z0-9]{52}/y },
  { prefix: 'xai-', body: /[A-Za-z0-9]{80}/y },
  { prefix: 'pplx-', body: /[A-Za-z0-9]{48}/y },
  { prefix: 'r8_', body: /[A-Za-z0-9]{37}/y },
  { prefix: 'hf_', body: /[A-Za-z0-9]{34,40}/y },
  { prefix: 'api_org_', body: /[A-Za-z0-9]{34}/y },
  { prefix: 'AIza', body: /[\w-]{35}/y },
  { prefix: 'GOCSPX-', body: /[\w-]{28}/y },
  { prefix: 'AKIA', body: /[A-Z2-7]{16}/y },
  { prefix: 'ASIA', body: /[A-Z2-7]{16}/y },
  { prefix: 'ghp_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'gho_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'ghu_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'ghs_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'ghr_', body: /[A-Za-z0-9]{36,255}/y },
  { prefix: 'github_pat_', body: /[A-Za-z0-9]{22}_[A-Za-z0-9]{59}/y },
  { prefix: 'glpat-', body: /[\w-]{20,60}/y },
  { prefix: 'gldt-', body: /[\w-]{20,60}/y },
  { prefix: 'glrt-', body: /[\w-]{20,60}/y },
  { prefix: 'glptt-', body: /[0-9a-f]{40}/y },
  { prefix: 'xoxb-', body: /\d{10,14}-\d{10,14}-[A-Za-z0-9]{20,40}/y },
  { prefix: 'xoxp-', body: /(?:\d{10,14}-){2,3}[A-Za-z0-9]{20,64}/y },
  { prefix: 'xoxa-', body: /[\w-]{24,160}/y },
  { prefix: 'xoxr-', body: /[\w-]{24,160}/y },
  { prefix: 'xoxs-', body: /[\w-]{24,160}/y },
  { prefix: 'xoxc-', body: /[\w-]{24,160}/y },
  { prefix: 'xoxe-', body: /[\w-]{24,300}/y },
  { prefix: 'xapp-', body: /\d-[A-Z0-9]{9,14}-\d{10,14}-[a-f0-9]{40,80}/y },
  { prefix: 'sk_live_', body: /[A-Za-z0-9]{16,247}/y },
  { prefix: 'rk_live_', body: /[A-Za-z0-9]{16,247}/y },
  { prefix: 'whsec_', body: /[A-Za-z0-9+/]{32,64}/y },
  { prefix: 'npm_', body: /[A-Za-z0-9]{36}/y },
  { prefix: 'pypi-AgEIcHlwaS5vcmc', body: /[\w-]{50,300}/y },
  { prefix: 'SG.', body: /[\w-]{22}\.[\w-]{43}/y },
  { prefix: 'SK', body: /[0-9a-f]{32}/y },
  { prefix: 'dop_v1_', body: /[0-9a-f]{64}/y },
  { prefix: 'dapi', body: /[0-9a-f]{32}/y },
  { prefix: 'dckr_pat_', body: /[\w-]{27}/y },
  { prefix: 'hvs.', body: /[\w-]{90,120}/y },
  { prefix: 'glsa_', body: /[A-Za-z0-9]{32}_[0-9a-f]{8}/y },
  { prefix: 'NRAK-', body: /[A-Z0-9]{27}/y },
  { prefix: 'PMAK-', body: /[0-9a-f]{24}-[0-9a-f]{34}/y },
  { prefix: 'figd_', body: /[\w-]{40}/y },
  { prefix: 'sbp_', body: /[0-9a-f]{40}/y },
  { prefix: 'ntn_', body: /[A-Za-z0-9]{46}/y },
  { prefix: 'shpat_', body: /[0-9a-fA-F]{32}/y },
  { prefix: 'shpca_', body: /[0-9a-fA-F]{32}/y },
  { prefix: 'shpss_', body: /[0-9a-fA-F]{32}/y },
  { prefix: 'lin_api_', body: /[A-Za-z0-9]{40}/y },
  { prefix: 'ops_eyJ', body: /[\w+/-]{150,1500}={0,2}/y },
  { prefix: 'ATATT3', body: /[\w=-]{180,200}/y },
];

const longestPrefix = 20;

/** Finds keys by their provider's prefix, among the stretches that are long enough. */
export function findKeyShapes(text: string, runs: readonly Finding[]): readonly Finding[] {
  const findings: Finding[] = [];
  for (const run of runs) {
    const from = Math.max(0, run.start - 4);
    let next = from;
    for (const candidate of candidates(text.slice(from, run.end))) {
      const start = from + candidate;
      const shaped = start < next ? undefined : shapedAt(text, start);
      if (shaped === undefined) continue;
      next = shaped.end;
      if (!isPlaceholder(text.slice(shaped.bodyStart, shaped.end))) findings.push({ start, end: shaped.end });
    }
  }
  return findings;
}

/** The prefixes' first three characters: one look-up tells most places from those where a key may begin. */
const beginnings = new Set(shapes.map(({ prefix }) => prefix.padEnd(3).slice(0, 3).trimEnd()));
const firstCharacters = toCharacterSet((code) => [...beginnings].some((text) => text.charCodeAt(0) === code));

/** The places of a stretch, after something that is no letter or digit, at which a prefix may begin. */
function candidates(stretch: string): readonly number[] {
  const places: number[] = [];
  let isAfterWord = false;
  for (let index = 0; index < stretch.length; index += 1) {
    const code = stretch.charCodeAt(index);
    const mayBegin = !isAfterWord && firstCharacters[code] === 1;
    if (mayBegin && isBeginning(stretch, index)) places.push(index);
    isAfterWord = isDigit(code) || isLatinLetter(code);
  }
  return places;
}

function isBeginning(stretch: string, index: number): boolean {
  return beginnings.has(stretch.slice(index, index + 3)) || beginnings.has(stretch.slice(index, index + 2));
}

interface Shaped {
  readonly bodyStart: number;
  readonly end: number;
}

function shapedAt(text: string, start: number): Shaped | undefined {
  const opening = text.slice(start, start + longestPrefix);
  for (const { prefix, body } of shapes) {
    if (!opening.startsWith(prefix)) continue;
    const bodyStart = start + prefix.length;
    body.lastIndex = bodyStart;
    if (!body.test(text) || isWordAfter(text, body.lastIndex)) continue;
    return { bodyStart, end: body.lastIndex };
  }
  return undefined;
}

function isWordAfter(text: string, end: number): boolean {
  return /[A-Za-z0-9_]/.test(text.charAt(end));
}
