import { hash } from 'node:crypto';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isFields, toFields } from '../dialects/fields.ts';
import { stateDirectory as stateDirectoryOf } from '../directories.ts';
import type { GatewayError } from '../errors.ts';
import type { DetectorName } from '../policy/detectors/names.ts';
import { withMaskPolicy } from './build/own-policies.ts';
import { proxiesOf } from './build/proxy.ts';
import { type ReadSettings, readSettings } from './build/settings.ts';
import { buildConfig, type Config } from './config.ts';
import { wantsNumberOrBoolean } from './schema/reach.ts';
import { type Settings, settingsSchema, withoutSecrets } from './schema/schema.ts';
import type { SourceDocument } from './source/document.ts';
import { type FoundConfig, findConfig, readConfigFile, userDirectory } from './source/find.ts';
import { applyLogin, type Read, type WantedLogin } from './source/logins.ts';
import { readCaFile, readEach, readKeyFile } from './source/named-files.ts';
import { ConfigError, inFileOrder, type Problem } from './source/problems.ts';
import { createReport, type Report } from './source/report.ts';
import { type Reference, substitute } from './source/substitute.ts';
import { liesIn, realPathOf } from './trust/real-path.ts';
import { type Consent, untrusted, type Want, wantsOf } from './trust/wants.ts';

export interface LoadOptions {
  /** Of --config; without it GATEWAY_CONFIG, then the search decides. */
  readonly file?: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
  /** Refuses what is no regular file, such as a pipe, which can't be read a second time. */
  readonly mustBeFile?: boolean;
  /** What a rule's own test that fails is; `policy test` loads such a configuration all the same. */
  readonly failedTests?: 'error' | 'warning';
  /** An agent's login to use where no key is configured. */
  readonly login?: WantedLogin | undefined;
  /** Replaces the search: the file to load again, and how it was found. */
  readonly found?: FoundConfig | undefined;
  /** False: files that it names are left unread. */
  readonly readsFiles?: boolean | undefined;
  /** Who decides about a file that was found rather than named; without it such a file gets nothing from outside. */
  readonly consent?: Consent | undefined;
  /** Detectors whose findings are masked, whatever the file says. */
  readonly mask?: readonly DetectorName[] | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Absolute; undefined if there is no file. */
  readonly path: string | undefined;
  readonly found: FoundConfig | undefined;
  /** What the file holds. */
  readonly text: string;
  readonly warnings: readonly Problem[];
}

/** Everything about a configuration that was read, valid or not; for `config check` and `config show`. */
export interface Inspection {
  readonly found: FoundConfig | undefined;
  /** How messages name the file: as short as it goes from the working directory. */
  readonly name: string;
  /** In the order in which they were found; those of LoadedConfig are in the order of the file. */
  readonly problems: readonly Problem[];
  /** Without what is wrong, where something is. */
  readonly settings: Settings | undefined;
  readonly references: readonly Reference[];
  readonly source: SourceDocument | undefined;
  readonly text: string;
  /** Everything that the file wants from outside itself. */
  readonly wants: readonly Want[];
  /** What of it nobody has allowed, which keeps a valid file from being used; each is an error among the problems. */
  readonly pending: readonly Want[];
  /** Absent exactly when a problem is an error. */
  readonly config: Config | undefined;
}

/** Finds, reads, checks and builds the configuration. Throws ConfigError (config.invalid) with all its problems, and config.untrusted. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const inspection = await inspectConfig(options);
  const { config, found, problems, text } = inspection;
  if (config === undefined) throw unusable(inspection);
  return { config, path: found?.path, found, text, warnings: inFileOrder(problems) };
}

/** Why a configuration can't be used: what is wrong with it, or that nobody has allowed what it wants. */
export function unusable(inspection: Inspection): GatewayError {
  const { name, problems, pending } = inspection;
  return isInvalid(inspection) ? new ConfigError(name, problems) : untrusted(name, pending);
}

/** Throws config.invalid for a file with errors, allowed or not. */
export function refuseInvalid(inspection: Inspection): void {
  if (isInvalid(inspection)) throw unusable(inspection);
}

function isInvalid({ problems }: Inspection): boolean {
  return problems.some(({ severity, kind }) => severity === 'error' && kind !== 'want');
}

/** As `loadConfig`, but returns the problems; throws only if the file cannot be read. */
export async function inspectConfig(options: LoadOptions): Promise<Inspection> {
  const found = options.found ?? (await findConfig(options));
  const text = found === undefined ? '' : await readConfigFile(found.path, options);
  const name = found === undefined ? 'the configuration' : shortName(found.path, options.cwd);
  // Without a file the YAML parser is never loaded.
  const source =
    found === undefined
      ? undefined
      : (await import('./source/document.ts')).parseSource(text, (path) =>
          wantsNumberOrBoolean(settingsSchema, path),
        );
  const substituted = substitute(source?.value ?? {}, options.env);
  const { malformed } = substituted;
  const overridden = withPlantsUrl(substituted, options.env.PLANTS_URL);
  const { value, references } =
    options.login === undefined ? overridden : applyLogin(overridden, options.login);
  const report = createReport({ source, references });
  report.add(source?.problems ?? []);
  // Whoever has a file means something by it: one that is empty, or commented out, is more likely an accident.
  if (source?.problems.length === 0 && (source.value ?? undefined) === undefined) {
    report.error([], 'the file sets nothing', { hint: 'write {} for sandbox mode' });
  }
  for (const path of malformed) {
    report.error(path, `expected \${NAME}`, { hint: `letters, digits and _; write $\${ for a plain \${` });
  }
  reportUnset(references, report);
  const isYaml = (source?.problems ?? []).length === 0;
  const read = isYaml ? masked(readSettings({ value, references, source, report }), options.mask) : undefined;
  const isValid = !report.problems.some(({ severity }) => severity === 'error');
  const file = { written: source?.value, references: substituted.references };
  const directory = found === undefined ? options.cwd : dirname(found.path);
  const stateDirectory = stateDirectoryOf(options.env);
  const wants = found === undefined ? [] : wantsOf({ ...file, directory, stateDirectory });
  const isAsked = found !== undefined && wants.length > 0 && !isTheUsers(found, options.env);
  const ask = options.consent ?? (async () => wants);
  const pending = isAsked ? await ask({ path: realPathOf(found.path), name, wants, isValid }) : [];
  const checks = createReport({ source, references, leftOut: read?.leftOut ?? [] });
  const readsFiles = options.readsFiles !== false && pending.length === 0;
  const config =
    read?.settings &&
    (await build(read.settings, {
      ...options,
      ...read,
      readsFiles,
      references,
      directory,
      text,
      report: checks,
    }));
  report.add(checks.problems);
  for (const { text: want, path } of pending) {
    report.error(path, `nobody has allowed: ${want}`, { kind: 'want', hint: '"gateway trust" allows it' });
  }
  return {
    found,
    name,
    problems: report.problems,
    settings: read?.settings,
    references,
    source,
    text,
    wants,
    pending,
    config: report.problems.some(({ severity }) => severity === 'error') || !config ? undefined : config,
  };
}

/** The environment comes before the file: PLANTS_URL replaces what that says. */
function withPlantsUrl(read: Read, url: string | undefined): Read {
  const { value, references } = read;
  if (!url || !isFields(value) || !isFields(value.plants ?? {})) return read;
  const path = ['plants', 'base_url'] as const;
  const own = { path, names: ['PLANTS_URL'], isWhole: true, unset: [] };
  const others = references.filter((other) => other.path.join('.') !== path.join('.'));
  const plants = { ...toFields(value.plants), base_url: url };
  return { value: { ...value, plants }, references: [...others, own] };
}

function masked(read: ReadSettings, mask: LoadOptions['mask']): ReadSettings {
  if (read.settings === undefined || mask === undefined) return read;
  return { ...read, settings: withMaskPolicy(read.settings, mask) };
}

/**
 * Whether it was named, or found in the user's own configuration directory. A link elsewhere that leads there is not the
 * user's: files that it names are looked for beside the link.
 */
function isTheUsers({ path, from }: FoundConfig, env: LoadOptions['env']): boolean {
  return from !== 'project' || liesIn(join(realPathOf(dirname(path)), basename(path)), userDirectory(env));
}

interface BuildInputs extends LoadOptions {
  readonly directory: string;
  readonly text: string;
  readonly references: readonly Reference[];
  readonly report: Report;
  readonly isSandboxMode: boolean;
  readonly needsLocalKey: boolean;
}

async function build(settings: Settings, inputs: BuildInputs): Promise<Config> {
  const { directory, text, references, report, nowMs, isSandboxMode, needsLocalKey, failedTests } = inputs;
  const { readsFiles = true } = inputs;
  const [keyFiles, caFiles] = await Promise.all([
    readEach(readsFiles ? keyFilesOf(settings) : [], directory, readKeyFile),
    readEach(readsFiles ? caFilesOf(settings) : [], directory, readCaFile),
  ]);
  const resolved = hash('sha256', `${text}\0${JSON.stringify(withoutSecrets(settings))}`, 'hex');
  return buildConfig({
    settings: withAbsolutePaths(settings, directory),
    references,
    keyFiles,
    caFiles,
    proxies: proxiesOf(inputs.env),
    report,
    nowMs,
    isSandboxMode,
    needsLocalKey,
    failedTests,
    hash: resolved,
  });
}

/** The files that are written, whose paths are relative to the configuration's directory as all others are. */
function withAbsolutePaths(settings: Settings, directory: string): Settings {
  const { records, plants } = settings;
  const absolute = (file: string | null) => (file === null ? null : resolve(directory, file));
  const { store } = plants;
  const database = store.database?.replace(
    /^sqlite:(.+)$/s,
    (_, file) => `sqlite:${resolve(directory, file)}`,
  );
  return {
    ...settings,
    records: { ...records, file: absolute(records.file), ledger_file: absolute(records.ledger_file) },
    plants: { ...plants, store: { ...store, database: database ?? null } },
  };
}

function keyFilesOf({ projects = {}, inspector }: Settings): readonly string[] {
  const keys = Object.values(projects).flatMap((project) => project.keys);
  return [...keys.flatMap(({ file }) => file ?? []), inspector.password_file ?? []].flat();
}

function caFilesOf({ providers = {} }: Settings): readonly string[] {
  return Object.values(providers).flatMap(({ ca_file }) => ca_file ?? []);
}

/** An unset variable disables a provider or a key; anywhere else there is nothing that could do without it. */
function reportUnset(references: readonly Reference[], report: Report): void {
  for (const { path, unset } of references) {
    const [section, , list] = path;
    const disables =
      (section === 'providers' && path.length > 2) || (section === 'projects' && list === 'keys');
    if (unset.length === 0 || disables) continue;
    report.error(path, `environment variable ${unset.join(', ')} is not set`);
  }
}

function shortName(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === '' || short.startsWith('..') ? path : short;
}
