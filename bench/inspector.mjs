#!/usr/bin/env node
// What the live page costs the gateway: CPU time per exchange without the page, with it and nobody looking, with one
// page open and with ten. A second gateway without the page ("same") shows how far two equal ones are apart. First
// with as many exchanges as eight connections ask for, then with 200 a second. All are started several times: two
// runs of one program differ by more than the rounds of one run.
//   node bench/inspector.mjs [--starts 4] [--rounds 24] [--exchanges 200] [--seconds 0.5]
//                            [--only off,same,nobody] [--load burst,paced]
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { burst, issueToken, pace, startGateway, startProvider } from './inspected.mjs';
import { cpuOf, residentOf } from './processes.mjs';

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '24' },
    exchanges: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '0.5' },
    only: { type: 'string', default: 'off,same,nobody,one,ten' },
    load: { type: 'string', default: 'burst,paced' },
  },
});
const [starts, rounds, exchanges, seconds] = [
  values.starts,
  values.rounds,
  values.exchanges,
  values.seconds,
].map(Number);
const perSecond = 200;
/** What the gateway keeps of a burst is kept by then (src/inspector/ring/ring.ts). */
const warmExchanges = 4_000;
/** Before each measurement, so that it doesn't begin with a process that was swapped out of the caches. */
const wakingExchanges = 50;
/** By then the viewers have been sent what happened (batchMs in src/inspector/events/event-stream.ts). */
const eventsMs = 300;
const provider = await startProvider();

const variants = [
  { name: 'off', enabled: false, viewers: 0 },
  { name: 'same', enabled: false, viewers: 0 },
  { name: 'nobody', enabled: true, viewers: 0 },
  { name: 'one', enabled: true, viewers: 1 },
  { name: 'ten', enabled: true, viewers: 10 },
].filter(({ name }) => values.only.split(',').includes(name));
const loads = [
  {
    name: 'burst',
    title: 'as many as eight connections ask for',
    run: (gateway) => burst(gateway, exchanges),
  },
  { name: 'paced', title: `${perSecond} a second`, run: (gateway) => pace(gateway, { perSecond, seconds }) },
].filter(({ name }) => values.load.split(',').includes(name));

/** For each load and variant one list of costs per start. */
const costs = new Map(loads.map(({ name }) => [name, variants.map(() => [])]));
const residents = variants.map(() => []);
for (let start = 0; start < starts; start += 1) await measureStart(start);
for (const { name, title } of loads) report(title, costs.get(name));
for (const [i, { name }] of variants.entries())
  console.log(`${name.padEnd(8)} resident after each start's rounds: ${residents[i].join(', ')} MB`);
provider.close();
provider.closeAllConnections();

async function measureStart(start) {
  const started = [];
  // Whoever starts first has idled for longest: each variant does in turn.
  for (let place = 0; place < variants.length; place += 1) {
    const i = (start + place) % variants.length;
    started[i] = await startVariant(variants[i]);
  }
  for (const { gateway } of started) await burst(gateway, warmExchanges);
  for (const { name, run } of loads) {
    const lists = costs.get(name);
    for (const list of lists) list.push([]);
    for (let round = 0; round < rounds; round += 1) {
      // Whoever comes first meets colder caches: each variant has each place equally often.
      for (let place = 0; place < variants.length; place += 1) {
        const i = (round + place) % variants.length;
        lists[i].at(-1).push(await cost(started[i], run));
      }
    }
  }
  for (const [i, { gateway }] of started.entries()) {
    residents[i].push(residentOf(gateway.child.pid).toFixed(0));
    await gateway.stop();
  }
}

async function startVariant({ enabled, viewers }) {
  const gateway = await startGateway({ provider, enabled });
  if (viewers > 0) {
    const session = await openSession(gateway);
    for (let i = 0; i < viewers; i += 1) await follow(gateway.port, session);
  }
  return { gateway, viewers };
}

async function openSession(gateway) {
  const opened = await fetch(`http://127.0.0.1:${gateway.port}/_/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: await issueToken(gateway) }),
  });
  const session = await opened.json();
  return { cookie: opened.headers.get('set-cookie').split(';')[0], 'x-inspector-key': session.key };
}

function follow(port, headers) {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/_/api/events', headers, agent: false }, (response) => {
      response.resume();
      resolve();
    })
      .on('error', reject)
      .end();
  });
}

/** CPU time of the gateway per exchange, in microseconds, events that follow included. */
async function cost({ gateway, viewers }, load) {
  const { child } = gateway;
  await burst(gateway, wakingExchanges);
  if (viewers > 0) await wait(eventsMs); // what follows from those is not counted
  const before = cpuOf(child.pid);
  const count = await load(gateway);
  await wait(viewers > 0 ? eventsMs : 20);
  return (cpuOf(child.pid) - before) / count;
}

/** Ratios within a round only, since the machine changes from second to second. */
function report(title, lists) {
  const [off] = lists;
  console.log(
    `\n${title}: µs of CPU per exchange, ratio to "${variants[0].name}" (medians), and of each start`,
  );
  for (const [i, { name }] of variants.entries()) {
    const ratios = lists[i].map((list, start) => list.map((each, round) => each / off[start][round]));
    const each = ratios.map((list) => median(list).toFixed(3)).join(' ');
    const micros = median(lists[i].flat()).toFixed(1).padStart(7);
    console.log(
      `${name.padEnd(8)} ${micros}${i === 0 ? '' : `   ${median(ratios.flat()).toFixed(3)}   (${each})`}`,
    );
  }
}

function median(list) {
  const sorted = list.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
