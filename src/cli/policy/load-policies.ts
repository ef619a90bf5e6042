import { generateKey, type KeyRecord } from '../../config/build/keys.ts';
import type { Config } from '../../config/config.ts';
import { type Inspection, inspectConfig, type LoadOptions } from '../../config/load.ts';
import { ConfigError, suggest } from '../../config/source/problems.ts';
import { GatewayError } from '../../errors.ts';
import type { CommonOptions } from '../shell/command.ts';
import { type Io, write } from '../shell/io.ts';
import { standIns } from './stand-ins.ts';

/** The configuration's policies as `serve` would run them, and the inspection of its file. */
export interface LoadedPolicies {
  readonly config: Config;
  readonly inspection: Inspection;
  /** The key with this id; by default the only one there is. Throws usage.invalid. */
  findKey(id: string | undefined): KeyRecord;
  knownKey(id: string): KeyRecord | undefined;
}

/** Loads the configuration that `serve` would use. Throws config.invalid, but not for a rule's failed tests. */
export async function loadPolicies(options: CommonOptions, io: Io): Promise<LoadedPolicies> {
  const load: LoadOptions = {
    file: options.config,
    cwd: io.cwd,
    env: io.env,
    nowMs: Date.now(),
    failedTests: 'warning',
  };
  const asIs = await inspectConfig(load);
  const made = standIns(asIs.references);
  const names = Object.keys(made);
  const inspection =
    names.length === 0 ? asIs : await inspectConfig({ ...load, env: { ...io.env, ...made } });
  if (inspection.config === undefined) throw new ConfigError(inspection.name, inspection.problems);
  if (names.length > 0 && options.quiet !== true && io.stderr.isTTY === true) {
    await write(io.stderr, `not set, so made-up values are used: ${names.join(', ')}\n`);
  }
  const config = inspection.config.needsLocalKey
    ? inspection.config.withKey({ id: 'local', project: 'local', value: generateKey() })
    : inspection.config;
  const keys = new Map([...config.keys.records()].map((key) => [key.id, key]));
  return { config, inspection, findKey: (id) => findKey(keys, id), knownKey: (id) => keys.get(id) };
}

function findKey(keys: ReadonlyMap<string, KeyRecord>, id: string | undefined): KeyRecord {
  const ids = [...keys.keys()];
  if (id === undefined) {
    const [only] = keys.values();
    if (only !== undefined && keys.size === 1) return only;
    const which = ids.length === 0 ? 'the configuration has none' : `there are ${ids.join(', ')}`;
    throw new GatewayError('usage.invalid', `name the key of the request by its id: ${which}`, {
      param: 'key',
    });
  }
  const key = keys.get(id);
  if (key !== undefined) return key;
  const hint = suggest(id, ids) ?? (ids.length === 0 ? 'there are none' : `there are ${ids.join(', ')}`);
  throw new GatewayError('usage.invalid', `there is no key with the id ${id}; ${hint}`, { param: 'key' });
}
