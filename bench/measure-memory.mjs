// What an open stream costs in memory: many at once, with an event every second.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { streamBody } from './bodies.mjs';
import { checkStreams } from './check.mjs';
import { runStreams } from './measure-streams.mjs';
import { cores, freePort, hasEnded, launch, residentOf, stop } from './processes.mjs';
import { startStreamProvider } from './providers.mjs';
import { startContender } from './start.mjs';

const open = { streams: 1_500, events: 6, gapMs: 1_000 };
const warmUp = { streams: 200, events: 5, gapMs: 50 };
const settleMs = 1_000;
/** Long enough for what is done once nobody has asked for anything. */
const idleMs = 8_000;
const samplesPerSecond = 4;

/** By contender MB before, most MB while the streams were open, and the difference in KB a stream. */
export async function measureMemory({ contenders, folder, say }) {
  const provider = await startStreamProvider();
  const setting = { provider, folder, firstBody: streamBody({ events: 1, gapMs: 0 }) };
  const memory = {};
  for (const contender of contenders.filter(({ name }) => name !== 'direct' && !name.includes(':'))) {
    say(`memory: ${contender.name}`);
    const target = await startContender(contender, setting);
    await checkStreams([target], provider);
    await runStreams(target, warmUp);
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    const before = residentOf(target.pid);
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, residentOf(target.pid));
    }, 1_000 / samplesPerSecond);
    const { failed } = await runStreams(target, open);
    clearInterval(watch);
    memory[contender.name] = { before, most, perStreamKb: ((most - before) * 1_024) / open.streams, failed };
    await target.stop();
  }
  await provider.stop();
  return { ...memory, idleMb: await idle(folder) };
}

/** What `gateway serve` holds that nobody has asked for anything, without a configuration; with its children, in MB. */
async function idle(folder) {
  const home = join(folder, 'idle');
  mkdirSync(home);
  const program = join(import.meta.dirname, '../bin/gateway.js');
  const ports = ['--port', String(await freePort()), '--plants-port', '0'];
  const environment = { HOME: home, XDG_STATE_HOME: home };
  const command = [process.execPath, program, 'serve', ...ports];
  const child = launch({ command, environment, core: cores.contender, cwd: home });
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  if (hasEnded(child)) throw new Error(`serve has ended: ${child.words}`);
  const megabytes = residentOf(child.pid);
  await stop(child);
  return megabytes;
}
