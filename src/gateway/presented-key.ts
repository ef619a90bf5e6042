import { GatewayError } from '../errors.ts';
import { memoize } from '../lib/memoize.ts';
import { parseRunKey } from '../lib/run-key.ts';

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
export function presentedKey(rawHeaders: readonly string[]): string {
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
