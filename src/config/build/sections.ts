import { isLoopbackHost } from '../../loopback.ts';
import type { Settings } from '../schema/schema.ts';
import { parseDuration, parseMemorySize, parseSize } from '../schema/units.ts';
import type { KeyFile } from '../source/key-files.ts';
import type { Report } from '../source/report.ts';

export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  readonly allowedHosts: ReadonlySet<string>;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Named as `listen` and `readBody` take them. */
  readonly limits: {
    readonly headMs: number;
    readonly bodyIdleMs: number;
    readonly bodyTotalMs: number;
    readonly headBytes: number;
    readonly bodyBytes: number;
    readonly bodiesInFlightBytes: number;
    readonly connections: number;
    readonly pipelined: number;
    readonly writeMs: number;
    readonly drainMs: number;
  };
}

/** Where the ledger is kept, and how much of it; in the state directory where neither is said. */
interface LedgerConfig {
  readonly file?: string;
  /** `postgres://…` */
  readonly database?: string;
  /** Whether the disk is waited for before a provider is called. */
  readonly isSynced: boolean;
  readonly days: number;
  readonly bytes: number;
}

export function buildServer({
  host,
  port,
  workers,
  allowed_hosts,
  allowed_origins,
  limits,
}: Settings['server']): ServerConfig {
  return Object.freeze({
    host,
    port,
    workers,
    allowedHosts: new Set(allowed_hosts.map((name) => name.toLowerCase())),
    allowedOrigins: new Set(allowed_origins.map((origin) => origin.toLowerCase())),
    limits: Object.freeze({
      headMs: parseDuration(limits.head_timeout) ?? 0,
      bodyIdleMs: parseDuration(limits.body_idle_timeout) ?? 0,
      bodyTotalMs: parseDuration(limits.body_timeout) ?? 0,
      headBytes: parseSize(limits.head_size) ?? 0,
      bodyBytes: parseSize(limits.body_size) ?? 0,
      bodiesInFlightBytes: parseMemorySize(limits.bodies_in_flight) ?? 0,
      connections: limits.connections,
      pipelined: limits.pipelined,
      writeMs: parseDuration(limits.write_timeout) ?? 0,
      drainMs: parseDuration(limits.drain) ?? 0,
    }),
  });
}

/** Where limits and budgets are counted. */
export interface StateConfig {
  /** Of a Redis; absent: in memory. */
  readonly url?: string;
  readonly onFailure?: 'refuse' | 'local';
}

export interface RecordsConfig {
  readonly file?: string;
  readonly bodies: boolean;
  readonly ledger?: LedgerConfig;
}

/** Where Prometheus reads metrics. */
export interface MetricsConfig {
  readonly host: string;
  readonly port: number;
}

export interface PlantsConfig {
  readonly baseUrl: string;
  readonly store: {
    readonly enabled: boolean;
    readonly host: string;
    readonly port: number;
    /** `sqlite:FILE` or `postgres://…`; absent: SQLite in the state directory. */
    readonly database?: string;
  };
}

const bytesPerMegabyte = 1_000_000;

export function buildRest(
  { state, on_state_failure, records, metrics, plants }: Settings,
  isSandboxMode: boolean,
): {
  readonly state: StateConfig;
  readonly records: RecordsConfig;
  readonly metrics: MetricsConfig | undefined;
  readonly plants: PlantsConfig;
} {
  const { enabled, host, port, database } = plants.store;
  return {
    state: Object.freeze({
      ...(state !== 'memory' && { url: state }),
      ...(on_state_failure !== undefined && { onFailure: on_state_failure }),
    }),
    records: Object.freeze({
      bodies: records.bodies,
      ...(records.file !== null && { file: records.file }),
      ...((records.ledger ?? !isSandboxMode) && {
        ledger: Object.freeze({
          isSynced: records.ledger_sync === 'always',
          days: records.ledger_days,
          bytes: records.ledger_megabytes * bytesPerMegabyte,
          ...(records.ledger_file !== null && { file: records.ledger_file }),
          ...(records.ledger_database !== null && { database: records.ledger_database }),
        }),
      }),
    }),
    metrics: metrics.port === null ? undefined : Object.freeze({ host: metrics.host, port: metrics.port }),
    plants: Object.freeze({
      baseUrl: plants.base_url.replace(/\/+$/, ''),
      store: Object.freeze({ enabled, host, port, ...(database !== null && { database }) }),
    }),
  };
}

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
