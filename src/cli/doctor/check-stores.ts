import { existsSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { connectionFault, type Fault } from '../../client/connection-fault.ts';
import type { Config } from '../../config/config.ts';
import { postgresRemedy } from '../../database/failures.ts';
import { messageOfError } from '../../lib/message-of.ts';
import type { ScriptedRedis } from '../../limits/redis/redis-connection.ts';
import type { LedgerPlace } from '../../record/ledger/ledger-store.ts';
import { nameOf } from '../../server/ledger.ts';
import { ledgerSettings } from '../../server/ledger-path.ts';
import type { Io } from '../shell/io.ts';
import { about, type Diagnosis } from './finding.ts';

const finding = about('redis');

/** Whether limits can be counted in the Redis that `state` names: it answers, runs scripts and takes writes. */
export async function checkRedis(
  { state: { url }, secrets }: Config,
  timeoutMs: number,
): Promise<Diagnosis[]> {
  if (url === undefined) return [];
  const [{ connectRedis }, { prefix }, { createTextScrubber }] = await Promise.all([
    import('../../limits/redis/redis-connection.ts'),
    import('../../limits/redis/redis-settlement.ts'),
    import('../../gateway/scrub.ts'),
  ]);
  const { host } = new URL(url);
  const redis = await connectRedis(url, { silentMs: timeoutMs });
  // A failed connection is retried, and only its events say why it failed.
  let cause: unknown;
  redis.on('error', (failure) => {
    cause ??= failure;
  });
  try {
    const startedMs = performance.now();
    await redis.connect();
    await redis.select(redis.options.db ?? 0);
    await redis.eval("return redis.call('set', KEYS[1], '1', 'PX', 1000)", 1, `${prefix}writable`);
    const tookMs = Math.round(performance.now() - startedMs);
    return [finding.ok(`${host} answers in ${tookMs} ms`), ...(await checkEviction(redis))];
  } catch (thrown) {
    const failure = cause ?? thrown;
    const [what, remedy] = redisFault(failure, url) ?? [
      messageOfError(failure),
      'check user, password and number of the database in state, and what Redis allows that user',
    ];
    return [finding.error(`${host}: ${createTextScrubber(secrets)(what)}`, remedy)];
  } finally {
    redis.disconnect();
  }
}

/** A server that expects TLS hangs up on whoever doesn't speak it, and one that doesn't waits for more. */
function redisFault(failure: unknown, url: string): Fault | undefined {
  const fault = connectionFault(failure, { setting: 'state', trust });
  const said = messageOfError(failure);
  if (/^(?:MOVED|ASK|CLUSTERDOWN) /.test(said))
    return [
      said,
      'name a server in state that is no node of a cluster: what a request counts is in one place',
    ];
  const { code = '' } = failure as NodeJS.ErrnoException;
  const isSecure = url.startsWith('rediss:');
  if (fault === undefined || !(isSecure ? /^ETIMEDOUT$/ : /^(?:ECONNRESET|EPIPE)$/).test(code)) return fault;
  const other = isSecure ? 'redis://' : 'rediss://';
  return [fault[0], `write ${other} in state, or ${fault[1]}`];
}

/** A counter that Redis evicts is a budget that starts again. Managed servers may not say what they do. */
async function checkEviction(redis: ScriptedRedis): Promise<Diagnosis[]> {
  const [, policy] = await redis.config('GET', 'maxmemory-policy').then(
    (answer) => answer as readonly string[],
    () => [],
  );
  if (policy === undefined || policy === 'noeviction') return [];
  return [
    finding.warning(
      `it evicts keys when its memory is full (maxmemory-policy ${policy}), and budgets with them`,
      'set maxmemory-policy noeviction',
    ),
  ];
}

const ledger = about('ledger');

const trust = "set NODE_EXTRA_CA_CERTS to the file of its authority's certificate";

/** Whether the ledger's file or database can be read, and the database written. */
export async function checkLedger(config: Config, path: string | undefined, io: Io): Promise<Diagnosis[]> {
  const place = placeOf(config, path, io);
  if (place === undefined) return [];
  const name = nameOf(place);
  try {
    return [ledger.ok(await read(place, name))];
  } catch (thrown) {
    const { createTextScrubber } = await import('../../gateway/scrub.ts');
    const [what, remedy] = connectionFault(thrown, { setting: 'records.ledger_database', trust }) ?? [
      messageOfError(thrown),
      place.path === undefined
        ? (postgresRemedy(thrown) ?? 'check user, password and database in records.ledger_database')
        : 'docs/operations.md says how to recover it; or move it away, and budgets start from zero',
    ];
    return [ledger.error(`${name}: ${createTextScrubber(config.secrets)(what)}`, remedy)];
  }
}

function placeOf(config: Config, path: string | undefined, io: Io): LedgerPlace | undefined {
  try {
    return ledgerSettings({ config, path }, io)?.place;
  } catch {
    return undefined; // it is in another user's state directory, which is a finding of its own
  }
}

async function read(place: LedgerPlace, name: string): Promise<string> {
  if (place.path !== undefined && !existsSync(place.path)) return `${name} will be created by serve`;
  const { readUsage } = await import('../../record/ledger/read-ledger.ts');
  await readUsage(place, { by: 'project', sinceMs: Date.now(), dayOf: String });
  if (place.url === undefined) return name;
  const { connectPostgres } = await import('../../database/postgres.ts');
  const client = await connectPostgres(place.url, 'gateway doctor');
  try {
    const [row] = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
    if (row?.transaction_read_only === 'on') throw new Error('it is read-only');
  } finally {
    client.close();
  }
  return `${name} answers`;
}
