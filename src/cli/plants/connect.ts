import type { Command } from 'commander';
import {
  isAlive,
  type RunningGateway,
  type RunningStore,
  readRunning,
  runningFile,
  runningStoreFile,
} from '../../client/address.ts';
import { readHealth } from '../../client/call.ts';
import { createPlantsClient, type PlantsClient, type PlantsConnection } from '../../client/plants.ts';
import { readSession } from '../../client/session.ts';
import { readState, refuseForeignState } from '../../client/state.ts';
import { GatewayError } from '../../errors.ts';
import { standardPlantsUrl } from '../../lib/loopback.ts';
import { type CommonOptions, commonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { loadConfigured } from './store.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where the plant store is: PLANTS_URL, else as configured, else the one that this user's running gateway has started,
 * else the one that runs alone. Throws usage.invalid for an invalid address, and store.unreachable if there is none at
 * these: a program at the usual address is unknown, and must not be sent a password.
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
  const alone = readState(env, runningStoreFile) as Partial<RunningStore> | null | undefined;
  // Its port is its own as long as it lives.
  if (typeof alone?.url === 'string' && typeof alone.pid === 'number' && isAlive(alone.pid)) {
    return parseBaseUrl(alone.url, runningStoreFile);
  }
  refuseForeignState(env);
  throw new GatewayError('store.unreachable', noStore);
}

const noStore = `no plant store of yours is running; start one with "gateway serve", or name another one: PLANTS_URL=${standardPlantsUrl}`;

/** Undefined for the error that no store is named or running; throws any other. */
export function unlessNoStore(error: unknown): undefined {
  if (!(error instanceof GatewayError) || error.message !== noStore) throw error;
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

interface Connected {
  readonly options: CommonOptions;
  readonly connection: PlantsConnection;
  readonly client: PlantsClient;
}

const timeoutSeconds = 30;

/** A client for the store that the environment or the configuration points at, with PLANTS_TOKEN or the saved session. */
export async function connect(command: Command, io: Io): Promise<Connected> {
  const options = commonOptions(command);
  const configured = await configuredBaseUrl(options, io);
  const baseUrl = plantsBaseUrl(io.env, configured);
  await checkOwner(baseUrl, io);
  const token = io.env.PLANTS_TOKEN || readSession(io.env, baseUrl)?.token;
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new GatewayError(
      'usage.invalid',
      'PLANTS_TOKEN contains a space, a line end or another character that no token has',
    );
  }
  const connection = {
    baseUrl,
    ...(token === undefined ? {} : { token }),
    timeoutMs: (options.timeout ?? timeoutSeconds) * 1_000,
    signal: io.signal,
  };
  return { options, connection, client: createPlantsClient(connection) };
}

/** The same for commands that need a login. Throws login.required before anything is sent. */
export async function connectLoggedIn(
  command: Command,
  io: Io,
): Promise<Connected & { readonly token: string }> {
  const connected = await connect(command, io);
  const { token, baseUrl } = connected.connection;
  if (token === undefined) {
    throw new GatewayError(
      'login.required',
      `not logged in at ${baseUrl}: gateway plants login, or set PLANTS_TOKEN`,
    );
  }
  return { ...connected, token };
}

/**
 * If the store's address comes from the running gateway's state file, that gateway must be alive: neither password nor
 * session may go to whoever has taken the port of a dead one. Throws store.unreachable.
 */
async function checkOwner(baseUrl: string, { env, signal }: Io): Promise<void> {
  const running = readRunning(env);
  const isLeft = env.PLANTS_URL !== baseUrl && running?.plants_url === baseUrl;
  if (running === undefined || !isLeft) return;
  try {
    await readHealth(running, signal);
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new GatewayError(
      'store.unreachable',
      'the gateway that started the plant store is gone; start it with "gateway serve", or name a store in PLANTS_URL',
      { cause },
    );
  }
}

/** The default address doesn't count as configured: the running gateway may have started the store elsewhere. */
async function configuredBaseUrl(options: CommonOptions, io: Io): Promise<string | undefined> {
  if (options.config === undefined && (io.env.PLANTS_URL ?? '') !== '') return undefined;
  const plants = (await loadConfigured(options, io))?.config.plants;
  return plants?.baseUrl === standardPlantsUrl ? undefined : plants?.baseUrl;
}
