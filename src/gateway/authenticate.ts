import type { KeyRecord } from '../config/build/keys.ts';
import { GatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';
import { memoize } from '../lib/memoize.ts';
import { parseRunKey, type Run } from '../lib/run-key.ts';
import type { Subscribers } from './subscriber.ts';

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
const carriers = new Set(['authorization', 'x-gateway-key', 'x-api-key', 'x-goog-api-key']);
const carrierOf = memoize((name) => (carriers.has(name.toLowerCase()) ? name.toLowerCase() : 'none'));

/** Whether clients send keys in a header of this name. */
export function isKeyCarrier(name: string): boolean {
  return carrierOf(name) !== 'none';
}

/** What stands where keys do, without a scheme and the runs that it names. */
export function presentedKeys(rawHeaders: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!isKeyCarrier(rawHeaders[i] as string)) continue;
    const { key } = parseRunKey((rawHeaders[i + 1] as string).trim().replace(anyBearer, ''));
    if (!found.includes(key)) found.push(key);
  }
  return found;
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
  const scheme = anyBearer.exec(text);
  if (scheme === null) {
    throw new GatewayError('key.missing', 'Authorization must be of the form "Bearer KEY"');
  }
  return text.slice(scheme[0].length).trim();
}
