import { GatewayError } from '../errors.ts';
import { isAlive, type RunningGateway, runningFile } from './address.ts';
import { readState } from './state.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const standardPlantsUrl = 'http://127.0.0.1:4101/v3';

/**
 * Where the plant store is: PLANTS_URL, else as configured, else the one that this user's running
 * gateway has started, else the default address. Throws usage.invalid for an invalid address, and store.unreachable if
 * that gateway could not start its store: whatever then listens on the default address is unknown, and must not be sent
 * a password.
 */
export function plantsBaseUrl(env: Environment, configured?: string): string {
  const given = env.PLANTS_URL;
  if (given !== undefined && given !== '') return parseBaseUrl(given, 'PLANTS_URL');
  if (configured !== undefined) return parseBaseUrl(configured, 'plants.base_url');
  const running = readState(env, runningFile) as Partial<RunningGateway> | null | undefined;
  const { plants_url: url, plants_problem: problem, pid } = running ?? {};
  if (typeof url === 'string') return parseBaseUrl(url, runningFile);
  if (typeof problem === 'string' && typeof pid === 'number' && isAlive(pid)) {
    throw new GatewayError(
      'store.unreachable',
      `the plant store of the running gateway was ${problem}; where another one is meant, name it in PLANTS_URL`,
    );
  }
  return standardPlantsUrl;
}

function parseBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new GatewayError('usage.invalid', `${source} must be an address like ${standardPlantsUrl}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new GatewayError('usage.invalid', `${source} must have no user, password, query or fragment`);
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path === '' ? '/v3' : path}`;
}
