import { randomBytes } from 'node:crypto';
import { generateKey, type KeyRecord } from '../../config/build/keys.ts';
import type { Config } from '../../config/config.ts';
import type { Inspection, LoadOptions } from '../../config/load.ts';
import { suggest } from '../../config/source/problems.ts';
import type { Reference } from '../../config/source/substitute.ts';
import { GatewayError } from '../../errors.ts';
import { withKnownMaskSecret } from '../serve/kept-secrets.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { inspectUserConfig, inspectValidConfig, storedConsent } from '../shell/load-config.ts';
import { note } from '../shell/print/print.ts';

/** The configuration's policies as `serve` would run them, and the inspection of its file. */
export interface LoadedPolicies {
  readonly config: Config;
  readonly inspection: Inspection;
  /** The key with this id; by default the only one there is. Throws usage.invalid. */
  findKey(id: string | undefined): KeyRecord;
  knownKey(id: string): KeyRecord | undefined;
}

/**
 * Loads the configuration that `serve` would use. Policies need nothing from outside a file, so one that is not
 * allowed what it wants gets made-up values instead. Throws config.invalid, but not for a rule's failed tests, and
 * config.untrusted where made-up values won't do.
 */
export async function loadPolicies(
  options: CommonOptions,
  io: Io,
  more: Pick<LoadOptions, 'withoutUserFile'> = {},
): Promise<LoadedPolicies> {
  const load = { ...more, nowMs: Date.now(), failedTests: 'warning', consent: storedConsent(io) } as const;
  const asIs = await inspectUserConfig(options, io, load);
  const { references, pending } = asIs;
  const made = standIns(pending.length === 0 ? references : references.map(asUnset));
  const names = Object.keys(made);
  const inspection =
    pending.length === 0
      ? await inspectValidConfig(options, io, { ...load, env: { ...io.env, ...made } })
      : await inspectWithout(asIs, { ...load, fileEnv: made }, io);
  if (names.length > 0 && options.quiet !== true && io.stderr.isTTY === true) {
    await note(`not set, so made-up values are used: ${names.join(', ')}\n`, io);
  }
  const own = withKnownMaskSecret(inspection.config, io.env);
  const config = own.needsLocalKey
    ? own.withKey({ id: 'local', project: 'local', value: generateKey() })
    : own;
  const keys = new Map([...config.keys.records()].map((key) => [key.id, key]));
  if (pending.length > 0) {
    const reason = 'its service is not asked before "gateway trust" allows it';
    for (const { policies } of keys.values()) policies.checks?.forbid(reason);
  }
  return { config, inspection, findKey: (id) => findKey(keys, id), knownKey: (id) => keys.get(id) };
}

function asUnset(reference: Reference): Reference {
  return { ...reference, unset: reference.names };
}

/** The file again, without anything from outside it. */
async function inspectWithout(asIs: Inspection, load: Partial<LoadOptions>, io: Io) {
  const nothing = { ...load, found: asIs.found, readsFiles: false, consent: async () => [] };
  const inspection = await inspectUserConfig({}, io, nothing);
  const { unusable } = await import('../../config/load.ts');
  if (inspection.config === undefined) throw unusable(asIs);
  return { ...inspection, config: inspection.config };
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

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Made-up values for unset variables of keys and providers, so that policies can be tried where their secrets are not
 * available (in a pull request's checks). Other variables stay unset, because their meaning is not known.
 */
function standIns(references: readonly Reference[]): Environment {
  const made: Record<string, string> = {};
  for (const { path, unset, isEntireValue } of references) {
    const [name] = unset;
    if (name === undefined || !isEntireValue) continue;
    const [section, , list] = path;
    const last = path.at(-1);
    if (section === 'providers' && last === 'base_url') made[name] = 'http://127.0.0.1:9';
    else if (section === 'providers' && (last === 'api_key' || list === 'api_keys')) made[name] ??= random();
    else if (section === 'projects' && list === 'keys' && last === 'value') made[name] ??= random();
    else if (section === 'projects' && list === 'keys' && last === 'hash') made[name] = `sha256:${random()}`;
  }
  return made;
}

function random(): string {
  return randomBytes(32).toString('hex');
}
