import { RE2JS } from 're2js';
import type { Detector } from '../detectors/detector.ts';

/**
 * For each detector expressions of which one must occur in the folded view of a text for the detector to find
 * anything in it. They run in the automaton with everything else, at no cost of their own, where the
 * detectors' prefilters alone would let most texts through. A test holds them against the labelled sets.
 */
const regexes: Readonly<Record<string, readonly string[]>> = {
  credit_card: ['[0-9](?:[ .-]?[0-9]){13}'],
  us_ssn: ['[0-9]{3}[ .-]?[0-9]{2}[ .-]?[0-9]{4}'],
  phone: ['\\b[0-9](?:[ ()+./-]{0,3}[0-9]){6}'],
  iban: ['[a-z]{2}[0-9]{2}(?:[a-z0-9]{11}|[ .-][a-z0-9]{4}[ .-][a-z0-9]{4}[ .-][a-z0-9]{3})'],
  ip_address: [
    '[0-9]\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]',
    '(?:[23][0-9a-f]{3}|f[c-f][0-9a-f]{2}|64):[0-9a-f]{0,4}:',
    '(?:64:ff9b|::ffff):',
  ],
  email: ['[^ "`(]@[^ \'"`(/:]{1,64}\\.[^ ]'],
  secrets: [
    '(?:sk-|gsk_|xai-|pplx-|r8_|hf_|api_org_|aiza|gocspx-|akia|asia|gh[opsur]_|github_pat_)[a-z0-9_-]{14}',
    '(?:gl[a-z]{2,4}-|xox[a-z]-|xapp-|[sr]k_live_|whsec_|npm_|pypi-|dop_v1_|dckr_pat_|hvs\\.|glsa_|nrak-|pmak-)[a-z0-9_+/-]{12}',
    '(?:figd_|sbp_|ntn_|shp[a-z]{2}_|lin_api_|ops_eyj|atatt3|t3blbkfj|dp\\.|op_|ey[a-z])[a-z0-9_+/-]{12}',
    '(?:sk|dapi)[0-9a-f]{32}',
    'sg\\.[a-z0-9_-]{22}\\.',
    'gw_[a-z0-9]{8}',
    'hooks\\.slack\\.com|x-oauth-basic',
    'secret[_-]?access[_-]?key',
    '://[^ ]{0,512}@',
    'private key|static key v?1|putty-user-key|age-secret-key-1',
  ],
};

/** What lets a detector have a look at a text: literals in any case, expressions, or nothing at all. */
export interface Prefilter {
  readonly literals: readonly string[];
  readonly regexes: readonly RE2JS[];
  readonly isOpen: boolean;
}

export function prefilterOf(name: string, { prefilter, reach }: Detector): Prefilter {
  const own = regexes[name];
  if (own !== undefined) return { literals: [], regexes: own.map(compile), isOpen: false };
  switch (prefilter.kind) {
    case 'literals':
      return { literals: prefilter.literals, regexes: [], isOpen: false };
    case 'digits':
      return { literals: [], regexes: [compile(digitsWithin(prefilter.atLeast, reach))], isOpen: false };
    case 'always':
      return { literals: [], regexes: [], isOpen: true };
  }
}

/** So many digits within so many characters. */
function digitsWithin(atLeast: number, reach: number): string {
  const gap = Math.max(0, Math.min(reach - atLeast, 16));
  return atLeast < 2 ? '[0-9]' : `[0-9](?:[^0-9]{0,${gap}}[0-9]){${atLeast - 1}}`;
}

function compile(source: string): RE2JS {
  return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
}
