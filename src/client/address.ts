import { GatewayError } from '../errors.ts';
import type { OwnerProof } from '../lib/owner-proof.ts';
import type { GatewayAddress } from './call.ts';
import { type Environment, readState, refuseForeignState } from './state.ts';

/** Models by what an agent asks them for. */
export interface AgentModels {
  readonly main?: string | undefined;
  /** For small tasks, such as titles. */
  readonly small?: string | undefined;
  /** For planning. */
  readonly thinking?: string | undefined;
}

/** Models that a configuration names for those who name none, where it is known. */
export interface NamedModels {
  readonly defaultModel?: string | undefined;
  readonly agentModels: AgentModels;
}

/** What a running gateway leaves for the other commands of the same user. */
export interface RunningGateway {
  readonly url: string;
  /** The key that it made for this user, if its configuration accepts that. */
  readonly key?: string;
  readonly pid: number;
  /** A secret with which the gateway proves that it wrote this file; any other program on that port can't. */
  readonly proof: OwnerProof;
  /** When it started (RFC 3339). */
  readonly since?: string;
  /** The configuration in force. */
  readonly config?: {
    readonly path: string | null;
    readonly hash: string;
    /** SHA-256 of the file's content, without what the environment adds. */
    readonly text_hash?: string;
    readonly is_sandbox: boolean;
    readonly has_projects: boolean;
    readonly keys: number;
    readonly policies: number;
    /** Since when it is in force (RFC 3339). */
    readonly since?: string;
  };
  /** Why the file as it is now was not taken over; absent once one is. */
  readonly refused?: { readonly message: string; readonly since: string };
  /** The model that `send` uses by default. */
  readonly default_model?: string;
  /** What coding agents ask for. */
  readonly agent_models?: AgentModels;
  /** The log file of a gateway that was started with --detach. */
  readonly log?: string;
  readonly plants_url?: string;
  /** Why its plant store did not start. */
  readonly plants_problem?: string;
}

export const runningFile = 'running.json';

/** What a plant store without a gateway leaves for the other commands of the same user. */
export interface RunningStore {
  readonly url: string;
  readonly pid: number;
}

export const runningStoreFile = 'plants.json';
const defaultUrl = 'http://127.0.0.1:4100';

export function readRunning(env: Environment): RunningGateway | undefined {
  const state = readState(env, runningFile) as Partial<RunningGateway> | undefined;
  const isUsable = typeof state?.url === 'string' && typeof state.pid === 'number' && isProof(state.proof);
  return isUsable ? (state as RunningGateway) : undefined;
}

/** Whether there is a process with this id, as far as this user can see. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0); // only a check
  } catch {
    return false;
  }
}

/**
 * Where the gateway is and the key for it: as configured, else GATEWAY_URL and GATEWAY_KEY, else from the
 * state file of this user's running gateway. The key in that file is sent to no other address, and neither key nor prompt
 * to another program that listens there now. An address that is neither named nor in that file gets nothing: throws
 * gateway.unreachable, and key.missing if there is no key.
 */
export function gatewayAddress(env: Environment, configuredUrl?: string): GatewayAddress & NamedModels {
  const running = readRunning(env);
  const named = configuredUrl ?? (env.GATEWAY_URL || undefined);
  const url = baseUrl(named ?? running?.url ?? defaultUrl);
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url) || /[?#]/.test(url)) {
    throw new GatewayError('usage.invalid', 'GATEWAY_URL must be a URL such as http://127.0.0.1:4100');
  }
  const isRunningOne = running !== undefined && sameOrigin(url, running.url);
  const ownKey = env.GATEWAY_KEY || undefined;
  const key = ownKey ?? (isRunningOne ? running.key : undefined);
  if (running === undefined && (named === undefined || (key === undefined && url === defaultUrl))) {
    if (named === undefined) refuseForeignState(env);
    // Whatever listens at the usual address may be anybody's.
    const other = ownKey === undefined ? '' : `, or name another user's: GATEWAY_URL=${defaultUrl}`;
    const start = 'no gateway is running; start one with "gateway serve"';
    throw new GatewayError('gateway.unreachable', start + other);
  }
  if (key === undefined) {
    if (named === undefined) refuseForeignState(env);
    const elsewhere =
      running === undefined || isRunningOne ? '' : `; this user's gateway runs at ${running.url}`;
    throw new GatewayError(
      'key.missing',
      `no key for ${url}: put a project key into GATEWAY_KEY${isRunningOne ? ', or enter your own in gateway.yaml: gateway key new --local --write' : elsewhere}`,
    );
  }
  // Mostly a line end of the file that it was read from; in a header it would be an error of the connection.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new GatewayError(
      'usage.invalid',
      'GATEWAY_KEY contains a space, a line end or another character that no key has',
    );
  }
  // A user who names both address and key trusts the program that listens there.
  const isTrusted = named !== undefined && ownKey !== undefined;
  const proof = isRunningOne && !isTrusted ? running.proof : undefined;
  const { default_model: defaultModel, agent_models: agentModels = {} } = isRunningOne ? running : {};
  return { url, key, proof, defaultModel, agentModels };
}

/** Whether an address is that of this user's running gateway. */
export function isRunningAt(env: Environment, url: string): boolean {
  const running = readRunning(env);
  return running !== undefined && URL.canParse(url) && sameOrigin(url, running.url);
}

/** The address as the prefix of a path. */
function baseUrl(url: string): string {
  return url.replace(/\/+$/, '');
}

function isProof(value: Partial<OwnerProof> | undefined): boolean {
  return typeof value?.challenge === 'string' && typeof value.answer === 'string';
}

function sameOrigin(one: string, other: string): boolean {
  return URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}
