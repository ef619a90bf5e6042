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
  // What it looks for is so varied that the search for long stretches inside is the cheaper filter.
  prefilter: { kind: 'always' },
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
