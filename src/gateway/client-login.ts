import { type KeyRing, parseKey } from '../config/build/keys.ts';
import { GatewayError } from '../errors.ts';
import type { Verdict } from '../policy/rule.ts';
import { builtInPolicy } from '../policy/rules/built-in.ts';
import { ClientCredential } from '../providers/client-credential.ts';
import type { Exchange } from './exchange.ts';
import { Scrubber } from './scrub.ts';

interface Given {
  readonly name: string;
  readonly value: string;
  /** The value without the scheme. */
  readonly secret: string;
}

const carriers = ['authorization', 'x-api-key'] as const;
const bearer = /^bearer(?: +|$)/i;
const anyScheme = /^[\w-]+ +/;
/** Not shorter than a configured key: a short text could not be told from ordinary words, and so not be masked. */
const wellFormed = /^[\x21-\x7e]{16,}$/;

/**
 * Takes the client's own credential out of a request's head before anything reads it, also where another header repeats
 * it, so that even the record of a wrong path can't have it. Without a project key in `x-gateway-key` the other headers
 * are left to the key. What is wrong with the credential is told once the exchange has an endpoint.
 */
export function keepLogin(
  exchange: Pick<Exchange, 'request' | 'login' | 'scrubAlso'>,
  { keys, takesLogins }: { readonly keys: Pick<KeyRing, 'find'>; readonly takesLogins: boolean },
): void {
  if (!takesLogins) return;
  const { request } = exchange;
  const projectKey = request.header('x-gateway-key')?.trim() ?? '';
  const read = (name: string) => (projectKey === '' ? request.header(name) : request.takeHeader(name));
  const given = carriers.flatMap((name): readonly Given[] => {
    const value = read(name)?.trim() ?? '';
    const secret = name === 'authorization' ? value.replace(bearer, '') : value;
    return secret === '' || secret === projectKey ? [] : [{ name, value, secret }];
  });
  const [found, second] = given;
  if (found === undefined) return;
  // Whatever scheme it was sent with, and each of those that a header was sent with.
  const secrets = given.flatMap(({ secret }) =>
    [secret, ...secret.split(/, */)].flatMap((each) => [each, each.replace(anyScheme, '')]),
  );
  const scrubber = new Scrubber(secrets);
  exchange.scrubAlso(secrets);
  if (projectKey === '') {
    exchange.login = { credential: undefined, fault: undefined, isElsewhere: false, scrubber };
    return;
  }
  const fault = second === undefined ? faultOf(found, keys) : twoCredentials();
  const credential = fault === undefined ? new ClientCredential(found.name, found.value) : undefined;
  const isElsewhere = request.scrubHeaders(scrubber.text, (name) => scrubber.inName(name) !== undefined);
  exchange.login = { credential, fault, isElsewhere, scrubber };
}

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
 * Throws policy.blocked if one of the texts that are to leave contains the client's own credential, as it is or as JSON
 * and URLs encode it: its one place is the header for its provider.
 */
export function refuseLoginIn(
  { login, draft }: Pick<Exchange, 'login' | 'draft'>,
  texts: readonly Buffer[],
): void {
  if (login === undefined) return;
  if (!login.isElsewhere && texts.every((text) => login.scrubber.bytes(text) === text)) return;
  draft.noteOutgoing({ action: 'block', verdicts: [verdict], unseen: 0 }, 0);
  throw new GatewayError('policy.blocked', verdict.message, { reason: verdict.reason });
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
