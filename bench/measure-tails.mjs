// How long the slowest of many requests take, on 64 connections that are open already: by h2load, which writes down what
// each request took. wrk's percentiles say something else: it counts the opening of its connections, which Node accepts
// one at each turn of the event loop, and to each long wait it adds the requests that were not sent meanwhile.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bodies } from './bodies.mjs';
import { checkJson } from './check.mjs';
import { writeBody } from './measure-json.mjs';
import { cores, launch } from './processes.mjs';
import { startJsonProvider } from './providers.mjs';
import { path } from './request.mjs';
import { takeFresh } from './rounds.mjs';
import { median } from './summarize.mjs';

const measuredNames = new Set(['nginx', 'bare', 'gateway', 'gateway:no-ledger', 'gateway:logged', 'before']);
const connections = 64;
const warmUpS = 8;
/** Nothing is counted then: connections are opened, and what was lost while others took their turns comes back. */
const steadyS = 1;
const fields = ['p50', 'p90', 'p99', 'p999', 'foreign'];

/** A row for each contender, times in ms. */
export async function measureTails({ contenders, options, folder, say }) {
  const measured = contenders.filter(({ name }) => measuredNames.has(name));
  if (measured.length === 0) return undefined;
  const provider = await startJsonProvider(folder);
  const file = writeBody(join(folder, 'tails.json'), bodies.small);
  const log = join(folder, 'tails.log');
  const load = (target, seconds) => latencies(target, { file, log, seconds });
  const { tails: samples } = await takeFresh({
    contenders: measured,
    setting: { provider, folder, firstBody: bodies.small() },
    rounds: options.rounds,
    ready: async (targets) => {
      await checkJson(targets, provider);
      for (const target of targets) {
        say(`warming ${target.name}`);
        await load(target, options.isQuick ? 1 : warmUpS);
      }
    },
    scenarios: [{ name: 'tails' }],
    takes: () => true,
    take: async (target) => sampleOf(await load(target, options.seconds)),
    say,
  });
  await provider.stop();
  return measured.map(({ name }) => ({
    contender: name,
    ...Object.fromEntries(fields.map((field) => [field, median(samples[name].map((each) => each[field]))])),
    failed: samples[name].reduce((sum, { failed }) => sum + failed, 0),
  }));
}

function sampleOf({ all, failed }) {
  const at = (share) => all[Math.min(all.length - 1, Math.floor(all.length * share))] / 1_000;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), failed };
}

/** Of all requests that got 200, in µs, ascending; and how many did not. */
async function latencies({ port, headers }, { file, log, seconds }) {
  rmSync(log, { force: true });
  const fields = { 'content-type': 'application/json', ...headers };
  const child = launch({
    command: [
      'h2load',
      '--h1',
      `--clients=${connections}`,
      `--warm-up-time=${steadyS}`,
      `--duration=${seconds}`,
      `--data=${file}`,
      `--log-file=${log}`,
      ...Object.entries(fields).map(([name, value]) => `--header=${name}: ${value}`),
      `http://127.0.0.1:${port}${path}`,
    ],
    core: cores.load,
  });
  await new Promise((resolve) => child.once('close', resolve));
  if (child.exitCode !== 0) throw new Error(`h2load failed: ${child.words}`);
  // A line is when a request began, its status, and for how long it took, in µs.
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  const requests = lines.map((line) => line.split('\t'));
  const all = requests.flatMap(([, status, micros]) => (status === '200' ? [Number(micros)] : []));
  if (all.length === 0) throw new Error(`h2load: no request of ${requests.length} got 200`);
  return { all: all.sort((one, other) => one - other), failed: requests.length - all.length };
}
