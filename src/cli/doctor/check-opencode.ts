import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isFields, toFields, toText } from '../../dialects/fields.ts';
import type { Io } from '../shell/io.ts';
import { readAllSettings, type SettingsFile } from '../shell/read-settings.ts';
import { about, type Diagnosis, isHere } from './finding.ts';

const { ok, warning, error } = about('opencode');

/**
 * opencode's own configuration. What `gateway run` and `gateway env` set overrides its providers' addresses and keys
 * (tried with the real one), but not a model of another provider, with which it does not start. A plain `opencode` uses
 * them.
 */
export function checkOpencode({ env, cwd }: Io, gatewayUrl: string | undefined): readonly Diagnosis[] {
  const read = readAllSettings(settingsFiles(env, cwd));
  const found = [
    ...checkModel(read),
    ...read.flatMap((each) => checkFile(each, gatewayUrl)),
    ...checkManagedOpencode({ env, cwd }, gatewayUrl),
  ];
  return found.length > 0 ? found : [ok('its own settings do not point elsewhere')];
}

/** The administrator's files: opencode merges them last, so that they override what `gateway run` sets. */
export function checkManagedOpencode(
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  gatewayUrl: string | undefined,
): readonly Diagnosis[] {
  return readAllSettings(inDirectory(managedDirectory(env, cwd))).flatMap((settings) => {
    const { file } = settings;
    // Unreadable here, such as one with comments, may be valid for opencode.
    if (settings.kind === 'broken') return [overriding(`${file} can't be checked: ${settings.reason}`)];
    const { model, enabled_providers: enabled, provider } = toFields(settings.value);
    const others = Array.isArray(enabled) ? enabled.map(toText).filter((id) => !isServed(`${id}/`)) : [];
    const elsewhere = Object.entries(toFields(provider))
      .filter(([id]) => isServed(`${id}/`))
      .filter(([, value]) => {
        const { baseURL } = toFields(toFields(value).options);
        return toText(baseURL) !== '' && !isHere(toText(baseURL), gatewayUrl);
      });
    return [
      ...(toText(model) === '' || isServed(toText(model)) ? [] : [overriding(`${file} sets model`)]),
      ...others.map((id) => overriding(`${file} has ${id} in enabled_providers`)),
      ...elsewhere.map(([id]) => overriding(`${file} sets provider.${id}.options.baseURL`)),
    ];
  });
}

function overriding(problem: string): Diagnosis {
  return error(`${problem}, and overrides what gateway run sets`, 'ask the administrator to change it');
}

function managedDirectory(env: Io['env'], cwd: string): string {
  // The variable is opencode's own.
  if (env.OPENCODE_TEST_MANAGED_CONFIG_DIR) return resolve(cwd, env.OPENCODE_TEST_MANAGED_CONFIG_DIR);
  return process.platform === 'darwin' ? '/Library/Application Support/opencode' : '/etc/opencode';
}

/** As opencode 1.18 reads them (tried with `opencode debug config`): a later one overrides an earlier one. */
function settingsFiles(env: Io['env'], cwd: string): readonly string[] {
  const home = env.HOME || homedir();
  const user = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode');
  const project = env.OPENCODE_DISABLE_PROJECT_CONFIG ? [] : projectDirectories(cwd);
  const dotDirectories = [...project, home].map((directory) => join(directory, '.opencode'));
  return [
    join(user, 'config.json'),
    ...inDirectory(user),
    ...(env.OPENCODE_CONFIG ? [resolve(cwd, env.OPENCODE_CONFIG)] : []),
    ...project.toReversed().flatMap(inDirectory),
    ...dotDirectories.flatMap(inDirectory),
    ...(env.OPENCODE_CONFIG_DIR ? inDirectory(resolve(cwd, env.OPENCODE_CONFIG_DIR)) : []),
  ];
}

function inDirectory(directory: string): readonly string[] {
  return ['opencode.json', 'opencode.jsonc'].map((name) => join(directory, name));
}

/** The current directory and those above it, up to the repository's; to the root if there is no repository. */
function projectDirectories(cwd: string): readonly string[] {
  const directories: string[] = [];
  for (let directory = cwd; ; directory = dirname(directory)) {
    directories.push(directory);
    if (existsSync(join(directory, '.git')) || dirname(directory) === directory) return directories;
  }
}

/** The model in effect: without one opencode has nothing to use. */
function checkModel(read: readonly SettingsFile[]): Diagnosis[] {
  const models = read.map(({ file, value }) => ({ file, name: toText(toFields(value).model) }));
  const last = models.findLast(({ name }) => name !== '');
  if (last === undefined || isServed(last.name)) return [];
  return [
    error(
      `${last.file} sets model to ${last.name}, which gateway run opencode does not serve`,
      'remove model from it, or name another: gateway run -m MODEL opencode',
    ),
  ];
}

/** Whether a model is of a provider that `gateway run` sets. */
function isServed(name: string): boolean {
  return /^(?:anthropic|openai|gateway)\//.test(name);
}

function checkFile(settings: SettingsFile, gatewayUrl: string | undefined): Diagnosis[] {
  const { file } = settings;
  if (settings.kind === 'missing') return [];
  if (settings.kind === 'broken') {
    // It may still be valid for opencode, which accepts comments and trailing commas.
    return [warning(`${file} is not checked: ${settings.reason}`, 'make it plain JSON, without comments')];
  }
  if (!isFields(settings.value))
    return [warning(`${file} contains no JSON object`, 'fix or remove the file')];
  const { small_model, agent, provider, disabled_providers: disabled } = settings.value;
  const models = { small_model, ...modelsOf(toFields(agent)) };
  const foreign = Object.entries(models).flatMap(([path, value]) => {
    const name = toText(value);
    return name === '' || isServed(name) ? [] : [notServed(`${file} sets ${path} to ${name}`, path)];
  });
  const off = Array.isArray(disabled) ? disabled.map(toText).filter((id) => isServed(`${id}/`)) : [];
  return [
    ...foreign,
    ...off.map((id) => notServed(`${file} has ${id} in disabled_providers`, 'disabled_providers')),
    ...Object.entries(toFields(provider)).flatMap(([id, value]) =>
      checkProvider(file, id, value, gatewayUrl),
    ),
  ];
}

function notServed(problem: string, setting: string): Diagnosis {
  return warning(`${problem}, which gateway run opencode does not serve`, `remove ${setting} from it`);
}

function modelsOf(agents: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(agents).map(([name, agent]) => [`agent.${name}.model`, toFields(agent).model]),
  );
}

function checkProvider(
  file: string,
  id: string,
  value: unknown,
  gatewayUrl: string | undefined,
): Diagnosis[] {
  const { baseURL, apiKey } = toFields(toFields(value).options);
  const url = toText(baseURL);
  if (isHere(url, gatewayUrl) || (url === '' && toText(apiKey) === '')) return [];
  const setting = `provider.${id}.options.${url === '' ? 'apiKey' : 'baseURL'}`;
  return [
    warning(
      `${file} sets ${setting}: a plain "opencode" bypasses the gateway`,
      `start it with gateway run opencode, or remove ${setting} from it`,
    ),
  ];
}
