import type { KeyRecord } from '../config/build/keys.ts';
import { GatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';
import { memoize } from '../lib/memoize.ts';
import type { Exchange } from './exchange.ts';

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

const carriers = new Set(['authorization', 'x-gateway-key', 'x-api-key', 'x-goog-api-key']);
const carrierOf = memoize((name) => (carriers.has(name.toLowerCase()) ? name.toLowerCase() : 'none'));

interface Arrived {
  /** The endpoint's name in records. */
  readonly endpoint: string;
  /** The client's own login at a provider. */
  readonly login: Presented['login'];
}

/** The key whose exchange this is: see `authenticate`. */
export function identify(
  exchange: Exchange,
  authentication: Authentication<KeyRecord>,
  { endpoint, login }: Arrived,
): KeyRecord {
  const { request, startedMs, events } = exchange;
  const key = authenticate({ request, login, startedMs }, authentication);
  events.authenticated({ endpoint, project: key.project, id: key.id });
  return key;
}

/**
 * The key that a request carries, in whichever of the headers its SDK uses. Nothing of the body has
 * been read yet. Throws key.missing, key.conflict, key.invalid and key.expired, also for a login of the client's own that
 * can't be used.
 */
export function authenticate<Key extends Pick<KeyRecord, 'expiresMs'>>(
  { request, login, startedMs }: Presented,
  { keys, takesLogins }: Authentication<Key>,
): Key {
  if (login?.fault !== undefined) throw login.fault;
  const key = keys.find(presentedKey(request.rawHeaders));
  if (key === undefined) throw unknownKey(takesLogins);
  if (key.expiresMs !== undefined && key.expiresMs <= startedMs) {
    throw new GatewayError('key.expired', 'this project key has expired');
  }
  return key;
}

/** One answer for keys that never were and keys that are no more. */
function unknownKey(takesLogins: boolean): GatewayError {
  const hint = takesLogins ? '; next to your own login, send it as x-gateway-key' : '';
  return new GatewayError('key.invalid', `this project key is not known here${hint}`);
}

function presentedKey(rawHeaders: readonly string[]): string {
  let found: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const carrier = carrierOf(rawHeaders[i] as string);
    if (carrier === 'none') continue;
    const value = keyIn(carrier, rawHeaders[i + 1] as string);
    if (found !== undefined && found !== value) {
      throw new GatewayError('key.conflict', 'the request carries two different keys; send one');
    }
    found = value;
  }
  if (found === undefined || found === '') {
    const message =
      'send a project key as "Authorization: Bearer KEY", "x-gateway-key: KEY", "x-api-key: KEY" or "x-goog-api-key: KEY"';
    throw new GatewayError('key.missing', message);
  }
  return found;
}

function keyIn(carrier: string, value: string): string {
  const text = value.trim();
  if (carrier !== 'authorization') return text;
  const scheme = /^bearer +/i.exec(text);
  if (scheme === null) {
    throw new GatewayError('key.missing', 'Authorization must be of the form "Bearer KEY"');
  }
  return text.slice(scheme[0].length).trim();
}
