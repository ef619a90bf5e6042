import type { Detector, Finding } from '../detector.ts';
import { findShapes, shapes } from '../shapes/find-shapes.ts';
import { prefiltersOf } from '../shapes/shape.ts';
import { isKeyCharacter, toCharacterSet } from '../text/characters.ts';
import { findThroughDisguise, joinOverlapping } from '../text/invisible.ts';
import { findKeyLikeRuns, findLongRuns } from '../text/long-runs.ts';
import { findAwsSecretKeys } from './aws-secret-key.ts';
import { findGatewayKeys } from './gateway-key.ts';
import { findJsonWebTokens } from './json-web-token.ts';
import { privateKey } from './private-key.ts';
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
      ...prefiltersOf(shapes),
      'ey[a-z][a-z0-9_-]{12}',
      'gw_[a-z0-9]{8}',
      'x-oauth-basic',
      'secret[_-]?access[_-]?key',
      '://[^ ]{0,512}@',
      'private key|static key v?1|putty-user-key|age-secret-key-1',
    ],
  },
  reach: privateKey.reach,
  folded: false,
  find: (text) => findThroughDisguise(text, findSecrets),
};

/** What keys are made of, also those in web addresses. */
const tokenCharacters = toCharacterSet(
  (code) => isKeyCharacter(code) || '+/.~=:$!%|'.includes(String.fromCharCode(code)),
);

type Finder = (text: string, keyLikeRuns: readonly Finding[]) => readonly Finding[];

const finders: readonly Finder[] = [
  (text) => findShapes(text, findLongRuns(text, 16, tokenCharacters)),
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
