import type { KeyRecord } from '../config/build/keys.ts';
import { GatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';
import { parseRunKey, type Run } from '../lib/run-key.ts';
import type { Exchange } from './exchange.ts';
import { presentedKey } from './presented-key.ts';

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
  exchange: Exchange,
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
