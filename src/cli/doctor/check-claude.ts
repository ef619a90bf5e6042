import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isFields, toFields, toText } from '../../dialects/fields.ts';
import { clientOf, isCloudSwitch, pastProxies, usesProxy } from '../agents/clients.ts';
import { gitRoots, withRealPath } from '../shell/git-roots.ts';
import type { Io } from '../shell/io.ts';
import { readAllSettings, type SettingsFile } from '../shell/read-settings.ts';
import { about, type Diagnosis, proxyFault } from './finding.ts';

const { ok, warning, error } = about('claude');

/** Variables that tell Claude Code where its provider is, without its switches for other clouds. */
const leading = new Set(
  ['ANTHROPIC_BASE_URL', 'ANTHROPIC_AUTH_TOKEN', ...clientOf('claude').conflicts].filter(
    (name) => !isCloudSwitch(name),
  ),
);

/** Those of them that only lead to where ANTHROPIC_BASE_URL does. */
const harmlessHere = new Set(['ANTHROPIC_BASE_URL', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY']);

/** Addresses that are used with a cloud's switch only, which is refused itself. */
const ofClouds = /^ANTHROPIC_(?:BEDROCK|BEDROCK_MANTLE|VERTEX|FOUNDRY|AWS|GOOGLE_CLOUD)_BASE_URL$/;

/**
 * Claude Code's settings files, whose `env` overrides the environment: variables there bypass the gateway and its
 * policies, even with what `gateway run` and `gateway env` set. Newer ones than are known do so too, so whatever looks like
 * an address or a cloud's switch is a fault. `root` contains the administrator's files.
 */
export function checkClaude(
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  gatewayUrl: string | undefined,
  root = '/',
): readonly Diagnosis[] {
  const read = readFiles({ env, cwd }, root);
  const found = [
    ...read.flatMap((each) => checkFile(each, gatewayUrl)),
    ...(gatewayUrl === undefined ? [] : checkProxyExceptions(read, { env, gatewayUrl })),
  ];
  return found.length > 0 ? found : [ok('its own settings do not point elsewhere')];
}

/** Settings that keep Claude Code's own login, or the project key next to it, from the gateway. */
export function checkClaudeLogin(io: Pick<Io, 'env' | 'cwd'>): readonly Diagnosis[] {
  return readFiles(io, '/').flatMap(checkLogin);
}

/** Settings that put another key in the place of that of a run, which has the run's limits. */
export function checkClaudeKey(io: Pick<Io, 'env' | 'cwd'>): readonly Diagnosis[] {
  return readFiles(io, '/').flatMap(({ file, value }) =>
    ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY']
      .filter((name) => name in variablesOf(value))
      .map((name) =>
        error(`${file} sets ${name}, without the limits of this run`, `remove env.${name} from it`),
      ),
  );
}

/** As Claude Code 2.1.332 reads them (tried with it); 2.1.197 reads `settings.local.json` in the current folder only. */
function readFiles({ env, cwd }: Pick<Io, 'env' | 'cwd'>, root: string): readonly SettingsFile[] {
  const home = env.HOME || homedir();
  const user = env.CLAUDE_CONFIG_DIR || join(home, '.claude');
  const folders = withRealPath(cwd);
  const project = [
    ...folders.map((folder) => join(folder, '.claude', 'settings.json')),
    ...[...folders, ...folders.flatMap(gitRoots)].map((folder) =>
      join(folder, '.claude', 'settings.local.json'),
    ),
  ];
  return readAllSettings([
    join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    join(user, '.config.json'),
    join(user, 'settings.json'),
    join(user, 'cowork_settings.json'),
    ...project,
    ...['etc/claude-code', 'Library/Application Support/ClaudeCode'].flatMap((directory) =>
      managedFiles(join(root, directory)),
    ),
  ]);
}

function checkLogin({ file, value }: SettingsFile): Diagnosis[] {
  const own = variablesOf(value);
  const settingsOfLogin = [
    ...('apiKeyHelper' in toFields(value) ? ['apiKeyHelper'] : []),
    ...('ANTHROPIC_CUSTOM_HEADERS' in own ? ['env.ANTHROPIC_CUSTOM_HEADERS'] : []),
  ];
  return settingsOfLogin.map((name) =>
    error(`${file} sets ${name}, which keeps its login from the gateway`, `remove ${name} from it`),
  );
}

/** The administrator's file and the fragments that are merged into it, by name. */
function managedFiles(directory: string): readonly string[] {
  const fragments = join(directory, 'managed-settings.d');
  return [
    join(directory, 'managed-settings.json'),
    ...namesIn(fragments).map((name) => join(fragments, name)),
  ];
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.json'))
      .sort();
  } catch {
    return []; // Claude Code can't read it either.
  }
}

/** A list of exceptions in a file replaces that of `gateway run`. */
function checkProxyExceptions(
  read: readonly SettingsFile[],
  { env, gatewayUrl }: { readonly env: Io['env']; readonly gatewayUrl: string },
): Diagnosis[] {
  const own = read.map(({ value }) => variablesOf(value));
  const variables = Object.assign({}, env, pastProxies(gatewayUrl, env), ...own);
  const last = read.findLast(
    (_each, index) => 'NO_PROXY' in (own[index] ?? {}) || 'no_proxy' in (own[index] ?? {}),
  );
  if (last === undefined || !usesProxy(gatewayUrl, variables)) return [];
  return [error(...proxyFault(last.file, 'env.NO_PROXY', gatewayUrl))];
}

function variablesOf(settings: unknown): Readonly<Record<string, unknown>> {
  return toFields(toFields(settings).env);
}

function checkFile(settings: SettingsFile, gatewayUrl: string | undefined): Diagnosis[] {
  const { file } = settings;
  if (settings.kind === 'missing') return [];
  if (settings.kind === 'broken')
    return [error(`${file} can't be read: ${settings.reason}`, 'fix or remove the file')];
  if (!isFields(settings.value)) return [error(`${file} contains no JSON object`, 'fix or remove the file')];
  const own = variablesOf(settings.value);
  const url = toText(own.ANTHROPIC_BASE_URL);
  const isHere = url !== '' && gatewayUrl !== undefined && isSame(url, gatewayUrl);
  // A key next to the gateway's own address only goes to the gateway.
  const findings = Object.entries(own)
    .filter(([name, value]) => leadsElsewhere(name, value) && !(isHere && harmlessHere.has(name)))
    .map(([name]) =>
      error(`${file} sets ${name}, which overrides the environment`, `remove env.${name} from it`),
    );
  if (!isHere && toText(settings.value.apiKeyHelper) !== '') {
    findings.push(
      warning(
        `${file} sets apiKeyHelper, whose key is sent too`,
        'remove it, or have it print the project key',
      ),
    );
  }
  return findings;
}

/** Whether a variable leads requests elsewhere, as far as it isn't known to be about something else. */
function leadsElsewhere(name: string, value: unknown): boolean {
  if (isCloudSwitch(name)) return isOn(value);
  // Also if it is empty: then it takes the place of what `gateway run` sets.
  if (leading.has(name)) return true;
  if (!/^_?(?:ANTHROPIC|CLAUDE)_/.test(name) || ofClouds.test(name)) return false;
  const isNamedSo = /_(?:URL|URI|HOST|ENDPOINT|SOCKET|ADDRESS|PROXY|ORIGIN|BASE|DOMAIN)$/.test(name);
  return (isNamedSo && toText(value) !== '') || /^\s*[a-z][a-z0-9+.-]*:\/\/\S+\s*$/i.test(toText(value));
}

/** Variables of the environment that would have Claude Code use another cloud, were it to get them. */
export function cloudsOf(env: Io['env']): readonly string[] {
  return Object.keys(env).filter((name) => isCloudSwitch(name) && isOn(env[name]));
}

/** Claude Code 2.1.332 takes `1`, `true`, `yes` and `on`; another version may take more. */
function isOn(value: unknown): boolean {
  return !['', '0', 'false', 'no', 'off', 'null'].includes(String(value).trim().toLowerCase());
}

function isSame(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).origin === new URL(other).origin;
}
