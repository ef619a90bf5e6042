#!/usr/bin/env node
// What the live page costs in memory while nobody looks, in figures that don't depend on how busy the machine is:
// bytes that survive a collection of V8's young generation ("copied" the first time, then "promoted"), the number of
// such collections and of full ones, and resident memory. A second gateway without the page ("same") shows how far
// two equal ones are apart. All are asked for a burst, one after the other, then at a constant rate, all at once.
//   node bench/inspector-memory.mjs [--starts 3] [--burst 4000] [--seconds 20] [--per-second 200]
import { parseArgs } from 'node:util';
import { burst, pace, startGateway, startProvider } from './inspected.mjs';
import { residentOf } from './processes.mjs';

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '3' },
    burst: { type: 'string', default: '4000' },
    seconds: { type: 'string', default: '20' },
    'per-second': { type: 'string', default: '200' },
  },
});
const [starts, burstExchanges, seconds, perSecond] = [
  values.starts,
  values.burst,
  values.seconds,
  values['per-second'],
].map(Number);
const variants = [
  { name: 'off', enabled: false },
  { name: 'same', enabled: false },
  { name: 'nobody', enabled: true },
];
const nothing = { copied: 0, promoted: 0, young: 0, full: 0 };
const provider = await startProvider();
console.log('load   gateway    bytes copied, promoted per exchange   collections, full   resident MB');
for (let start = 0; start < starts; start += 1) await measureStart(start);
provider.close();
provider.closeAllConnections();

async function measureStart(start) {
  const started = [];
  for (let place = 0; place < variants.length; place += 1) {
    const i = (start + place) % variants.length;
    started[i] = await startTraced(variants[i]);
  }
  for (const each of started) report('burst', each, await burst(each.gateway, burstExchanges));
  const counts = await Promise.all(started.map(({ gateway }) => pace(gateway, { perSecond, seconds })));
  for (const [i, each] of started.entries()) report('paced', each, counts[i]);
  for (const { gateway } of started) await gateway.stop();
}

async function startTraced({ name, enabled }) {
  const gateway = await startGateway({
    provider,
    enabled,
    nodeOptions: ['--trace-gc-nvp'],
    stdout: 'pipe',
  });
  const traced = { name, gateway, ...nothing, rest: '' };
  gateway.child.stdout.setEncoding('latin1').on('data', (chunk) => {
    const lines = (traced.rest + chunk).split('\n');
    traced.rest = lines.pop();
    for (const line of lines) note(traced, line);
  });
  return traced;
}

function note(traced, line) {
  const field = (name) => Number(new RegExp(` ${name}=(\\d+)`).exec(line)?.[1] ?? 0);
  if (!line.includes(' gc=')) return;
  traced.copied += field('new_space_survived');
  traced.promoted += field('promoted');
  if (line.includes(' gc=s ')) traced.young += 1;
  else traced.full += 1;
}

function report(load, traced, count) {
  const { name, copied, promoted, young, full, gateway } = traced;
  const cells = [copied / count, promoted / count, young, full, residentOf(gateway.child.pid)];
  const line = cells.map((cell) => cell.toFixed(0).padStart(9)).join('');
  console.log(`${load.padEnd(7)}${name.padEnd(7)}${line}`);
  Object.assign(traced, nothing);
}
