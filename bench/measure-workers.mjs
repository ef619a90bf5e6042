// What a second process at the same port costs and brings, for the gateway and the bare proxy. On one core, with load and
// provider on the other, the CPU time of a request says what sharing the port costs. On two cores, which they share with
// load and provider, the requests per second say what it brings: less than on cores of its own, as load and provider take
// their part of what the second worker could use. So the load is pipelined, which takes a third of the generator's time,
// and what two bare proxies gain says what the machine allows.
import { join } from 'node:path';
import { bodies } from './bodies.mjs';
import { checkJson } from './check.mjs';
import { takeSample, writeBody, wrkCommand } from './measure-json.mjs';
import { cores, runLoad } from './processes.mjs';
import { startJsonProvider } from './providers.mjs';
import { takeTurns } from './rounds.mjs';
import { startContender, stopAll } from './start.mjs';
import { median, ratio } from './summarize.mjs';

const placements = [
  { name: 'one core', gateway: cores.contender, others: cores.load },
  { name: 'two cores', gateway: cores.both, others: cores.both },
];
const counts = [1, 2];
const connections = 64;
/** Requests that are sent at once on a connection. */
const pipelined = 8;
/** Each process has code of its own to make warm: short of this many requests, compiling it is what is measured. */
const warmRequests = 40_000;
const longestWarmUpS = 30;

/** A row for each placement, contender and number of workers; undefined where the gateway takes no part. */
export async function measureWorkers({ contenders, ...setting }) {
  if (!contenders.some(({ name }) => name === 'gateway')) return undefined;
  const rows = [];
  for (const placement of placements)
    for (const contender of contenders.filter(({ name }) => name === 'gateway' || name === 'bare'))
      rows.push(...(await measureAt(placement, contender, setting)));
  return rows;
}

async function measureAt(placement, contender, { options, folder, say }) {
  const file = writeBody(join(folder, 'workers.json'), bodies.small);
  const provider = await startJsonProvider(folder, placement.others);
  const targets = [];
  for (const workers of counts) {
    const setting = { provider, folder, firstBody: bodies.small(), core: placement.gateway, workers };
    targets.push({ ...(await startContender(contender, setting)), name: String(workers) });
  }
  await checkJson(targets, provider);
  const load = (target, seconds) =>
    runLoad(wrkCommand(target, { file, connections, seconds }), seconds + 25, placement.others, {
      PIPELINED: String(pipelined),
    });
  for (const target of targets) {
    say(`warming ${contender.name}, ${target.name} on ${placement.name}`);
    await warm((seconds) => load(target, seconds), options.isQuick ? 0 : warmRequests * Number(target.name));
  }
  const samples = await takeTurns({
    scenarios: [placement],
    targets,
    provider,
    rounds: options.rounds,
    takes: () => true,
    take: (target) => takeSample(target, () => load(target, options.seconds)),
    say,
  });
  await stopAll([...targets, provider]);
  return counts.map((workers) => ({
    contender: contender.name,
    ...rowOf(placement, workers, samples[placement.name]),
  }));
}

async function warm(load, requests) {
  const stepS = 3;
  let done = 0;
  for (let spentS = 0; spentS < longestWarmUpS; spentS += stepS) {
    done += (await load(stepS)).requests;
    if (done >= requests) return;
  }
}

const fields = ['cpu', 'rate', 'p50', 'foreign'];

function rowOf({ name }, workers, byCount) {
  const samples = byCount[workers];
  return {
    scenario: name,
    workers,
    ...Object.fromEntries(fields.map((field) => [field, median(samples.map((each) => each[field]))])),
    cpu_x_one: ratio(samples, byCount[1], 'cpu'),
    rate_x_one: ratio(samples, byCount[1], 'rate'),
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
  };
}
