// Starts a contender in front of a provider and waits for its first 200.
import { cores, freePort, launch, stop } from './processes.mjs';
import { startRedis } from './redis.mjs';
import { untilAnswered } from './request.mjs';

/** As `gateway key new` makes them. */
export const key = 'gw_ZNkBCLeNHhh8iS4vnfcU0v2dXsJROxw91aPKD8';

/** Gives where to send requests, with which headers, and how long the first 200 took. */
export async function startContender(
  contender,
  { provider, folder, firstBody, core = cores.contender, workers = 1 },
) {
  const authorization = { authorization: `Bearer ${key}` };
  if (contender.prepare === undefined) {
    return {
      name: contender.name,
      contender,
      port: provider.port,
      headers: authorization,
      stop: async () => {},
    };
  }
  const port = await freePort();
  const redis = contender.needsRedis ? await startRedis(folder) : undefined;
  const plan = contender.prepare({ port, provider, folder, key, redis, workers });
  const headers = { ...authorization, ...plan.headers };
  const startedAt = performance.now();
  const child = launch({ ...plan, core });
  await untilAnswered({ port, headers, body: firstBody }, child);
  const coldMs = performance.now() - startedAt;
  const end = async () => {
    await stop(child);
    await redis?.stop();
  };
  return { name: contender.name, contender, port, headers, pid: child.pid, coldMs, stop: end };
}

/** Starts all, each on the same core: those that are not measured sleep. */
export async function startAll(contenders, setting) {
  const started = [];
  for (const contender of contenders) started.push(await startContender(contender, setting));
  return started;
}

export async function stopAll(started) {
  for (const each of started) await each.stop();
}
