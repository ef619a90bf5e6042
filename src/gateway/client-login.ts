import { type KeyRing, parseKey } from '../config/build/keys.ts';
import { GatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';
import { decodeEachPercent } from '../lib/decode-percent.ts';
import type { Verdict } from '../policy/rule.ts';
import { builtInPolicy } from '../policy/rules/built-in.ts';
import { ClientCredential } from '../providers/client-credential.ts';
import { isKeyCarrier, presentedKeys } from './authenticate.ts';
import type { Scrubber } from './scrub.ts';
import type { OutgoingFinding } from './subscriber.ts';

/**
 * What a request carries that proves who sends it, and that no rule knows: a login at a provider, and a project key of a
 * form of its own, of which the configuration may have the hash alone. Both are known in clear while the exchange is open.
 */
export interface ClientLogin {
  /** For the provider that takes the client's own; undefined if there is none, or none that can be used. */
  readonly credential: ClientCredential | undefined;
  /** Why it can't be used: key.conflict for two credentials or a project key, key.invalid for a malformed one. */
  readonly fault: GatewayError | undefined;
  /** Whether another header or the path repeats it. */
  readonly isElsewhere: boolean;
  /** Scrubs what came, wherever it is. */
  readonly scrubber: Scrubber;
}

interface Given {
  readonly name: string;
  readonly value: string;
  /** The value without the scheme. */
  readonly secret: string;
}

interface Head {
  readonly request: HttpRequest;
  /** Scrubs every configured secret, then what is added as well. */
  readonly scrubber: Scrubber;
  scrubAlso(secrets: readonly string[]): void;
}

const carriers = ['authorization', 'x-api-key'] as const;
const bearer = /^bearer(?: +|$)/i;
const anyScheme = /^[\w-]+ +/;
/** Not shorter than a configured key: a short text could not be told from ordinary words, and so not be masked. */
const wellFormed = /^[\x21-\x7e]{16,}$/;

/**
 * Takes the client's own credential out of a request's head before anything reads it, also where another header repeats
 * it, so that even the record of a wrong path can't have it. Without a project key in `x-gateway-key` the other headers
 * are left to the key. Errors of the credential are reported once the exchange has an endpoint.
 */
export function extractLogin(
  exchange: Head,
  { keys, takesLogins }: { readonly keys: Pick<KeyRing, 'find'>; readonly takesLogins: boolean },
): ClientLogin | undefined {
  const { request } = exchange;
  const projectKey = request.header('x-gateway-key')?.trim() ?? '';
  const given = takesLogins ? givenLogins(request, projectKey) : [];
  const projectKeys = unknownToRules(exchange);
  const [found, second] = given;
  if (found === undefined && projectKeys.length === 0) return undefined;
  // Whatever scheme it was sent with, and each of those that a header was sent with.
  const ofLogins = given.flatMap(({ secret }) =>
    [secret, ...secret.split(/, */)].flatMap((each) => [each, each.replace(anyScheme, '')]),
  );
  const secrets = [...ofLogins, ...projectKeys];
  exchange.scrubAlso(secrets);
  const scrubber = exchange.scrubber.added;
  const isInHeader = request.scrubHeaders(scrubber.text, {
    isRefused: (name) => scrubber.inName(name) !== undefined,
    isLeft: isKeyCarrier,
  });
  // The query isn't forwarded, but for a flag that is checked as it leaves.
  const [path = ''] = request.target.split('?', 1);
  const isElsewhere = isInHeader || [path, decodeEachPercent(path)].some(isIn(scrubber));
  if (found === undefined || projectKey === '') {
    return { credential: undefined, fault: undefined, isElsewhere, scrubber };
  }
  const fault = second === undefined ? faultOf(found, keys) : twoCredentials();
  const credential = fault === undefined ? new ClientCredential(found.name, found.value) : undefined;
  return { credential, fault, isElsewhere, scrubber };
}

function givenLogins(request: HttpRequest, projectKey: string): readonly Given[] {
  const read = (name: string) => (projectKey === '' ? request.header(name) : request.takeHeader(name));
  return carriers.flatMap((name): readonly Given[] => {
    const value = read(name)?.trim() ?? '';
    const secret = name === 'authorization' ? value.replace(bearer, '') : value;
    return secret === '' || secret === projectKey ? [] : [{ name, value, secret }];
  });
}

/**
 * The presented keys that neither the form of generated ones nor the configuration's secrets let the rules recognize. They
 * may be known by their hash.
 */
function unknownToRules({ request, scrubber }: Head): readonly string[] {
  return presentedKeys(request.rawHeaders).filter(
    (key) => key !== '' && parseKey(key) !== 'generated' && !scrubber.has(key),
  );
}

const isIn = (scrubber: Scrubber) => (text: string) => scrubber.text(text) !== text;

function twoCredentials(): GatewayError {
  const message = 'authorization and x-api-key carry two credentials next to x-gateway-key; send one';
  return new GatewayError('key.conflict', message);
}

function faultOf({ name, value, secret }: Given, keys: Pick<KeyRing, 'find'>): GatewayError | undefined {
  if (keys.find(secret) !== undefined || parseKey(secret) !== 'other') {
    const message = `x-gateway-key and ${name} carry two project keys; ${name} is for your own credential of the provider`;
    return new GatewayError('key.conflict', message);
  }
  const isBearer = name !== 'authorization' || bearer.test(value);
  if (isBearer && wellFormed.test(secret)) return undefined;
  const form = name === 'authorization' ? '"Bearer CREDENTIAL"' : 'the credential alone';
  const message = `next to x-gateway-key, ${name} must be ${form}, once: at least 16 visible characters`;
  return new GatewayError('key.invalid', message);
}

/**
 * Whether one of the texts that are to leave contains the client's own credential, as it is or as JSON and URLs encode it:
 * a login's one place is the header for its provider, and a project key has none.
 */
export function hasLogin(login: ClientLogin | undefined, texts: readonly Buffer[]): boolean {
  if (login === undefined) return false;
  return login.isElsewhere || texts.some((text) => login.scrubber.bytes(text) !== text);
}

const verdict = {
  policy: builtInPolicy,
  rule: 'client-credential',
  action: 'block',
  mode: 'enforce',
  reason: 'content.client_credential',
  message: "the request contains its client's own credential",
  matches: [],
} as const satisfies Verdict;

/** The refusal of a request that contains it. No policy has decided that, so the finding comes with the error. */
export class LoginRefusal extends GatewayError {
  readonly finding: OutgoingFinding = { action: 'block', verdicts: [verdict], unseen: 0, microseconds: 0 };

  constructor() {
    super('policy.blocked', verdict.message, { reason: verdict.reason });
  }
}
