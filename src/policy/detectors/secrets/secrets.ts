import { type Detector, type Finding, isSureEnough, joinOverlapping, type Range } from '../detector.ts';
import { findInPieces, isSeam, maxJoins } from '../shapes/across-seams.ts';
import { findShapes, shapes } from '../shapes/find-shapes.ts';
import { prefiltersOf } from '../shapes/shape.ts';
import { findUnlistedKeys, unlistedPrefilters } from '../shapes/unlisted-key.ts';
import { codeAt, isKeyCharacter, toCharacterSet } from '../text/characters.ts';
import { findThroughDisguise } from '../text/invisible.ts';
import { findLongRuns } from '../text/long-runs.ts';
import { argumentPrefilters, findCredentialArguments, tellingPrefilters } from './credential-arguments.ts';
import { findGatewayKeys } from './gateway-key.ts';
import { findNamedSecrets } from './named-secrets.ts';
import { isSampleToken } from './placeholder.ts';
import { privateKey } from './private-key.ts';
import { reachAcross } from './reach-across.ts';
import { likelyNamePrefilters, namePrefilters } from './secret-names.ts';
import { readSigns, type SecretSigns } from './secret-signs.ts';
import { findUrlCredentials, findWebhookAddresses, webhookPrefilter } from './url-credentials.ts';

const shaped = {
  prefilter: {
    kind: 'regexes',
    orLongRun: true,
    regexes: [
      ...prefiltersOf(shapes),
      ...unlistedPrefilters.likely,
      ...likelyNamePrefilters,
      ...tellingPrefilters,
      'ey[a-z][a-z0-9_-]{12}',
      'gw_[a-z0-9]{8}',
      'x-oauth-basic',
      'secret[_-]?access[_-]?key',
      '://[^ ]*@',
      'private key|static key v?1|putty-user-key|age-secret-key-1',
    ],
  },
  reach: privateKey.reach,
  reachAcross,
  folded: false,
  // Pass phrases in quotation marks, keys in pieces, in disguise and private keys; all else ends at a space.
  holdsSpace: /["'`\\\r\n\u0080-\uffff]|private key|static key|putty-user-key|ls0tls1/i,
  find: (text) => findThroughDisguise(text, findSecrets),
} as const satisfies Detector;

/**
 * Keys and passwords recognized by their form: those in the table of shapes, web tokens, URLs with passwords, private
 * keys, keys of this gateway. What its name makes a secret is `likely` if its value is random, and `possible` like
 * what is a secret by its position otherwise.
 */
export const secrets: Detector = {
  ...shaped,
  possible: {
    ...shaped,
    prefilter: {
      ...shaped.prefilter,
      regexes: [
        ...shaped.prefilter.regexes,
        ...unlistedPrefilters.possible,
        webhookPrefilter,
        ...namePrefilters,
        ...argumentPrefilters,
      ],
    },
    find: (text) =>
      findThroughDisguise(text, (plain) => {
        const signs = readSigns(plain);
        return joinOverlapping([
          ...findByForm(plain, signs),
          ...findWebhookAddresses(plain),
          ...findBySurroundings(plain, signs),
        ]);
      }),
  },
};

/** The characters of keys, including those in URLs. */
const tokenCharacters = toCharacterSet(isKeyCharacter, '+/.~=:$!%|');

const finders: readonly ((text: string) => readonly Finding[])[] = [
  (text) => {
    const runs = findLongRuns(text, 16, tokenCharacters);
    return findShapes(text, runs).concat(findTokensInPieces(text, runs));
  },
  findAwsSecretKeys,
  findJsonWebTokens,
  findUrlCredentials,
  findGatewayKeys,
  findUnlistedKeys,
];

function findByForm(text: string, { opensPrivateKey }: SecretSigns): readonly Finding[] {
  const findings: Finding[] = [];
  // Not flatMap: most texts are short and contain nothing, and it takes a quarter of their time.
  for (const find of finders) for (const finding of find(text)) findings.push(finding);
  return opensPrivateKey ? findings.concat(privateKey.find(text)) : findings;
}

function findBySurroundings(text: string, { names, marked }: SecretSigns): readonly Finding[] {
  return [...findNamedSecrets(text, names), ...findCredentialArguments(text, marked)];
}

function findSecrets(text: string): readonly Finding[] {
  const signs = readSigns(text);
  return joinOverlapping(
    [...findByForm(text, signs), ...findBySurroundings(text, signs)].filter((finding) =>
      isSureEnough(finding, 'likely'),
    ),
  );
}

// Only the name is taken: what stands for one key may end in the name of the next.
const awsSecretKey =
  /secret[_-]?access[_-]?key(?=(["']?\s{0,4}(?:=>|[:=]|>)\s{0,4}["']?)([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=]))/gi;

/**
 * AWS secret access keys: forty characters without a prefix, so only after their name. Secretlint's rule is not used:
 * it misses keys that end in "+" or "/" and reports the wrong range, so redaction would leave the end of the key.
 */
function findAwsSecretKeys(text: string): readonly Finding[] {
  // Most texts don't name one, and a plain search is the fastest way to know.
  if (!text.includes('ccess') && !text.includes('CCESS')) return [];
  return [...text.matchAll(awsSecretKey)].flatMap(({ index, 0: name, 1: separator = '', 2: key = '' }) => {
    const isReal = !/example/i.test(key) && new Set(key).size > 12;
    const start = index + name.length + separator.length;
    return isReal ? [{ start, end: start + key.length }] : [];
  });
}

/** Longer ones exist but are not used as bearer tokens: servers limit header sizes. */
const maxTokenLength = 4096;

/** Characters of a header that names an algorithm, at least. */
const minHeaderLength = 16;

/**
 * Signed JSON Web Tokens: three parts; the first decodes to a header that names an algorithm and the
 * second begins like an object.
 */
function findJsonWebTokens(text: string): readonly Finding[] {
  const findings: Finding[] = [];
  for (let start = text.indexOf('eyJ'); start !== -1; start = text.indexOf('eyJ', start + 1)) {
    if (isKeyCharacter(codeAt(text, start - 1))) continue;
    const headerEnd = partEnd(text, start);
    if (headerEnd - start < minHeaderLength || text.charAt(headerEnd) !== '.') continue;
    const payloadEnd = partEnd(text, headerEnd + 1);
    const end = text.charAt(payloadEnd) === '.' ? partEnd(text, payloadEnd + 1) : payloadEnd;
    const isSignedToken = end - payloadEnd > 20 && text.startsWith('ey', headerEnd + 1);
    if (
      isSignedToken &&
      namesAlgorithm(text.slice(start, headerEnd)) &&
      !isSampleToken(text.slice(start, end))
    ) {
      findings.push({ start, end });
    }
  }
  return findings;
}

function partEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && end - start < maxTokenLength && isKeyCharacter(text.charCodeAt(end))) end += 1;
  return end;
}

function namesAlgorithm(header: string): boolean {
  return header.length < 2000 && /"alg"\s{0,8}:/.test(Buffer.from(header, 'base64url').toString('latin1'));
}

const tokens = [
  { opening: 'eyJ', find: findJsonWebTokens },
  { opening: 'gw_', find: findGatewayKeys },
] as const;

/** Web tokens and keys of this gateway that are wrapped over lines or concatenated from literals. */
function findTokensInPieces(text: string, runs: readonly Range[]): readonly Finding[] {
  const findings: Finding[] = [];
  let joins = 0;
  for (const run of runs) {
    if (joins >= maxJoins) break;
    if (!isSeam(text, run.end)) continue;
    const piece = text.slice(run.start, run.end);
    for (const { opening, find } of tokens) {
      const offset = piece.indexOf(opening);
      if (offset === -1) continue;
      joins += 1;
      const best = findInPieces(text, { start: run.start + offset, end: run.end }, (joined) =>
        find(joined).find(({ start }) => start === 0),
      );
      if (best !== undefined) findings.push(best);
    }
  }
  return findings;
}
