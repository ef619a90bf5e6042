import { performance } from 'node:perf_hooks';
import type { Config } from '../../config/config.ts';
import type { ScriptedRedis } from '../../limits/redis/redis-connection.ts';
import { connectionFault } from './connection-faults.ts';
import { about, type Finding } from './finding.ts';

const { ok, warning, error } = about('redis');

const trust = "set NODE_EXTRA_CA_CERTS to the file of its authority's certificate";

/** Whether limits can be counted in the Redis that `state` names: it answers, runs scripts and takes writes. */
export async function checkRedis({ state, secrets }: Config, timeoutMs: number): Promise<Finding[]> {
  if (state.url === undefined) return [];
  const [{ connectRedis }, { prefix }, { createTextScrubber }] = await Promise.all([
    import('../../limits/redis/redis-connection.ts'),
    import('../../limits/redis/redis-settlement.ts'),
    import('../../gateway/answer/scrub.ts'),
  ]);
  const { host } = new URL(state.url);
  const redis = await connectRedis(state.url, { silentMs: timeoutMs });
  // A failed connection is retried, and only its events say why it failed.
  let cause: unknown;
  redis.on('error', (failure) => {
    cause ??= failure;
  });
  try {
    const startedMs = performance.now();
    await redis.connect();
    await redis.eval("return redis.call('set', KEYS[1], '1', 'PX', 1000)", 1, `${prefix}writable`);
    const tookMs = Math.round(performance.now() - startedMs);
    return [ok(`${host} answers in ${tookMs} ms`), ...(await checkEviction(redis))];
  } catch (thrown) {
    const failure = cause ?? thrown;
    const [what, remedy] = connectionFault(failure, { setting: 'state', trust }) ?? [
      failure instanceof Error ? failure.message : String(failure),
      'check user, password and number of the database in state, and what Redis allows that user',
    ];
    return [error(`${host}: ${createTextScrubber(secrets)(what)}`, remedy)];
  } finally {
    redis.disconnect();
  }
}

/** A counter that Redis evicts is a budget that starts again. Managed servers may not say what they do. */
async function checkEviction(redis: ScriptedRedis): Promise<Finding[]> {
  const [, policy] = await redis.config('GET', 'maxmemory-policy').then(
    (answer) => answer as readonly string[],
    () => [],
  );
  if (policy === undefined || policy === 'noeviction') return [];
  return [
    warning(
      `it evicts keys when its memory is full (maxmemory-policy ${policy}), and budgets with them`,
      'set maxmemory-policy noeviction',
    ),
  ];
}
