import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { toFields, toText } from '../../dialects/fields.ts';
import type { Io } from '../shell/io.ts';
import { about, type Finding } from './finding.ts';
import { readSettings } from './read-settings.ts';

const { ok, warning, error } = about('codex');

/** Checks whether Codex's own configuration bypasses the gateway or keeps Codex from starting. */
export function checkCodex({ env }: Io, gatewayUrl: string | undefined): readonly Finding[] {
  const file = join(env.CODEX_HOME || join(env.HOME || homedir(), '.codex'), 'config.toml');
  const settings = readSettings(file, parse);
  if (settings.kind === 'missing') return [ok('no configuration of its own')];
  if (settings.kind === 'broken') {
    return [
      error(`${file} can't be read, and Codex does not start: ${settings.reason}`, 'fix or remove the file'),
    ];
  }
  const { profile, model_provider: used, model_providers: all } = toFields(settings.value);
  const findings: Finding[] = [];
  if (toText(profile) !== '') {
    findings.push(
      warning(
        `${file} chooses the profile ${toText(profile)}: older Codex versions prefer its provider to that of gateway run, newer ones do not start`,
        'remove the line "profile" from it',
      ),
    );
  }
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

/** Checks the provider block that the README shows. */
function checkBlock(
  file: string,
  block: Readonly<Record<string, unknown>>,
  gatewayUrl: string | undefined,
): Finding[] {
  const url = toText(block.base_url);
  if (url === '') return [];
  if (gatewayUrl !== undefined && url.replace(/\/+$/, '') !== `${gatewayUrl}/v1`) {
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
