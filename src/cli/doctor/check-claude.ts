import { homedir } from 'node:os';
import { join } from 'node:path';
import { isFields, toFields, toText } from '../../dialects/fields.ts';
import { clientOf, otherClouds } from '../agents/clients.ts';
import type { Io } from '../shell/io.ts';
import { about, type Finding } from './finding.ts';
import { readSettings } from './read-settings.ts';

const { ok, warning, error } = about('claude');

/** Variables that tell Claude Code where its provider is. */
const leading = ['ANTHROPIC_BASE_URL', 'ANTHROPIC_AUTH_TOKEN', ...clientOf('claude').conflicts];

/**
 * Claude Code's settings files, whose `env` overrides the environment: variables there bypass the gateway and its
 * policies, whatever `gateway run` and `gateway env` set.
 */
export function checkClaude({ env, cwd }: Io, gatewayUrl: string | undefined): readonly Finding[] {
  const user = env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude');
  const files = [
    join(user, 'settings.json'),
    join(cwd, '.claude', 'settings.json'),
    join(cwd, '.claude', 'settings.local.json'),
    '/etc/claude-code/managed-settings.json',
    '/Library/Application Support/ClaudeCode/managed-settings.json',
  ];
  const found = [...new Set(files)].flatMap((file) => checkFile(file, gatewayUrl));
  return found.length > 0 ? found : [ok('its own settings do not point elsewhere')];
}

function checkFile(file: string, gatewayUrl: string | undefined): Finding[] {
  const settings = readSettings(file, JSON.parse);
  if (settings.kind === 'missing') return [];
  if (settings.kind === 'broken')
    return [error(`${file} can't be read: ${settings.reason}`, 'fix or remove the file')];
  if (!isFields(settings.value)) return [error(`${file} contains no JSON object`, 'fix or remove the file')];
  const own = toFields(settings.value.env);
  const url = toText(own.ANTHROPIC_BASE_URL);
  const isHere = url !== '' && gatewayUrl !== undefined && isSame(url, gatewayUrl);
  // Another cloud is used whatever the address is; a key next to the gateway's own address only goes to the gateway.
  const findings = (isHere ? otherClouds : leading)
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
