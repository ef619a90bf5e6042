import type { Command } from 'commander';
import { createPlantsClient, type PlantsClient, type PlantsConnection } from '../../client/plants.ts';
import { plantsBaseUrl, standardPlantsUrl } from '../../client/plants-url.ts';
import { readSession } from '../../client/session.ts';
import { GatewayError } from '../../errors.ts';
import { type CommonOptions, commonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { configuredPlants } from './configured.ts';

export interface Connected {
  readonly options: CommonOptions;
  readonly connection: PlantsConnection;
  readonly client: PlantsClient;
}

const timeoutSeconds = 30;

/** A client for the store that the environment or the configuration points at, with PLANTS_TOKEN or the kept session. */
export async function connect(command: Command, io: Io): Promise<Connected> {
  const options = commonOptions(command);
  const configured = await configuredBaseUrl(options, io);
  const baseUrl = plantsBaseUrl(io.env, configured);
  const token = io.env.PLANTS_TOKEN || readSession(io.env, baseUrl)?.token;
  const connection = {
    baseUrl,
    ...(token === undefined ? {} : { token }),
    timeoutMs: (options.timeout ?? timeoutSeconds) * 1_000,
    signal: io.signal,
  };
  return { options, connection, client: createPlantsClient(connection) };
}

/** The same for what needs a login. Throws login.required before anything is sent. */
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

/** The standard address is no choice: a store that the running gateway started elsewhere is meant then. */
async function configuredBaseUrl(options: CommonOptions, io: Io): Promise<string | undefined> {
  if (options.config === undefined && (io.env.PLANTS_URL ?? '') !== '') return undefined;
  const plants = await configuredPlants(options, io);
  return plants?.baseUrl === standardPlantsUrl ? undefined : plants?.baseUrl;
}
