// Requests with JSON answers, by wrk.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bodies } from './bodies.mjs';
import { checkJson } from './check.mjs';
import { isWanted } from './options.mjs';
import { cpuOf, residentOf, runLoad } from './processes.mjs';
import { startJsonProvider } from './providers.mjs';
import { path } from './request.mjs';
import { takeFresh } from './rounds.mjs';
import { median } from './summarize.mjs';

const plain = ['direct', 'nginx', 'haproxy', 'portkey', 'http-proxy', 'bare'];
const team = [':no-ledger', ':limits', ':metrics', ':everything', ':redis', ':tracing'];
const all = [...plain, '', ...team, ':no-policy', ':large', ':logged'];
const byPolicy = [...plain, ':no-policy', '', ':large'];

/** What is sent, on how many connections, and which contenders are worth it; ":x" are variants of the gateway. */
const scenarios = [
  { name: '250 B, 1 connection', body: 'small', connections: 1, contenders: [...byPolicy, ...team] },
  { name: '250 B', body: 'small', connections: 64, contenders: all },
  { name: '8 KB', body: '8 KB', connections: 32, contenders: byPolicy },
  { name: '360 KB', body: '360 KB', connections: 16, contenders: byPolicy },
  { name: '2 MB', body: '2 MB', connections: 8, contenders: byPolicy, isLong: true },
];

/** Long enough for what is given back once nothing is asked. */
const idleMs = 40_000;

/** Before each sample: what a contender lost while others took their turns is not what is measured here. */
const steadyS = 1;

/** Samples by scenario and contender, and the memory of each afterwards. */
export async function measureJson({ contenders, options, folder, say }) {
  const chosen = scenarios.filter(
    ({ name, isLong }) => isWanted(name, options.scenarios) && !(options.isQuick && isLong),
  );
  if (chosen.length === 0) return undefined;
  const files = writeBodies(folder);
  const provider = await startJsonProvider(folder);
  const load = (target, { body, connections }, seconds) =>
    runLoad(wrkCommand(target, { file: files[body], connections, seconds }), seconds + 25);
  const memory = {};
  const samples = await takeFresh({
    contenders,
    setting: { provider, folder, firstBody: bodies.small() },
    rounds: options.rounds,
    ready: async (targets) => {
      await checkJson(targets, provider);
      for (const target of targets) {
        // The compilers of Node's engine work on the contender's core until the code is warm.
        say(`warming ${target.name}`);
        for (const each of chosen.filter((scenario) => takesPart(target.name, scenario)))
          await load(target, each, options.isQuick ? 1 : 6);
      }
    },
    scenarios: chosen,
    takes: ({ name }, scenario) => takesPart(name, scenario),
    take: async (target, scenario) => {
      await load(target, scenario, steadyS);
      return await takeSample(target, () => load(target, scenario, options.seconds));
    },
    rest: async (targets) => {
      await new Promise((resolve) => setTimeout(resolve, idleMs));
      for (const { name, pid } of targets)
        if (pid !== undefined) memory[name] = (memory[name] ?? []).concat(residentOf(pid));
    },
    say,
  });
  await provider.stop();
  return {
    samples,
    memory: Object.fromEntries(Object.entries(memory).map(([name, list]) => [name, median(list)])),
  };
}

export async function takeSample({ pid }, load) {
  const before = pid === undefined ? 0 : cpuOf(pid);
  const { requests, micros, p50, failed } = await load();
  const cpu = pid === undefined ? undefined : (cpuOf(pid) - before) / requests;
  return { cpu, rate: (requests / micros) * 1e6, p50, failed };
}

function takesPart(name, { contenders }) {
  if (contenders.includes(name)) return true;
  const variant = /^(?:gateway|before)(:.*)?$/.exec(name);
  return variant !== null && contenders.includes(variant[1] ?? '');
}

function writeBodies(folder) {
  return Object.fromEntries(
    Object.entries(bodies).map(([name, build]) => {
      return [name, writeBody(join(folder, `${name.replaceAll(/\W+/g, '-')}.json`), build)];
    }),
  );
}

export function writeBody(file, build) {
  writeFileSync(file, build());
  return file;
}

export function wrkCommand({ port, headers }, { file, connections, seconds }) {
  return [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '20s',
    '-s',
    join(import.meta.dirname, 'load-json.lua'),
    `http://127.0.0.1:${port}${path}`,
    '--',
    file,
    ...Object.entries(headers).map(([name, value]) => `${name}=${value}`),
  ];
}
