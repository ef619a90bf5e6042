import { isLoopbackHost } from '../../loopback.ts';
import type { Settings } from '../schema/schema.ts';
import type { KeyFile } from '../source/key-files.ts';
import type { Report } from '../source/report.ts';

export interface InspectorConfig {
  /** Absent: where only this machine reaches the gateway. */
  readonly enabled?: boolean;
  /** Without it the page is served to this machine alone. */
  readonly password?: string;
}

interface Inputs {
  readonly settings: Pick<Settings, 'inspector' | 'server'>;
  readonly keyFiles: ReadonlyMap<string, KeyFile>;
  readonly report: Report;
}

export function buildInspector({ settings, keyFiles, report }: Inputs): InspectorConfig {
  const { enabled, password_file: file } = settings.inspector;
  const { host, workers } = settings.server;
  if (enabled === true && workers > 1) {
    report.warn(['inspector', 'enabled'], `with ${workers} workers there is no live page`, {
      hint: 'each worker knows its own exchanges only',
    });
  }
  if (enabled === true && file === null && !isLoopbackHost(host)) {
    report.error(['inspector', 'enabled'], `others can reach ${host}: the live page needs a password there`, {
      hint: 'set inspector.password_file',
    });
  }
  const password = file === null ? undefined : readPassword(file, keyFiles, report);
  return Object.freeze({
    ...(enabled === null ? {} : { enabled }),
    ...(password === undefined ? {} : { password }),
  });
}

/** Whether the live page is served at an address: never without a password where others can reach it. */
export function servesInspector({ enabled, password }: InspectorConfig, host: string): boolean {
  if (isLoopbackHost(host)) return enabled ?? true;
  return enabled === true && password !== undefined;
}

function readPassword(
  file: string,
  keyFiles: ReadonlyMap<string, KeyFile>,
  report: Report,
): string | undefined {
  const path = ['inspector', 'password_file'];
  const result = keyFiles.get(file); // undefined where files are left unread
  if (result?.kind === 'failed') report.error(path, `no password in ${file}: ${result.reason}`);
  if (result?.kind !== 'read') return undefined;
  if (result.isWorldReadable) {
    report.warn(path, `every user of this machine can read ${file}`, { hint: `chmod o-r ${file}` });
  }
  return result.key;
}
