import type { Detector, Finding } from '../detector.ts';
import { findThroughDisguise, joinOverlapping } from '../text/invisible.ts';
import { findKeyLikeRuns } from '../text/long-runs.ts';
import { findAwsSecretKeys } from './aws-secret-key.ts';
import { findGatewayKeys } from './gateway-key.ts';
import { findJsonWebTokens } from './json-web-token.ts';
import { findKeyShapes } from './key-shapes.ts';
import { privateKey } from './private-key.ts';
import { findBySecretlint } from './secretlint-rules.ts';
import { findUrlCredentials } from './url-credentials.ts';

/**
 * Keys and passwords that can be told by their form: of model, cloud and code providers, payment and messaging
 * services, web tokens, URLs with passwords, private keys, keys of this gateway. A password in prose has
 * no form and is not found.
 */
export const secrets: Detector = {
  prefilter: {
    kind: 'regexes',
    regexes: [
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
  },
  reach: privateKey.reach,
  folded: false,
  find: (text) => findThroughDisguise(text, findSecrets),
};

type Finder = (text: string, keyLikeRuns: readonly Finding[]) => readonly Finding[];

const finders: readonly Finder[] = [
  findBySecretlint,
  findKeyShapes,
  findAwsSecretKeys,
  findJsonWebTokens,
  findUrlCredentials,
  findGatewayKeys,
  (text) => privateKey.find(text),
];

function findSecrets(text: string): readonly Finding[] {
  const runs = findKeyLikeRuns(text);
  return joinOverlapping(finders.flatMap((find) => find(text, runs)));
}
