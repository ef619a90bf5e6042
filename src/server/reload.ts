import type { Config } from '../config/config.ts';
import type { LoadedConfig } from '../config/load.ts';
import { describeProblem } from '../config/source/problems.ts';
import { endsEarly, looksCut, protectionOf, refuseSuccessor, refuseUserFile } from '../config/successor.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { PreparedConfig } from '../gateway/active-config.ts';
import type { ServeLog } from './recording.ts';

interface ReloadOptions {
  /** What was loaded at start-up, from the file that is followed. */
  readonly started: LoadedConfig;
  /** Reads the file again; a pipe is refused, because reading it again could block forever. */
  readonly load: () => Promise<LoadedConfig>;
  readonly prepare: (config: Config) => Promise<PreparedConfig>;
  /** Notifies the other commands. If it throws, that is logged, and the new configuration stays in force. */
  readonly onReloaded: (loaded: LoadedConfig) => void;
  /** Notifies them that the file can't be used, and why. */
  readonly onRefused: (message: string) => void;
  readonly log: ServeLog;
  /** Names of settings that command-line options override. */
  readonly overridden: readonly string[];
}

/**
 * Follows the file that was found at start-up, and no other. If it is valid, it replaces the configuration in one step;
 * otherwise nothing changes and an error is logged.
 */
export function createReloader(options: ReloadOptions) {
  const { started, log } = options;
  let current = started;
  let isStopped = false;
  let running = Promise.resolve();
  /** A pending reload will read the file's latest content, so further requests need no reload of their own. */
  let isWaiting = false;

  const reloadOnce = async (): Promise<void> => {
    isWaiting = false;
    if (isStopped) return;
    try {
      const next = await loadSuccessor(current, options);
      const prepared = await options.prepare(next.config);
      if (isStopped) return prepared.discard();
      prepared.commit();
      current = next;
      reportReload(next, options);
    } catch (thrown) {
      const { message } = toGatewayError(thrown);
      log('error', `the configuration was not reloaded, the old one stays: ${message}`);
      notify(() => options.onRefused(message), log);
    }
  };

  return {
    /** Reloads the file, after any reload in progress; resolves when it is done. Never rejects. */
    reload: () => {
      if (!isWaiting) {
        isWaiting = true;
        running = running.then(reloadOnce);
      }
      return running;
    },
    /** Stops following the file. */
    stop: () => {
      isStopped = true;
    },
  };
}

function reportReload(next: LoadedConfig, options: ReloadOptions): void {
  const { log, onReloaded } = options;
  log('info', 'configuration reloaded', { config: next.config.hash });
  for (const warning of next.warnings) log('warn', describeProblem(warning));
  logRestarts(next.config, options);
  notify(() => onReloaded(next), log);
}

function notify(tell: () => void, log: ServeLog): void {
  try {
    tell();
  } catch (thrown) {
    const { message } = toGatewayError(thrown);
    log('error', `the other commands still see the old configuration: ${message}`);
  }
}

/** Loads the followed file. Throws config.invalid if it must not replace the current configuration. */
async function loadSuccessor(
  current: LoadedConfig,
  { started: { path }, load }: ReloadOptions,
): Promise<LoadedConfig> {
  if (path === undefined) {
    throw new GatewayError('config.invalid', 'there was no file at start-up; restart the gateway to use one');
  }
  const next = await load();
  const refusal = refuseSuccessor(protectionOf(current.config), protectionOf(next.config));
  if (refusal !== undefined) throw new GatewayError('config.invalid', `${path}: ${refusal}`);
  if (looksCut(current, next)) throw new GatewayError('config.invalid', `${path} ${endsEarly}`);
  const refusalOfUsers = refuseUserFile(current, next);
  if (refusalOfUsers !== undefined) throw new GatewayError('config.invalid', refusalOfUsers);
  return next;
}

/** Settings for what is bound or opened once, at start-up. */
const boundAtStart: Readonly<Record<string, (config: Config) => unknown>> = {
  'server.host': ({ server }) => server.host,
  'server.port': ({ server }) => server.port,
  'server.workers': ({ server }) => server.workers,
  'server.limits.head_timeout': ({ server }) => server.limits.headMs,
  'server.limits.head_size': ({ server }) => server.limits.headBytes,
  'server.limits.connections': ({ server }) => server.limits.connections,
  'server.limits.pipelined': ({ server }) => server.limits.pipelined,
  'server.limits.idle_timeout': ({ server }) => server.limits.idleMs,
  'server.limits.write_timeout': ({ server }) => server.limits.writeMs,
  'server.limits.drain': ({ server }) => server.limits.drainMs,
  'records.file': ({ records }) => records.file,
  'records.days': ({ records }) => records.days,
  'records.ledger': ({ records }) => records.ledger !== undefined,
  'records.ledger_file': ({ records }) => records.ledger?.file,
  'records.ledger_database': ({ records }) => records.ledger?.database,
  'records.ledger_sync': ({ records }) => records.ledger?.isSynced,
  'records.ledger_rows': ({ records }) => records.ledger?.keepsRows,
  'records.ledger_days': ({ records }) => records.ledger?.days,
  'records.ledger_megabytes': ({ records }) => records.ledger?.bytes,
  'metrics.port': ({ metrics }) => metrics?.port,
  'metrics.host': ({ metrics }) => metrics?.host,
  'plants.store.enabled': ({ plants }) => plants.store.enabled,
  'plants.store.host': ({ plants }) => plants.store.host,
  'plants.store.port': ({ plants }) => plants.store.port,
  'plants.store.database': ({ plants }) => plants.store.database,
};

function logRestarts(next: Config, { started, log, overridden }: ReloadOptions): void {
  const changed = Object.entries(boundAtStart)
    .filter(([name, read]) => !overridden.includes(name) && read(next) !== read(started.config))
    .map(([name]) => name);
  if (changed.length === 0) return;
  log('warn', `only a restart makes these changes take effect: ${changed.join(', ')}`, { restart: changed });
}
