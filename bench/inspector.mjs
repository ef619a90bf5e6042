#!/usr/bin/env node
// What the live page costs the gateway: CPU time an exchange without the page, with it and nobody looking, with one
// page open and with ten. First with as many exchanges as eight connections ask for, then with 200 a second.
//   node bench/inspector.mjs [--rounds 24] [--exchanges 200] [--seconds 0.5] [--only off,one]
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { burst, issueToken, pace, startGateway, startProvider } from './inspected.mjs';
import { cpuOf, residentOf } from './processes.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '24' },
    exchanges: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '0.5' },
    only: { type: 'string', default: 'off,nobody,one,ten' },
  },
});
const [rounds, exchanges, seconds] = [values.rounds, values.exchanges, values.seconds].map(Number);
const perSecond = 200;
/** What the gateway keeps of a burst is kept by then (src/inspector/ring/sampler.ts). */
const warmExchanges = 4_000;
const provider = await startProvider();

const variants = [];
for (const [name, enabled, viewers] of [
  ['off', false, 0],
  ['nobody', true, 0],
  ['one', true, 1],
  ['ten', true, 10],
]) {
  if (values.only.split(',').includes(name))
    variants.push({ name, ...(await startVariant(enabled, viewers)), bursts: [], paced: [] });
}
for (const variant of variants) await burst(variant.gateway, warmExchanges);
for (let round = 0; round < rounds; round += 1) {
  const order = round % 2 === 0 ? variants : variants.toReversed();
  for (const variant of order)
    variant.bursts.push(await cost(variant, (gateway) => burst(gateway, exchanges)));
  for (const variant of order)
    variant.paced.push(await cost(variant, (gateway) => pace(gateway, { perSecond, seconds })));
}
report('as many as eight connections ask for', 'bursts');
report(`${perSecond} a second`, 'paced');
for (const { name, gateway, events } of variants) {
  const resident = residentOf(gateway.child.pid).toFixed(0);
  console.log(`${name.padEnd(8)} ${resident} MB resident, ${events.bytes} bytes of events sent`);
}
for (const { gateway } of variants) await gateway.stop();
provider.close();
provider.closeAllConnections();

async function startVariant(enabled, viewers) {
  const gateway = await startGateway({ provider, enabled });
  const events = { bytes: 0 };
  if (viewers > 0) {
    const session = await openSession(gateway);
    for (let i = 0; i < viewers; i += 1) await follow(gateway.port, session, events);
  }
  return { gateway, events };
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

function follow(port, headers, events) {
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/_/api/events', headers, agent: false }, (response) => {
      response.on('data', (chunk) => {
        events.bytes += chunk.length;
      });
      resolve();
    })
      .on('error', reject)
      .end();
  });
}

/** CPU time of the gateway an exchange, in microseconds, events that follow included. */
async function cost({ gateway }, load) {
  const { child } = gateway;
  const before = cpuOf(child.pid);
  const count = await load(gateway);
  await wait(300);
  return (cpuOf(child.pid) - before) / count;
}

/** Rounds are short and compared each with its own, since the machine changes from second to second. */
function report(title, field) {
  const [off] = variants;
  console.log(
    `\n${title}: µs of CPU an exchange (mean), and the ratio to "${off.name}" (of the means; median and quartiles of the rounds)`,
  );
  for (const variant of variants) {
    const ratios = variant[field].map((each, i) => each / off[field][i]);
    const quartiles = [0.5, 0.25, 0.75].map((share) => quantile(ratios, share).toFixed(3));
    const ratio = mean(variant[field]) / mean(off[field]);
    const [middle, low, high] = quartiles;
    console.log(
      `${variant.name.padEnd(8)} ${mean(variant[field]).toFixed(1).padStart(7)}   ${ratio.toFixed(3)}   ${middle} (${low}-${high})`,
    );
  }
}

function mean(list) {
  return list.reduce((sum, each) => sum + each, 0) / list.length;
}

function quantile(list, share) {
  return list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) * share)];
}
