import { hash } from 'node:crypto';
import { dirname, relative } from 'node:path';
import { proxiesOf } from './build/proxy.ts';
import { readSettings } from './build/settings.ts';
import { buildConfig, type Config } from './config.ts';
import { withoutSecrets } from './schema/masking.ts';
import type { Settings } from './schema/schema.ts';
import { readCaFiles } from './source/ca-files.ts';
import type { SourceDocument } from './source/document.ts';
import { type FoundConfig, findConfig, readConfigFile } from './source/find.ts';
import { type KeyFile, readKeyFiles } from './source/key-files.ts';
import { applyLogin, type WantedLogin } from './source/logins.ts';
import { applyOverrides } from './source/overrides.ts';
import { ConfigError, type Problem } from './source/problems.ts';
import { createReport, type Report } from './source/report.ts';
import { type Reference, substitute } from './source/substitute.ts';

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
}

export interface LoadedConfig {
  readonly config: Config;
  /** Absolute; undefined if there is no file. */
  readonly path: string | undefined;
  /** What the file holds. */
  readonly text: string;
  readonly warnings: readonly Problem[];
}

/** Everything about a configuration that was read, valid or not; for `config check` and `config show`. */
export interface Inspection {
  readonly found: FoundConfig | undefined;
  /** How messages name the file: as short as it goes from the working directory. */
  readonly name: string;
  readonly problems: readonly Problem[];
  /** Without what is wrong, where something is. */
  readonly settings: Settings | undefined;
  readonly references: readonly Reference[];
  readonly source: SourceDocument | undefined;
  readonly text: string;
  /** Absent exactly when a problem is an error. */
  readonly config: Config | undefined;
}

/** Finds, reads, checks and builds the configuration. Throws ConfigError (config.invalid) with all its problems. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { config, found, name, problems, text } = await inspectConfig(options);
  if (config === undefined) throw new ConfigError(name, problems);
  return { config, path: found?.path, text, warnings: problems };
}

/** As `loadConfig`, but returns the problems; throws only if the file cannot be read. */
export async function inspectConfig(options: LoadOptions): Promise<Inspection> {
  const found = await findConfig(options);
  const text = found === undefined ? '' : await readConfigFile(found.path, options);
  // Without a file the YAML parser is never loaded.
  const source = text.trim() === '' ? undefined : (await import('./source/document.ts')).parseSource(text);
  const substituted = substitute(source?.value ?? {}, options.env);
  const { malformed } = substituted;
  const overridden = applyOverrides(substituted, options.env);
  const { value, references } =
    options.login === undefined ? overridden : applyLogin(overridden, options.login);
  const report = createReport({ source, references });
  report.add(source?.problems ?? []);
  // An empty file says sandbox mode; one in which everything is commented out is more likely an accident.
  if (source?.problems.length === 0 && (source.value ?? undefined) === undefined) {
    report.error([], 'the file sets nothing', { hint: 'write {} for sandbox mode' });
  }
  for (const path of malformed) {
    report.error(path, `expected \${NAME}`, { hint: `letters, digits and _; write $\${ for a plain \${` });
  }
  reportUnset(references, report);
  const isYaml = (source?.problems ?? []).length === 0;
  const read = isYaml ? readSettings({ value, references, source, report }) : undefined;
  const checks = createReport({ source, references, leftOut: read?.leftOut ?? [] });
  const config =
    read?.settings &&
    (await build(read.settings, { ...options, ...read, references, found, text, report: checks }));
  report.add(checks.problems);
  return {
    found,
    name: found === undefined ? 'the configuration' : shortName(found.path, options.cwd),
    problems: inFileOrder(report.problems),
    settings: read?.settings,
    references,
    source,
    text,
    config: report.problems.some(({ severity }) => severity === 'error') ? undefined : config,
  };
}

function inFileOrder(problems: readonly Problem[]): readonly Problem[] {
  const position = ({ place }: Problem) =>
    place === undefined ? Number.MAX_VALUE : place.line * 1e4 + place.column;
  return problems.toSorted((a, b) => position(a) - position(b));
}

interface BuildInputs extends LoadOptions {
  readonly found: FoundConfig | undefined;
  readonly text: string;
  readonly references: readonly Reference[];
  readonly report: Report;
  readonly isSandboxMode: boolean;
  readonly needsLocalKey: boolean;
}

async function build(settings: Settings, inputs: BuildInputs): Promise<Config> {
  const { found, text, references, cwd, report, nowMs, isSandboxMode, needsLocalKey, failedTests } = inputs;
  const directory = found === undefined ? cwd : dirname(found.path);
  const [keyFiles, caFiles] = await Promise.all([
    readAllKeyFiles(settings, directory),
    readCaFiles(
      Object.values(settings.providers ?? {}).flatMap(({ ca_file }) => ca_file ?? []),
      directory,
    ),
  ]);
  const resolved = hash('sha256', `${text}\0${JSON.stringify(withoutSecrets(settings))}`, 'hex');
  return buildConfig({
    settings,
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

function readAllKeyFiles(settings: Settings, directory: string): Promise<ReadonlyMap<string, KeyFile>> {
  const keys = Object.values(settings.projects ?? {}).flatMap((project) => project.keys);
  return readKeyFiles(
    [
      ...keys.flatMap(({ file }) => file ?? []),
      ...(settings.inspector.password_file === null ? [] : [settings.inspector.password_file]),
    ],
    directory,
  );
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
