import { parseDuration } from '../../lib/duration.ts';
import { isLoopbackHost } from '../../lib/loopback.ts';
import type { Settings } from '../schema/schema.ts';
import { parseMemorySize, parseSize } from '../schema/units.ts';
import { type KeyFile, keyIn } from '../source/named-files.ts';
import type { ProblemSink } from '../source/report.ts';

const bytesPerMegabyte = 1_000_000;

/** The sections that need nothing but their own settings, ready for use; what is null in a file is absent. */
export function buildSections(
  { server, state, on_state_failure, records, metrics, plants }: Settings,
  isSandboxMode: boolean,
) {
  const { limits } = server;
  const { database, ...store } = plants.store;
  return {
    server: Object.freeze({
      host: server.host,
      port: server.port,
      workers: server.workers,
      allowedHosts: lowerCased(server.allowed_hosts),
      allowedOrigins: lowerCased(server.allowed_origins),
      /** Named as `listen` and `readBody` take them. */
      limits: Object.freeze({
        headMs: parseDuration(limits.head_timeout) ?? 0,
        bodyIdleMs: parseDuration(limits.body_idle_timeout) ?? 0,
        bodyTotalMs: parseDuration(limits.body_timeout) ?? 0,
        headBytes: parseSize(limits.head_size) ?? 0,
        bodyBytes: parseSize(limits.body_size) ?? 0,
        bodiesInFlightBytes: parseMemorySize(limits.bodies_in_flight) ?? 0,
        connections: limits.connections,
        pipelined: limits.pipelined,
        idleMs: parseDuration(limits.idle_timeout) ?? 0,
        writeMs: parseDuration(limits.write_timeout) ?? 0,
        drainMs: parseDuration(limits.drain) ?? 0,
      }),
    }),
    /** Where limits and budgets are counted; without a URL in memory. */
    state: Object.freeze({
      ...(state !== 'memory' && { url: state }),
      ...(on_state_failure !== undefined && { onFailure: on_state_failure }),
    }),
    records: Object.freeze({
      bodies: records.bodies,
      ...(records.days !== null && { days: records.days }),
      ...(records.file !== null && { file: records.file }),
      ...((records.ledger ?? !isSandboxMode) && {
        ledger: Object.freeze({
          /** Whether the disk is waited for before a provider is called. */
          isSynced: records.ledger_sync === 'always',
          /** A database has gateways on other machines, whose records are there. */
          keepsRows: records.ledger_rows ?? records.ledger_database !== null,
          days: records.ledger_days,
          bytes: records.ledger_megabytes * bytesPerMegabyte,
          ...(records.ledger_file !== null && { file: records.ledger_file }),
          ...(records.ledger_database !== null && { database: records.ledger_database }),
        }),
      }),
    }),
    /** Where Prometheus reads metrics; undefined if none are kept. */
    metrics: metrics.port === null ? undefined : Object.freeze({ host: metrics.host, port: metrics.port }),
    plants: Object.freeze({
      baseUrl: plants.base_url.replace(/\/+$/, ''),
      store: Object.freeze({ ...store, ...(database !== null && { database }) }),
    }),
  };
}

function lowerCased(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()));
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
  readonly report: ProblemSink;
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
  const password =
    file === null
      ? undefined
      : keyIn(keyFiles.get(file), { what: 'password', file, path: ['inspector', 'password_file'], report });
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
