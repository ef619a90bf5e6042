import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isFields, toFields, toText } from '../../dialects/fields.ts';
import { clientOf, otherClouds, pastProxies, usesProxy } from '../agents/clients.ts';
import type { Io } from '../shell/io.ts';
import { readAllSettings, type SettingsFile } from '../shell/read-settings.ts';
import { about, type Diagnosis, proxyFault } from './finding.ts';

const { ok, warning, error } = about('claude');

/** Variables that matter with any ANTHROPIC_BASE_URL. */
const detours = ['ANTHROPIC_UNIX_SOCKET', ...otherClouds] as const;

/** Variables that tell Claude Code where its provider is. */
const leading = ['ANTHROPIC_BASE_URL', 'ANTHROPIC_AUTH_TOKEN', ...clientOf('claude').conflicts];

/**
 * Claude Code's settings files, whose `env` overrides the environment: variables there bypass the gateway and its
 * policies, even with what `gateway run` and `gateway env` set. `root` contains the administrator's files.
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

function readFiles({ env, cwd }: Pick<Io, 'env' | 'cwd'>, root: string): readonly SettingsFile[] {
  const user = env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude');
  return readAllSettings([
    join(user, 'settings.json'),
    join(cwd, '.claude', 'settings.json'),
    join(cwd, '.claude', 'settings.local.json'),
    ...['etc/claude-code', 'Library/Application Support/ClaudeCode'].flatMap((directory) =>
      managedFiles(join(root, directory)),
    ),
  ]);
}

function checkLogin({ file, value }: SettingsFile): Diagnosis[] {
  const own = variablesOf(value);
  const settingsOfLogin = [
    ...(isSet(toFields(value).apiKeyHelper) ? ['apiKeyHelper'] : []),
    ...(isSet(own.ANTHROPIC_CUSTOM_HEADERS) ? ['env.ANTHROPIC_CUSTOM_HEADERS'] : []),
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
  const findings = (isHere ? detours : leading)
    .filter((name) => (isCloud(name) ? isOn : isSet)(own[name]))
    .map((name) =>
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

/** Variables of the environment that would have Claude Code use another cloud, were it to get them. */
export function cloudsOf(env: Io['env']): readonly string[] {
  return otherClouds.filter((name) => isOn(env[name]));
}

function isCloud(name: string): boolean {
  return (otherClouds as readonly string[]).includes(name);
}

/** As Claude Code reads a switch (tried with 2.1.197): anything else, such as "0", leaves it off. */
function isOn(value: unknown): boolean {
  return ['1', 'true', 'yes', 'on'].includes(String(value).trim().toLowerCase());
}

/** Claude Code takes numbers and booleans too. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function isSame(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).origin === new URL(other).origin;
}
