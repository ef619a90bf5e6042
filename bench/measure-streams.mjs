// Event streams, by our own client: wrk reads an answer to its end and knows no events.
import { join } from 'node:path';
import { streamBody } from './bodies.mjs';
import { checkStreams } from './check.mjs';
import { isWanted } from './options.mjs';
import { cpuOf, runLoad } from './processes.mjs';
import { startStreamProvider } from './providers.mjs';
import { path } from './request.mjs';
import { takeTurns } from './rounds.mjs';
import { startAll, stopAll } from './start.mjs';

const scenarios = [
  { name: '100 streams, 10 ms', streams: 100, events: 200, gapMs: 10 },
  { name: '1,000 streams, 50 ms', streams: 1_000, events: 60, gapMs: 50, isLong: true },
  { name: '20 streams, no pause', streams: 20, events: 2_000, gapMs: 0 },
];
// Many events, many beginnings, and events that come one by one.
const warmUps = [
  { streams: 50, events: 400, gapMs: 0 },
  { streams: 500, events: 5, gapMs: 0 },
  { streams: 100, events: 200, gapMs: 10 },
];
const variants = /^[^:]+$|:large$/;

export async function measureStreams({ contenders, options, folder, say }) {
  const chosen = scenarios.filter(
    ({ name, isLong }) => isWanted(name, options.scenarios) && !(options.isQuick && isLong),
  );
  if (chosen.length === 0) return undefined;
  const provider = await startStreamProvider();
  const setting = { provider, folder, firstBody: streamBody({ events: 1, gapMs: 0 }) };
  const started = await startAll(
    contenders.filter(({ name }) => variants.test(name)),
    setting,
  );
  await checkStreams(started, provider);
  for (const target of started) {
    say(`warming ${target.name}`);
    for (let time = 0; time < 4; time += 1) for (const warmUp of warmUps) await runStreams(target, warmUp);
  }
  const samples = await takeTurns({
    scenarios: chosen,
    targets: started,
    provider,
    rounds: options.rounds,
    takes: () => true,
    take: (target, scenario) => takeSample(target, { ...scenario, warmPort: provider.port }),
    say,
  });
  await stopAll([...started, provider]);
  return { samples };
}

async function takeSample(target, scenario) {
  await warmConnections(target, scenario);
  const before = target.pid === undefined ? 0 : cpuOf(target.pid);
  const { wanted, events, micros, failed, first50, first99, delay50, delay99 } = await runStreams(
    target,
    scenario,
  );
  const cpu = target.pid === undefined ? undefined : (cpuOf(target.pid) - before) / wanted;
  return { cpu, rate: (events / micros) * 1e6, first50, first99, delay50, delay99, failed };
}

/**
 * Warm means that the contender's connections to the provider are there as well, as many as the streams need:
 * most close idle ones after a few seconds, which pass while the others have their turns.
 */
async function warmConnections(target, { streams, gapMs }) {
  // A stream a millisecond is opened; the first must not be over when the last one begins.
  const events = gapMs === 0 ? 50 : Math.ceil(streams / gapMs) + 10;
  await runStreams(target, { streams, gapMs, events });
}

/** Opens the streams and reads them to their ends. */
export function runStreams({ port, headers }, { streams, events, gapMs, warmPort }) {
  const order = { port, path, headers, streams, events, body: streamBody({ events, gapMs }), warmPort };
  return runLoad(
    [process.execPath, join(import.meta.dirname, 'load-streams.mjs'), JSON.stringify(order)],
    70,
  );
}
