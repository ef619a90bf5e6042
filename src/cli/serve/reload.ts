import type { Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { looksCut, protectionOf, refuseSuccessor, rulesOf } from '../../config/successor.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import type { ServeLog } from './serve-log.ts';
import type { PreparedReload } from './server/server-handle.ts';

interface ReloadOptions {
  /** What was loaded at the start, from the file that is followed. */
  readonly started: LoadedConfig;
  /** Reads a regular file; a pipe is refused, since reading it again may wait for ever. */
  readonly load: (path: string) => Promise<LoadedConfig>;
  readonly prepare: (config: Config) => Promise<PreparedReload>;
  readonly onReloaded: (loaded: LoadedConfig) => void;
  readonly log: ServeLog;
  /** Settings that command line options replace, by name. */
  readonly overridden: readonly string[];
}

export interface Reloader {
  /** Reads the file again, after a reload that is under way; resolves when it is over. Never rejects. */
  reload(): Promise<void>;
  /** Nothing is followed any more. */
  stop(): void;
}

/**
 * Follows the file that was found at the start, and no other. A valid one replaces the configuration in one step;
 * anything else changes nothing and is logged as an error.
 */
export function createReloader(options: ReloadOptions): Reloader {
  const { started, log } = options;
  let current = started;
  let isStopped = false;
  let running = Promise.resolve();
  /** A reload that has not begun yet reads what the file holds then: asking twice adds nothing. */
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
      options.onReloaded(next);
      log('info', 'configuration reloaded', { config: next.config.hash });
      for (const warning of next.warnings) log('warn', warning.message);
      logRestarts(next.config, options);
    } catch (thrown) {
      const { message } = toGatewayError(thrown);
      log('error', `the configuration was not reloaded, the old one stays: ${message}`);
    }
  };

  return {
    reload: () => {
      if (!isWaiting) {
        isWaiting = true;
        running = running.then(reloadOnce);
      }
      return running;
    },
    stop: () => {
      isStopped = true;
    },
  };
}

/** The followed file's configuration. Throws config.invalid if it must not replace the current one. */
async function loadSuccessor(
  current: LoadedConfig,
  { started: { path }, load }: ReloadOptions,
): Promise<LoadedConfig> {
  if (path === undefined) {
    throw new GatewayError(
      'config.invalid',
      'there was no file at the start; restart the gateway to use one',
    );
  }
  const next = await load(path);
  const refusal = refuseSuccessor(protectionOf(current.config), protectionOf(next.config));
  if (refusal !== undefined) throw new GatewayError('config.invalid', `${path}: ${refusal}`);
  const followed = ({ text, config }: LoadedConfig) => ({ text, rules: rulesOf(config) });
  if (looksCut(followed(current), followed(next))) {
    const message = `${path} ends early, and rules are missing: it seems to be half written`;
    throw new GatewayError('config.invalid', `${message}; end it with a line of comment if that is intended`);
  }
  return next;
}

/** What is bound or opened once, at the start. */
const boundAtStart: Readonly<Record<string, (config: Config) => unknown>> = {
  'server.host': ({ server }) => server.host,
  'server.port': ({ server }) => server.port,
  'server.workers': ({ server }) => server.workers,
  'server.limits.head_timeout': ({ server }) => server.limits.headMs,
  'server.limits.head_size': ({ server }) => server.limits.headBytes,
  'server.limits.connections': ({ server }) => server.limits.connections,
  'server.limits.pipelined': ({ server }) => server.limits.pipelined,
  'server.limits.write_timeout': ({ server }) => server.limits.writeMs,
  'server.limits.drain': ({ server }) => server.limits.drainMs,
  'records.file': ({ records }) => records.file,
  'records.ledger': ({ records }) => records.ledger !== undefined,
  'records.ledger_file': ({ records }) => records.ledger?.file,
  'records.ledger_database': ({ records }) => records.ledger?.database,
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
