import { GatewayError } from '../errors.ts';
import type { GatewayAddress } from './gateway.ts';
import { readState } from './state.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a running gateway leaves for the other commands of the same user. */
export interface RunningGateway {
  readonly url: string;
  /** Only where the gateway made the key itself. */
  readonly key?: string;
  readonly pid: number;
  /** When it began (RFC 3339). */
  readonly since?: string;
  /** The configuration in force. */
  readonly config?: {
    readonly path: string | null;
    readonly hash: string;
    readonly is_sandbox: boolean;
    readonly has_projects: boolean;
    readonly keys: number;
    readonly policies: number;
  };
  /** The model that `send` uses when nobody names one. */
  readonly default_model?: string;
  readonly plants_url?: string;
  /** Why the plant store that belongs to it did not start. */
  readonly plants_problem?: string;
}

export const runningFile = 'running.json';
const defaultUrl = 'http://127.0.0.1:4100';

export function readRunning(env: Environment): RunningGateway | undefined {
  const state = readState(env, runningFile) as Partial<RunningGateway> | undefined;
  return typeof state?.url === 'string' && typeof state.pid === 'number'
    ? (state as RunningGateway)
    : undefined;
}

/** Whether there is a process with this id, as far as we may know. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0); // asks only
  } catch {
    return false;
  }
}

/**
 * Where the gateway is and the key for it: as configured, else GATEWAY_URL and GATEWAY_KEY, else what a
 * running gateway of this user left. That one's key goes to no other address. Throws key.missing where there is none.
 */
export function gatewayAddress(
  env: Environment,
  configuredUrl?: string,
): GatewayAddress & { readonly defaultModel: string | undefined } {
  const running = readRunning(env);
  const url = configuredUrl ?? (env.GATEWAY_URL || running?.url) ?? defaultUrl;
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    throw new GatewayError('usage.invalid', 'GATEWAY_URL must be a URL such as http://127.0.0.1:4100');
  }
  const isRunningOne = running !== undefined && sameOrigin(url, running.url);
  const key = env.GATEWAY_KEY || (isRunningOne ? running.key : undefined);
  if (key === undefined) {
    if (running === undefined && url === defaultUrl) {
      throw new GatewayError('gateway.unreachable', 'no gateway is running; start one with "gateway serve"');
    }
    throw new GatewayError('key.missing', `no key for ${url}: put a project key into GATEWAY_KEY`);
  }
  return { url, key, defaultModel: isRunningOne ? running.default_model : undefined };
}

function sameOrigin(one: string, other: string): boolean {
  return URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}
