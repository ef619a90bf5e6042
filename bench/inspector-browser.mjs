#!/usr/bin/env node
// What the live page costs the browser: first paint, CPU time at 200 exchanges a second, and the heap of the page and
// of the gateway after a day's worth of exchanges. With Debian's Chromium, without a graphics card.
//   node bench/inspector-browser.mjs [--seconds 20] [--day 200000] [--only paint,cpu,day]
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { burst, issueToken, pace, startGateway, startProvider } from './inspected.mjs';
import { cpuOf, readText, residentOf, statFields } from './processes.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    day: { type: 'string', default: '200000' },
    only: { type: 'string', default: 'paint,cpu,day' },
  },
});
const seconds = Number(values.seconds);
const only = values.only.split(',');
const provider = await startProvider();
const gateway = await startGateway({ provider, enabled: true });
const server = await chromium.launchServer({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const browserPid = server.process().pid;
const browser = await chromium.connect(server.wsEndpoint());
try {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  await page.goto(`http://127.0.0.1:${gateway.port}/_/#token=${await issueToken(gateway)}`);
  await page.getByRole('grid').waitFor();
  if (only.includes('paint')) await measurePaint(page);
  if (only.includes('cpu')) await measureCpu(page);
  if (only.includes('day')) await measureDay(page);
} finally {
  await browser.close();
  await server.close();
  await gateway.stop();
  provider.close();
  provider.closeAllConnections();
}

async function measurePaint(page) {
  const paints = [];
  for (let round = 0; round < 10; round += 1) {
    await page.reload();
    await page.getByRole('grid').waitFor();
    paints.push(
      await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`),
    );
  }
  console.log(`first contentful paint, ms: ${paints.map((ms) => ms.toFixed(0)).join(' ')}`);
}

async function measureCpu(page) {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable');
  const idle = await sample(client, () => page.waitForTimeout(5_000));
  await pace(gateway, { perSecond: 200, seconds: 5 });
  const busy = await sample(client, () => pace(gateway, { perSecond: 200, seconds }));
  console.log('% of a core            idle   200 a second');
  for (const name of Object.keys(busy))
    console.log(
      `${name.padEnd(20)} ${idle[name].toFixed(1).padStart(6)} ${busy[name].toFixed(1).padStart(14)}`,
    );
}

/** CPU time by process of the browser, and of the page's main thread as the browser itself counts it. */
async function sample(client, work) {
  const before = await read(client);
  const startedAt = performance.now();
  await work();
  const elapsedMs = performance.now() - startedAt;
  const after = await read(client);
  return Object.fromEntries(
    Object.keys(after).map((name) => [name, ((after[name] - (before[name] ?? 0)) / elapsedMs) * 100]),
  );
}

/** In milliseconds. */
async function read(client) {
  const { metrics } = await client.send('Performance.getMetrics');
  const metric = (name) => (metrics.find((each) => each.name === name)?.value ?? 0) * 1_000;
  const byProcess = {};
  for (const pid of processesOf(browserPid)) {
    const type = /--type=([a-z-]+)/.exec(readText(`/proc/${pid}/cmdline`))?.[1] ?? 'browser';
    byProcess[type] = (byProcess[type] ?? 0) + ownCpuMs(pid);
  }
  return {
    ...byProcess,
    'page: all tasks': metric('TaskDuration'),
    'page: script': metric('ScriptDuration'),
    'page: style': metric('RecalcStyleDuration'),
    'page: layout': metric('LayoutDuration'),
    gateway: cpuOf(gateway.child.pid) / 1_000,
  };
}

function processesOf(root) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = [String(root)];
  for (const parent of found)
    for (const pid of pids) if (statFields(pid)[1] === parent && !found.includes(pid)) found.push(pid);
  return found;
}

function ownCpuMs(pid) {
  let nanoseconds = 0;
  for (const task of readdirSync(`/proc/${pid}/task`))
    nanoseconds += Number(readText(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0]);
  return nanoseconds / 1e6;
}

async function measureDay(page) {
  const client = await page.context().newCDPSession(page);
  const total = Number(values.day);
  const steps = 10;
  console.log('exchanges   rows   page heap MB   elements   gateway MB');
  for (let done = 0; done <= total; done += total / steps) {
    if (done > 0) await burst(gateway, total / steps);
    await client.send('HeapProfiler.collectGarbage');
    const { usedSize } = await client.send('Runtime.getHeapUsage');
    const rows = await page.getByRole('grid').getAttribute('aria-rowcount');
    const elements = await page.evaluate('document.querySelectorAll("*").length');
    const cells = [done, Number(rows) - 1, (usedSize / 2 ** 20).toFixed(1), elements];
    cells.push(residentOf(gateway.child.pid).toFixed(0));
    console.log(cells.map((cell, i) => String(cell).padStart([9, 6, 14, 10, 12][i])).join(' '));
  }
}
