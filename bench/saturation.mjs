#!/usr/bin/env node
// Does the gateway stay as it is under a steady load? Finds how many requests a second one core carries (250 B,
// small policy, records in a file), then sends a share of that at a constant rate and looks every ten seconds.
//
//   npm run build && node bench/saturation.mjs [--minutes 10] [--share 0.7] [--seconds 10] [--rate N] [--out FILE]
//
// The load is open: requests are due by the clock, whether or not the answers before them have come, and latency
// counts from when a request was due. So a gateway that stalls is not spared the requests that it kept waiting.
// They are due in batches, one each millisecond. Linux only; the gateway has a core of its own.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bodies } from './bodies.mjs';
import { contenders } from './contenders/registry.mjs';
import { cache, install } from './install.mjs';
import { gatewayFacts, machineFacts } from './machine.mjs';
import { writeBody, wrkCommand } from './measure-json.mjs';
import { maxForeign, watchForeign } from './noise.mjs';
import { OpenLoad } from './open-load.mjs';
import { residentOf, runLoad } from './processes.mjs';
import { startJsonProvider } from './providers.mjs';
import { table } from './report.mjs';
import { startContender, stopAll } from './start.mjs';
import { median } from './summarize.mjs';

const warmUpS = 10;
const closedConnections = 64;
const closedSeconds = 4;
const closedRounds = 3;

/** What is compared, and from which growth of the last third over the first one on it counts as growing. */
const measures = [
  { name: 'p50', unit: 'ms', share: 1.15, least: 0.2 },
  { name: 'p99', unit: 'ms', share: 1.3, least: 1 },
  { name: 'loop50', unit: 'ms', share: 1.3, least: 0.5 },
  { name: 'loop99', unit: 'ms', share: 1.3, least: 1 },
  { name: 'residentMb', unit: 'MB', share: 1.1, least: 8 },
  { name: 'liveMb', unit: 'MB', share: 1.1, least: 3 },
];

async function run({ minutes, share, seconds, rate: givenRate, out }) {
  install();
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'saturation-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const provider = await startJsonProvider(folder);
  const { target, watched } = await startWatched({ provider, folder, seconds });
  const most = await saturate(target, writeBody(join(folder, 'body.json'), bodies.small));
  const rate = givenRate ?? Math.round(most * share);
  say(`${Math.round(most)} requests/s at most; now ${rate} a second for ${minutes} minutes`);

  const load = new OpenLoad({ ...target, body: bodies.small(), rate });
  load.start();
  await wait(warmUpS);
  const samples = [];
  for (let at = 0; at < minutes * 60; at += seconds) {
    load.takeCounts(); // what came between the samples is no part of them
    const foreignSince = watchForeign([target.pid, provider.pid]);
    await wait(seconds);
    const foreign = foreignSince();
    samples.push({ atMs: Date.now(), ...load.takeCounts(), residentMb: residentOf(target.pid), foreign });
    say(lineOf(samples.at(-1)));
  }
  load.stop();
  await stopAll([target, provider]);

  const rows = withWatched(samples, watched(), seconds);
  const results = { date: new Date().toISOString(), machine: machineFacts(), gateway: gatewayFacts() };
  const verdicts = measures.map((measure) => verdictOf(measure, rows));
  const whole = { ...results, most, rate, minutes, seconds, samples: rows, verdicts };
  console.log(report(whole));
  if (out !== undefined) writeFileSync(out, `${JSON.stringify(whole, null, 2)}\n`);
}

/** The gateway with a module beside it that writes down its event loop's delay and its live heap. */
async function startWatched({ provider, folder, seconds }) {
  const [gateway] = contenders({ only: ['gateway'] });
  const file = join(folder, 'watched.jsonl');
  const contender = {
    name: gateway.name,
    prepare: (setting) => {
      const plan = gateway.prepare(setting);
      const [node, ...rest] = plan.command;
      const watch = join(import.meta.dirname, 'watch-process.cjs');
      const environment = {
        ...plan.environment,
        GATEWAY_WATCH_FILE: file,
        GATEWAY_WATCH_MS: `${seconds * 1_000}`,
      };
      return { ...plan, command: [node, '--require', watch, ...rest], environment };
    },
  };
  const target = await startContender(contender, { provider, folder, firstBody: bodies.small() });
  const watched = () =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { target, watched };
}

/** Requests a second with as many connections as keep it busy: the median of several runs, after a warm-up. */
async function saturate(target, file) {
  const once = async (seconds) => {
    const command = wrkCommand(target, { file, connections: closedConnections, seconds });
    const { requests, micros, failed } = await runLoad(command, seconds + 25);
    if (failed > 0) throw new Error(`${failed} requests failed while looking for the saturation`);
    return (requests / micros) * 1e6;
  };
  say('looking for the saturation');
  await once(warmUpS);
  const rates = [];
  for (let round = 0; round < closedRounds; round += 1) rates.push(await once(closedSeconds));
  return median(rates);
}

/** Each sample with what the gateway wrote about itself nearest in time. */
function withWatched(samples, watched, seconds) {
  return samples.map((sample) => {
    const distance = ({ atMs }) => Math.abs(atMs - sample.atMs);
    const near = watched.toSorted((one, other) => distance(one) - distance(other))[0];
    if (near === undefined || distance(near) > seconds * 1_000) return sample;
    return { ...sample, loop50: near.loop50 / 1_000, loop99: near.loop99 / 1_000, liveMb: near.liveMb };
  });
}

function verdictOf({ name, unit, share, least }, rows) {
  const third = Math.floor(rows.length / 3);
  const first = median(rows.slice(0, third).map((row) => row[name]));
  const last = median(rows.slice(-third).map((row) => row[name]));
  const known = first !== undefined && last !== undefined;
  const isGrowing = known && last > first * share && last - first > least;
  const verdict = isGrowing ? 'grows' : 'flat';
  return { name, unit, first, last, rule: `× ${share} and ${least}`, verdict: known ? verdict : 'too few' };
}

function report({ most, rate, minutes, seconds, samples, verdicts, gateway, machine }) {
  const failed = samples.reduce((sum, each) => sum + each.failed, 0);
  const sent = samples.reduce((sum, each) => sum + each.answered, 0);
  const late = Math.max(...samples.map(({ late99 }) => late99));
  const foreign = median(samples.map((each) => each.foreign));
  const columns = [
    'p50',
    'p99',
    'loop50',
    'loop99',
    'residentMb',
    'liveMb',
    'answered',
    'failed',
    'late99',
    'foreign',
  ];
  return [
    `gateway ${gateway.version} (${gateway.commit}), Node ${machine.node}, ${machine.cpu}`,
    `${Math.round(most)} requests/s at most, ${rate} sent each second for ${minutes} minutes: ${sent} answered, ${failed} failed`,
    `the load itself was late by up to ${late.toFixed(1)} ms (p99): latencies below that say little`,
    `others used ${foreign.toFixed(2)} of a core${foreign > maxForeign ? ': too much for this run to say anything' : ''}`,
    '',
    table(
      ['after s', ...columns],
      samples.map((sample, at) => [String((at + 1) * seconds), ...columns.map((name) => sample[name])]),
    ),
    '',
    table(
      ['medians', 'unit', 'first third', 'last third', 'grows from', 'verdict'],
      verdicts.map((each) => [each.name, each.unit, each.first, each.last, each.rule, each.verdict]),
    ),
  ].join('\n');
}

function lineOf({ p50, p99, answered, failed, late99, residentMb, foreign }) {
  const figures = `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${residentMb.toFixed(0)} MB`;
  return `${answered} answered, ${failed} failed, ${figures}, load late ${late99.toFixed(1)} ms, foreign ${foreign.toFixed(2)}`;
}

function wait(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}

function say(text) {
  console.error(text);
}

function parseOptions() {
  const names = ['minutes', 'share', 'seconds', 'rate', 'out'];
  const { values } = parseArgs({
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  });
  const number = (name, otherwise) => {
    const value = Number(values[name] ?? otherwise);
    if (!(value > 0)) throw new Error(`--${name}: expected a number above 0, got "${values[name]}"`);
    return value;
  };
  return {
    minutes: number('minutes', 10),
    share: number('share', 0.7),
    seconds: number('seconds', 10),
    rate: values.rate === undefined ? undefined : number('rate'),
    out: values.out,
  };
}

try {
  await run(parseOptions());
  process.exit(0);
} catch (error) {
  console.error(error.message);
  process.exit(1); // what was started ends with this program
}
