import { GatewayError } from '../errors.ts';
import { readState } from './state.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const standardPlantsUrl = 'http://127.0.0.1:4101/v3';

/**
 * Where the plant store is: PLANTS_URL, else as configured, else the one that the running gateway
 * of this user has started, else the usual place. Throws usage.invalid for what is no such address.
 */
export function plantsBaseUrl(env: Environment, configured?: string): string {
  const given = env.PLANTS_URL;
  if (given !== undefined && given !== '') return parseBaseUrl(given, 'PLANTS_URL');
  if (configured !== undefined) return parseBaseUrl(configured, 'plants.base_url');
  return parseBaseUrl(runningUrl(env) ?? standardPlantsUrl, 'running.json');
}

function runningUrl(env: Environment): string | undefined {
  const running = readState(env, 'running.json');
  if (typeof running !== 'object' || running === null || !('plants_url' in running)) return undefined;
  return typeof running.plants_url === 'string' ? running.plants_url : undefined;
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
