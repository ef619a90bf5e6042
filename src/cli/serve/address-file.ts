import { hash } from 'node:crypto';
import { isAlive, type RunningGateway, readRunning, runningFile } from '../../client/address.ts';
import { removeState, writeState } from '../../client/state.ts';
import type { Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { protectionOf } from '../../config/successor.ts';
import type { OwnerProof } from '../../lib/owner-proof.ts';
import type { PlantsService, Services } from '../../server/services.ts';
import type { Io } from '../shell/io.ts';

/** Set for a gateway in the background: where it logs. */
export const detachedLog = 'GATEWAY_DETACHED_LOG';

interface AddressFileOptions {
  readonly services: Services;
  readonly since: Date;
  /** The key of this user's own commands, if the configuration accepts one. */
  readonly ownKey: (config: Config) => string | undefined;
  readonly ownerProof: OwnerProof;
}

/** What this gateway writes for the other commands of the same user, so that they need no settings. */
export interface AddressFile {
  write(loaded: LoadedConfig): void;
  /** The file has changed and can't be used. */
  noteRefused(message: string): void;
  /** Removes it; an earlier gateway that is still running becomes visible again. */
  remove(): void;
}

/** For a gateway that other commands must not find. */
export const noAddressFile: AddressFile = {
  write: () => undefined,
  noteRefused: () => undefined,
  remove: () => undefined,
};

export function openAddressFile({ env }: Io, options: AddressFileOptions): AddressFile {
  const { services, since, ownKey, ownerProof } = options;
  const previous = readRunning(env);
  const isOurs = () => {
    const running = readRunning(env);
    return running?.pid === process.pid && running.url === services.url;
  };
  let wasWritten = false;
  return {
    write: ({ config, path, text }) => {
      // A second gateway of this user owns the file now; a reload here leaves it alone.
      if (wasWritten && !isOurs()) return;
      wasWritten = true;
      const key = ownKey(config);
      const running: RunningGateway = {
        url: services.url,
        pid: process.pid,
        ...(env[detachedLog] === undefined ? {} : { log: env[detachedLog] }),
        proof: ownerProof,
        since: since.toISOString(),
        ...(key === undefined ? {} : { key }),
        ...(config.defaultModel === undefined ? {} : { default_model: config.defaultModel }),
        agent_models: config.agentModels,
        config: {
          path: path ?? null,
          hash: config.hash,
          text_hash: hash('sha256', text),
          ...protectionOf(config),
          since: new Date().toISOString(),
        },
        ...placeOfPlants(services.plants, previous),
      };
      writeState(env, runningFile, running);
    },
    noteRefused: (message) => {
      const running = readRunning(env);
      if (running === undefined || !isOurs()) return;
      writeState(env, runningFile, { ...running, refused: { message, since: new Date().toISOString() } });
    },
    remove: () => {
      if (!isOurs()) return;
      if (previous !== undefined && isAlive(previous.pid)) writeState(env, runningFile, previous);
      else removeState(env, runningFile);
    },
  };
}

/** The earlier gateway's store is the same user's; any other store may be anybody's. */
function placeOfPlants(
  plants: PlantsService | undefined,
  previous: RunningGateway | undefined,
): Pick<RunningGateway, 'plants_url' | 'plants_problem'> {
  if (plants === undefined) return {};
  if ('url' in plants) return { plants_url: plants.url };
  const known = previous !== undefined && isAlive(previous.pid) ? previous.plants_url : undefined;
  return known === undefined ? { plants_problem: plants.problem } : { plants_url: known };
}
