import { hash } from 'node:crypto';
import { basename, dirname, join, relative } from 'node:path';
import { isFields, toFields } from '../dialects/fields.ts';
import type { GatewayError } from '../errors.ts';
import { stateDirectory as stateDirectoryOf } from '../lib/directories.ts';
import type { DetectorName } from '../policy/detectors/names.ts';
import { withMaskPolicy } from './build/own-policies.ts';
import { proxiesOf } from './build/proxy.ts';
import type { ReadSettings } from './build/settings.ts';
import { buildConfig, type Config } from './config.ts';
import { type ParsedFile, parseFile } from './parse-file.ts';
import { type Settings, withoutSecrets } from './schema/schema.ts';
import type { SourceDocument } from './source/document.ts';
import { absolutePath, homeOf, type PathBase } from './source/file-path.ts';
import {
  type FoundConfig,
  findConfig,
  readConfigFile,
  unusedUserFile,
  userDirectory,
} from './source/find.ts';
import { readKeptTable } from './source/kept-table.ts';
import { applyLogin, type Read, type WantedLogin } from './source/logins.ts';
import { readCaFile, readEach, readKeyFile, withExtraAuthorities } from './source/named-files.ts';
import { ConfigError, inFileOrder, type Problem } from './source/problems.ts';
import { liesIn, realPathOf } from './source/real-path.ts';
import { type Borrowed, createReport, type ProblemSink } from './source/report.ts';
import type { Reference } from './source/substitute.ts';
import { type Consent, untrusted, type Want, wantsOf } from './trust/wants.ts';
import {
  type Protected,
  readUserFile,
  type UserFile,
  type UserProtection,
  warnOfLeftLimits,
  warnOfModelNames,
  withUserProtection,
} from './user-file.ts';

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
  /** Detectors whose findings are masked in addition to the file's rules. */
  readonly mask?: readonly DetectorName[] | undefined;
  /** What `${NAME}` in the file stands for, where that is not to come from the environment. */
  readonly fileEnv?: LoadOptions['env'] | undefined;
  /** True: nothing of the user's own file holds over another one, so that the result is the same for everybody. */
  readonly withoutUserFile?: boolean | undefined;
  /** The file that problems name, where the one that is read is its draft. */
  readonly namedAs?: string | undefined;
  /** Ids of what this user has allowed the file at a real path. */
  readonly allowed?: ((path: string) => ReadonlySet<string>) | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** Absolute; undefined if there is no file. */
  readonly path: string | undefined;
  readonly found: FoundConfig | undefined;
  /** What the file holds. */
  readonly text: string;
  /** What of the user's own file holds over it; undefined if there is none, or if it is the file. */
  readonly user: UserProtection | undefined;
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
  /** What of the settings is the user's own file's. */
  readonly borrowed: Borrowed | undefined;
  readonly user: UserProtection | undefined;
  readonly text: string;
  /** Everything that the file wants from outside itself. */
  readonly wants: readonly Want[];
  /** What is not allowed yet, which keeps a valid file from being used; each is an error among the problems. */
  readonly pending: readonly Want[];
  /** Absent exactly when a problem is an error. */
  readonly config: Config | undefined;
}

/**
 * Finds, reads, checks and builds the configuration. Throws ConfigError (config.invalid) with all its problems, and
 * config.untrusted.
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const inspection = await inspectConfig(options);
  const { config, found, problems, text, user } = inspection;
  if (config === undefined) throw unusable(inspection);
  return { config, path: found?.path, found, text, user, warnings: inFileOrder(problems) };
}

/** Why a configuration can't be used: what is wrong with it, or that what it wants is not allowed yet. */
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

/** As `loadConfig`, but returns the problems; throws only if a file cannot be read. */
export async function inspectConfig(options: LoadOptions): Promise<Inspection> {
  const { cwd, env, login } = options;
  const found = options.found ?? (await findConfig(options));
  const isFound = found !== undefined && !isTheUsers(found, env);
  const mustBeFile = options.mustBeFile === true || found?.from === 'project' || found?.from === 'user';
  const text = found === undefined ? undefined : await readConfigFile(found.path, { mustBeFile });
  const name = found === undefined ? 'the configuration' : shortName(options.namedAs ?? found.path, cwd);
  const parsed = await parseFile(text, {
    env: options.fileEnv ?? env,
    mayQuote: !(isFound && isLink(found.path)),
    amend: (read) => {
      const overridden = withPlantsUrl(read, env.PLANTS_URL);
      return login === undefined ? overridden : applyLogin(overridden, login);
    },
  });
  const { source, report, ownReferences } = parsed;
  warnOfAdditions(ownReferences, options.fileEnv ?? env, report);
  const user = options.withoutUserFile === true ? undefined : await readUserFile(found, env);
  report.add(user?.problems ?? []);
  if (options.withoutUserFile !== true) report.add(await passedOverUserFile(found, env));
  const read = protectedBy(user, found, masked(parsed, options.mask), options, report);
  const { references } = read;
  const isValid = !report.problems.some(({ severity }) => severity === 'error');
  const base = { directory: found === undefined ? cwd : dirname(found.path), home: homeOf(env) };
  const file = { written: source?.value, references: ownReferences };
  const wants = found === undefined ? [] : wantsOf({ ...file, base, stateDirectory: stateDirectoryOf(env) });
  const ask = options.consent ?? (async () => wants);
  const pending =
    isFound && wants.length > 0 ? await ask({ path: realPathOf(found.path), name, wants, isValid }) : [];
  const checks = createReport({ ...read, source });
  const readsFiles = options.readsFiles !== false && pending.length === 0;
  const config =
    read.settings &&
    (await build(read.settings, {
      ...options,
      ...read,
      readsFiles,
      base,
      text: text ?? '',
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
    settings: read.settings,
    references,
    source,
    borrowed: read.borrowed,
    user: read.protection,
    text: text ?? '',
    wants,
    pending,
    config: report.problems.some(({ severity }) => severity === 'error') || !config ? undefined : config,
  };
}

/**
 * `docker --env-file` takes quotation marks for a part of the value, unlike shells and systemd, and files of Windows and
 * secrets of Kubernetes often end with the end of a line.
 */
function warnOfAdditions(
  references: readonly Reference[],
  env: LoadOptions['env'],
  report: ProblemSink,
): void {
  for (const { path, names } of references) {
    const ended = names.find((name) => /[\r\n]$/.test(env[name] ?? ''));
    if (ended !== undefined) {
      report.warn(path, `${ended} ends with the end of a line, which is a part of its value`, {
        hint: 'write it without: printf %s in place of echo, and no \\r\\n in the file that it is read from',
      });
    }
    const quoted = names.find((name) => /^(["']).*\1$/s.test(env[name] ?? ''));
    if (quoted === undefined) continue;
    report.warn(path, `${quoted} stands in quotation marks, which are a part of its value`, {
      hint: 'write it without them: docker --env-file keeps them',
    });
  }
}

/** The settings with what of the user's own file holds over them; the file's own if one of the two makes no sense. */
function protectedBy(
  user: UserFile | undefined,
  found: FoundConfig | undefined,
  read: ReadSettings & Pick<ParsedFile, 'references'>,
  { allowed = () => new Set() }: LoadOptions,
  report: ProblemSink,
): ReadSettings & Pick<ParsedFile, 'references'> & Partial<Pick<Protected, 'borrowed' | 'protection'>> {
  if (user?.settings === undefined || read.settings === undefined || found === undefined) return read;
  const own = { ...user, settings: user.settings };
  warnOfLeftLimits(own, report);
  warnOfModelNames(own, report);
  const used = { settings: read.settings, references: read.references };
  return { ...read, ...withUserProtection(own, { ...used, allowed: allowed(realPathOf(found.path)) }) };
}

/** That a file where users usually have their own is not it, since the environment names another directory. */
async function passedOverUserFile(
  found: FoundConfig | undefined,
  env: LoadOptions['env'],
): Promise<readonly Problem[]> {
  const path = await unusedUserFile(env);
  if (path === undefined || (found !== undefined && realPathOf(found.path) === realPathOf(path))) return [];
  const message = `${path} is not used, and none of its policies holds: XDG_CONFIG_HOME is ${env.XDG_CONFIG_HOME}`;
  return [{ severity: 'warning', path: [], message, hint: `-c ${path} uses it, or a link to it from there` }];
}

/** Whether a path's last step is a link: a file that came from elsewhere may lead to any file of the user's. */
function isLink(path: string): boolean {
  return realPathOf(path) !== join(realPathOf(dirname(path)), basename(path));
}

/** The environment comes before the file: PLANTS_URL replaces what that says. */
function withPlantsUrl(read: Read, url: string | undefined): Read {
  const { value, references } = read;
  if (!url || !isFields(value) || !isFields(value.plants ?? {})) return read;
  const path = ['plants', 'base_url'] as const;
  const own = { path, names: ['PLANTS_URL'], isEntireValue: true, unset: [] };
  const others = references.filter((other) => other.path.join('.') !== path.join('.'));
  const plants = { ...toFields(value.plants), base_url: url };
  return { value: { ...value, plants }, references: [...others, own] };
}

function masked(
  { read, references }: ParsedFile,
  mask: LoadOptions['mask'],
): ReadSettings & Pick<ParsedFile, 'references'> {
  const none = { settings: undefined, leftOut: [], isSandboxMode: false, needsLocalKey: false };
  const { settings, ...rest } = read ?? none;
  const { isSandboxMode } = rest;
  const all =
    settings === undefined || mask === undefined
      ? settings
      : withMaskPolicy({ isSandboxMode, settings }, mask);
  return { ...rest, settings: all, references };
}

/**
 * Whether it was named, or found in the user's own configuration directory. A link elsewhere that leads there is not the
 * user's: files that it names are looked for beside the link.
 */
function isTheUsers({ path, from }: FoundConfig, env: LoadOptions['env']): boolean {
  return from !== 'project' || liesIn(join(realPathOf(dirname(path)), basename(path)), userDirectory(env));
}

interface BuildInputs extends LoadOptions {
  readonly base: PathBase;
  readonly text: string;
  readonly references: readonly Reference[];
  readonly report: ProblemSink;
  readonly isSandboxMode: boolean;
  readonly needsLocalKey: boolean;
}

async function build(settings: Settings, inputs: BuildInputs): Promise<Config> {
  const { base, text, references, report, nowMs, isSandboxMode, needsLocalKey, failedTests } = inputs;
  const { readsFiles = true } = inputs;
  const [keyFiles, caFiles] = await Promise.all([
    readEach(readsFiles ? keyFilesOf(settings) : [], base, readKeyFile),
    readEach(readsFiles ? caFilesOf(settings) : [], base, readCaFile),
  ]);
  const kept = await readKeptTable(inputs.env);
  if (kept?.fault !== undefined) {
    const hint =
      '"gateway models update" takes prices over anew, with --remove it goes back to those built in';
    report.warn([], `the prices in ${kept.path} are not used: ${kept.fault}`, { hint });
  }
  const table = kept?.table === undefined ? '' : `\0${kept.path}`; // its name has its hash
  const resolved = hash('sha256', `${text}\0${JSON.stringify(withoutSecrets(settings))}${table}`, 'hex');
  return buildConfig({
    settings: withAbsolutePaths(settings, base),
    references,
    keyFiles,
    caFiles: await withExtraAuthorities(caFiles, inputs.env.NODE_EXTRA_CA_CERTS),
    proxies: proxiesOf(inputs.env),
    ...(kept?.table && { modelTable: kept.table }),
    report,
    nowMs,
    isSandboxMode,
    needsLocalKey,
    failedTests,
    hash: resolved,
  });
}

/** With absolute paths of the files that are not read here. */
function withAbsolutePaths(settings: Settings, base: PathBase): Settings {
  const { records, plants } = settings;
  const { store } = plants;
  const absolute = (file: string | null) => (file === null ? null : absolutePath(file, base));
  const inDatabase = (url: string | null) =>
    url === null || !url.startsWith('sqlite:')
      ? withCertificates(url, base)
      : `sqlite:${absolutePath(url.slice('sqlite:'.length), base)}`;
  return {
    ...settings,
    records: {
      ...records,
      file: absolute(records.file),
      ledger_file: absolute(records.ledger_file),
      ledger_database: withCertificates(records.ledger_database, base),
    },
    plants: { ...plants, store: { ...store, database: inDatabase(store.database) } },
  };
}

/** PostgreSQL's client reads the files that its URL names, from wherever it runs. */
function withCertificates(url: string | null, { directory, home }: PathBase): string | null {
  if (url === null) return null;
  return url.replace(/([?&]ssl(?:rootcert|cert|key)=)(?!\/|%2F|&|#|$)(~\/)?/gi, (_, name, isInHome) => {
    const start = isInHome === undefined ? directory : home;
    return `${name}${encodeURIComponent(start)}/`;
  });
}

function keyFilesOf({ projects = {}, inspector }: Settings): readonly string[] {
  const keys = Object.values(projects).flatMap((project) => project.keys);
  return [...keys.flatMap(({ file }) => file ?? []), inspector.password_file ?? []].flat();
}

function caFilesOf({ providers = {} }: Settings): readonly string[] {
  return Object.values(providers).flatMap(({ ca_file }) => ca_file ?? []);
}

function shortName(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short === '' || short.startsWith('..') ? path : short;
}
