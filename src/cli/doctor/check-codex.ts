import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'smol-toml';
import { toFields, toText } from '../../dialects/fields.ts';
import { pastProxies, usesProxy } from '../agents/clients.ts';
import type { Io } from '../shell/io.ts';
import { codexHome, readSettingsFile } from '../shell/read-settings.ts';
import { about, type Diagnosis, isHere, proxyFault } from './finding.ts';

const { ok, warning, error } = about('codex');

/** Checks whether Codex's own configuration bypasses the gateway or keeps Codex from starting. */
export function checkCodex({ env }: Io, gatewayUrl: string | undefined): readonly Diagnosis[] {
  const overrides = checkCodexOverrides({ env }, gatewayUrl);
  const file = join(codexHome(env), 'config.toml');
  const settings = readSettingsFile(file, parse);
  if (settings.kind === 'missing')
    return overrides.length > 0 ? overrides : [ok('no configuration of its own')];
  if (settings.kind === 'broken') {
    return [
      error(`${file} can't be read, and Codex does not start: ${settings.reason}`, 'fix or remove the file'),
    ];
  }
  const { model_provider: used, model_providers: all } = toFields(settings.value);
  const findings: Diagnosis[] = [...overrides];
  if (toText(used) !== '' && toText(used) !== 'gateway') {
    findings.push(
      warning(
        `${file} chooses the provider ${toText(used)}: a plain "codex" bypasses the gateway`,
        'start it with gateway run codex, or set model_provider = "gateway"',
      ),
    );
  }
  return [...findings, ...checkBlock(file, toFields(toFields(all).gateway), gatewayUrl)];
}

/**
 * What overrides the arguments of `gateway run`, so that Codex would bypass the gateway (tried with 0.169.0). `root`
 * contains the administrator's file.
 */
export function checkCodexOverrides(
  { env }: Pick<Io, 'env'>,
  gatewayUrl: string | undefined,
  root = '/',
): readonly Diagnosis[] {
  return [
    ...checkManaged(join(root, 'etc/codex/managed_config.toml'), gatewayUrl),
    ...checkProfile(join(codexHome(env), 'config.toml')),
    ...(gatewayUrl === undefined ? [] : checkVariables(join(codexHome(env), '.env'), { env, gatewayUrl })),
  ];
}

function checkManaged(file: string, gatewayUrl: string | undefined): Diagnosis[] {
  const remedy = 'ask the administrator to change it';
  const settings = readSettingsFile(file, parse);
  if (settings.kind === 'broken') return [error(`${file} can't be read: ${settings.reason}`, remedy)];
  const { model_provider: used, model_providers: all } = toFields(settings.value);
  const url = toText(toFields(toFields(all).gateway).base_url);
  const isElsewhere = url !== '' && !isHere(url, gatewayUrl);
  const overriding = [
    ...(toText(used) === '' || toText(used) === 'gateway' ? [] : ['model_provider']),
    ...(isElsewhere ? ['model_providers.gateway.base_url'] : []),
  ];
  return overriding.map((name) =>
    error(`${file} sets ${name}, which overrides what gateway run sets`, remedy),
  );
}

/** A key in the place of that of a run, which has the run's limits (tried with 0.171.0). */
export function checkCodexKey({ env }: Pick<Io, 'env'>): readonly Diagnosis[] {
  const file = join(codexHome(env), '.env');
  if (!('GATEWAY_KEY' in toFields(readSettingsFile(file, parseEnv).value))) return [];
  return [error(`${file} sets GATEWAY_KEY, without the limits of this run`, 'remove it from there')];
}

function checkProfile(file: string): Diagnosis[] {
  const profile = toText(toFields(readSettingsFile(file, parse).value).profile);
  if (profile === '') return [];
  return [
    error(
      `${file} chooses the profile ${profile}: older Codex versions prefer its provider to that of gateway run, newer ones do not start`,
      'remove the line "profile" from it',
    ),
  ];
}

/** Codex sets the variables of this file over those that it was started with. */
function checkVariables(
  file: string,
  { env, gatewayUrl }: { readonly env: Io['env']; readonly gatewayUrl: string },
): Diagnosis[] {
  const own = toFields(readSettingsFile(file, parseEnv).value);
  const lists = own.NO_PROXY !== undefined || own.no_proxy !== undefined;
  if (!lists || !usesProxy(gatewayUrl, { ...env, ...pastProxies(gatewayUrl, env), ...own })) return [];
  return [error(...proxyFault(file, 'NO_PROXY', gatewayUrl))];
}

/** Checks the provider block that docs/clients.md shows. */
function checkBlock(
  file: string,
  block: Readonly<Record<string, unknown>>,
  gatewayUrl: string | undefined,
): Diagnosis[] {
  const url = toText(block.base_url);
  if (url === '') return [];
  if (gatewayUrl !== undefined && !isHere(url, gatewayUrl)) {
    return [
      warning(`${file} has the gateway at ${url}, but it runs at ${gatewayUrl}/v1`, 'correct base_url'),
    ];
  }
  if (toText(block.wire_api) !== 'responses') {
    return [
      error(
        `${file} lacks wire_api = "responses" for the gateway`,
        'add it: newer Codex versions support nothing else',
      ),
    ];
  }
  return [];
}
