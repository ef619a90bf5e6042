import { trustedFile, trustFile } from '../../client/trusted-files.ts';
import type { Config } from '../../config/config.ts';
import type { Inspection, LoadedConfig, LoadOptions } from '../../config/load.ts';
import type { Consent, JudgedFile, Want } from '../../config/trust/wants.ts';
import { GatewayError } from '../../errors.ts';
import { askYes, canAsk } from './ask.ts';
import type { CommonOptions } from './command.ts';
import type { Io } from './io.ts';
import { note } from './print/print.ts';

// The schema and the YAML parser are loaded when a command runs, so that completing its options doesn't wait for them.

interface Named extends Pick<LoadOptions, 'found'> {
  /** From `-c`; without it the configuration is searched for. */
  readonly config?: string | undefined;
  /** Whether a person may be asked to allow what a file that was found wants; no by default. */
  readonly input?: boolean;
}

/** The configuration that a command uses; throws config.invalid and config.untrusted. */
export async function loadUserConfig(
  options: Named,
  io: Io,
  more: Partial<LoadOptions> = {},
): Promise<LoadedConfig> {
  const { loadConfig } = await import('../../config/load.ts');
  return loadConfig({ ...loadOptions(options, io), ...more });
}

/** The same, with all its problems instead of an error. */
export async function inspectUserConfig(
  options: Named,
  io: Io,
  more: Partial<LoadOptions> = {},
): Promise<Inspection> {
  const { inspectConfig } = await import('../../config/load.ts');
  return inspectConfig({ ...loadOptions(options, io), ...more });
}

/** The same, where only a valid one will do. Throws as `loadUserConfig` does. */
export async function inspectValidConfig(
  options: Named,
  io: Io,
  more: Partial<LoadOptions> = {},
): Promise<Inspection & { readonly config: Config }> {
  const inspection = await inspectUserConfig(options, io, more);
  const { config } = inspection;
  if (config !== undefined) return { ...inspection, config };
  const { unusable } = await import('../../config/load.ts');
  throw unusable(inspection);
}

function loadOptions({ config: file, found, input = false }: Named, io: Io): LoadOptions {
  const consent = askedConsent({ input }, io);
  const allowed = (path: string) => allowedIds(path, io.env);
  return { file, found, cwd: io.cwd, env: io.env, nowMs: Date.now(), consent, allowed };
}

/** What was allowed before, and nothing more: for reports, and where no one can be asked. */
export function storedConsent({ env }: Pick<Io, 'env'>): Consent {
  return async (file) => stillPending(file, env);
}

/** The same, but a person at a terminal is asked about the rest, and the answer kept if it is yes. */
export function askedConsent(options: Pick<CommonOptions, 'input'>, io: Io): Consent {
  return async (file) => {
    const pending = stillPending(file, io.env);
    if (pending.length === 0 || !file.isValid || !canAsk(options, io)) return pending;
    const { describeWants } = await import('../../config/trust/wants.ts');
    await note(describeWants(file.name, pending), io);
    if (!(await askYes('Allow all of this, for this file?', io))) {
      throw new GatewayError('config.untrusted', `${file.name} was not used: -c names another file`);
    }
    trustFile(io.env, file.path, pending);
    return [];
  };
}

function stillPending({ path, wants }: JudgedFile, env: Io['env']): readonly Want[] {
  const allowed = allowedIds(path, env);
  return wants.filter(({ id }) => !allowed.has(id));
}

function allowedIds(path: string, env: Io['env']): ReadonlySet<string> {
  return new Set(trustedFile(env, path)?.wants.map(({ id }) => id));
}
