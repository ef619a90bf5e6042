// Other jobs of the machine disturb a measurement: requests per second much, CPU time per request hardly.
import { cpuOf, readText, statFields } from './processes.mjs';

/** Share of a core that other jobs may use during a sample. */
export const maxForeign = 0.1;
const tries = 3;

/** Takes a sample, and takes it again where others used the machine; gives the least disturbed one, with `foreign`. */
export async function quietly(pids, takeSample) {
  let best;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const foreignSince = watchForeign(pids);
    const sample = await takeSample();
    const foreign = foreignSince();
    if (best === undefined || foreign < best.foreign) best = { ...sample, foreign };
    if (foreign < maxForeign) break;
  }
  return best;
}

/** Starts watching; the function it gives says which share of a core others used since. */
export function watchForeign(pids) {
  const before = foreignCpu(pids);
  const startedAt = performance.now();
  return () => Math.max(0, (foreignCpu(pids) - before) / ((performance.now() - startedAt) * 1_000));
}

/** Microseconds of CPU that were used by neither this program, its load generators nor the given processes. */
function foreignCpu(pids) {
  const [user, nice, system, , , irq, softIrq] = /^cpu +(.*)$/m
    .exec(readText('/proc/stat'))[1]
    .split(' ')
    .map(Number);
  const busy = (user + nice + system + irq + softIrq) * 10_000; // 100 ticks a second
  const own = statFields(process.pid);
  const ownTicks = Number(own[11]) + Number(own[12]) + Number(own[13]) + Number(own[14]);
  return busy - ownTicks * 10_000 - pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
}
