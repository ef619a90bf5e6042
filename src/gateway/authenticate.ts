import { type KeyRecord, type KeyRing, parseKey } from '../config/build/keys.ts';
import { GatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';
import { decodeEachPercent } from '../lib/decode-percent.ts';
import { memoize } from '../lib/memoize.ts';
import { parseRunKey, type Run } from '../lib/run-key.ts';
import type { Verdict } from '../policy/rule.ts';
import { builtInPolicy } from '../policy/rules/built-in.ts';
import { ClientCredential } from '../providers/client-credential.ts';
import type { Scrubber } from './scrub.ts';
import type { OutgoingFinding, Subscribers } from './subscriber.ts';

// Who sends a request: its key, and the client's own login beside it, which is taken out of the head before anything reads it.

interface Authentication<Key> {
  readonly keys: { find(presented: string): Key | undefined };
  /** Whether clients may send a login of their own at a provider. */
  readonly takesLogins: boolean;
}

interface Presented {
  readonly request: Pick<HttpRequest, 'rawHeaders'>;
  readonly login?: { readonly fault: GatewayError | undefined } | undefined;
  readonly startedMs: number;
}

interface Arrived {
  /** The endpoint's name in records. */
  readonly endpoint: string;
  /** The client's own login at a provider. */
  readonly login: Presented['login'];
}

/** A key, and the runs of `gateway run` that its bearer belongs to, the innermost first. */
interface Identity<Key> {
  readonly key: Key;
  readonly runs: readonly Run[];
}

/** The key whose exchange this is: see `authenticate`. */
export function identify(
  exchange: Omit<Presented, 'login'> & { readonly events: Pick<Subscribers, 'authenticated'> },
  authentication: Authentication<KeyRecord>,
  { endpoint, login }: Arrived,
): Identity<KeyRecord> {
  const { request, startedMs, events } = exchange;
  const { key, runs } = authenticate({ request, login, startedMs }, authentication);
  events.authenticated({ endpoint, project: key.project, id: key.id, run: runs[0]?.id });
  return { key, runs };
}

/**
 * The key that a request carries, in whichever of the headers its SDK uses. Nothing of the body has
 * been read yet. Throws key.missing, key.conflict, key.invalid and key.expired, also for a login of the client's own that
 * can't be used.
 */
export function authenticate<Key extends Pick<KeyRecord, 'expiresMs'>>(
  { request, login, startedMs }: Presented,
  { keys, takesLogins }: Authentication<Key>,
): Identity<Key> {
  if (login?.fault !== undefined) throw login.fault;
  const presented = presentedKey(request.rawHeaders);
  const key = keys.find(presented);
  if (key === undefined) throw unknownKey(takesLogins);
  if (key.expiresMs !== undefined && key.expiresMs <= startedMs) {
    throw new GatewayError('key.expired', 'this project key has expired');
  }
  return { key, runs: parseRunKey(presented).runs };
}

/** One answer for keys that never were and keys that are no more. */
function unknownKey(takesLogins: boolean): GatewayError {
  const hint = takesLogins ? '; next to your own login, send it as x-gateway-key' : '';
  return new GatewayError('key.invalid', `this project key is not known here${hint}`);
}

const anyBearer = /^bearer +/i;
const keyCarriers = new Set(['authorization', 'x-gateway-key', 'x-api-key', 'x-goog-api-key']);
const carrierOf = memoize((name) => (keyCarriers.has(name.toLowerCase()) ? name.toLowerCase() : 'none'));

/** Whether clients send keys in a header of this name. */
function isKeyCarrier(name: string): boolean {
  return carrierOf(name) !== 'none';
}

/** The one key that a request presents. Throws key.missing and key.conflict. */
function presentedKey(rawHeaders: readonly string[]): string {
  let found: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const carrier = carrierOf(rawHeaders[i] as string);
    if (carrier === 'none') continue;
    const value = keyIn(carrier, rawHeaders[i + 1] as string);
    found = found === undefined ? value : sameKey(found, value);
  }
  if (found === undefined || found === '') {
    const message =
      'send a project key as "Authorization: Bearer KEY", "x-gateway-key: KEY", "x-api-key: KEY" or "x-goog-api-key: KEY"';
    throw new GatewayError('key.missing', message);
  }
  return found;
}

/** Of a key that comes twice, the one that names a run: a key of one's own beside it takes nothing of the run's limits. */
function sameKey(one: string, other: string): string {
  if (one === other || parseRunKey(one).key === other) return one;
  if (parseRunKey(other).key === one) return other;
  throw new GatewayError('key.conflict', 'the request carries two different keys; send one');
}

function keyIn(carrier: string, value: string): string {
  const text = value.trim();
  if (carrier !== 'authorization') return text;
  if (!anyBearer.test(text)) {
    throw new GatewayError('key.missing', 'Authorization must be of the form "Bearer KEY"');
  }
  return text.slice('bearer '.length).trim();
}

// ---------------------------------------------------------------- the client's own login

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

const loginCarriers = ['authorization', 'x-api-key'] as const;
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
  return loginCarriers.flatMap((name): readonly Given[] => {
    const value = read(name)?.trim() ?? '';
    const secret = name === 'authorization' ? value.replace(bearer, '') : value;
    return secret === '' || secret === projectKey ? [] : [{ name, value, secret }];
  });
}

/**
 * The presented keys that neither the form of generated ones nor the configuration's secrets let the rules recognize. They
 * may be known by their hash.
 */
function unknownToRules({ request: { rawHeaders }, scrubber }: Head): readonly string[] {
  let found = none;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!isKeyCarrier(rawHeaders[i] as string)) continue;
    const { key } = parseRunKey((rawHeaders[i + 1] as string).trim().replace(anyBearer, ''));
    const isKnown = key === '' || parseKey(key) === 'generated' || scrubber.has(key);
    if (!isKnown && !found.includes(key)) found = [...found, key];
  }
  return found;
}

const none: readonly string[] = [];

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

const loginVerdict = {
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
  readonly finding: OutgoingFinding = {
    action: 'block',
    verdicts: [loginVerdict],
    unseen: 0,
    microseconds: 0,
  };

  constructor() {
    super('policy.blocked', loginVerdict.message, { reason: loginVerdict.reason });
  }
}
