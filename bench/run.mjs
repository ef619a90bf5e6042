#!/usr/bin/env node
// The gateway against its peers in one run: README.md beside this file says what is measured and how.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contenders as chooseContenders } from './contenders/registry.mjs';
import { goalRows } from './goals.mjs';
import { cache, install } from './install.mjs';
import { gatewayFacts, machineFacts } from './machine.mjs';
import { measureCold } from './measure-cold.mjs';
import { measureFirst } from './measure-first.mjs';
import { measureGarbage } from './measure-garbage.mjs';
import { measureJson } from './measure-json.mjs';
import { measureLines } from './measure-lines.mjs';
import { measureMask } from './measure-mask.mjs';
import { measureMemory } from './measure-memory.mjs';
import { measureStages } from './measure-stages.mjs';
import { measureStartup } from './measure-startup.mjs';
import { measureStreams } from './measure-streams.mjs';
import { measureTails } from './measure-tails.mjs';
import { measureWorkers } from './measure-workers.mjs';
import { alone, parseOptions } from './options.mjs';
import { report } from './report.mjs';
import { median, summarize } from './summarize.mjs';

async function run(options) {
  const contenders = chooseContenders(options);
  if (!options.sections.every((name) => alone.has(name))) install();
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'run-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const setting = { contenders, options, folder, say: (text) => console.error(text) };
  const results = {
    date: new Date().toISOString(),
    options: { rounds: options.rounds, seconds: options.seconds },
    machine: machineFacts(),
    gateway: gatewayFacts(),
  };
  for (const section of options.sections) results[section] = await measure[section](setting);
  results.goals = goalRows(results);
  console.log(report(results));
  if (options.printsJson) console.log(JSON.stringify(results, rounded, 2));
  keep(results, options);
}

const measure = {
  json: async (setting) => {
    const measured = await measureJson(setting);
    if (measured === undefined) return undefined;
    const rows = summarize(measured.samples, ['cpu', 'rate', 'p50']);
    return { rows, memory: measured.memory };
  },
  tails: measureTails,
  streams: async (setting) => {
    const measured = await measureStreams(setting);
    if (measured === undefined) return undefined;
    const fields = ['cpu', 'rate', 'first50', 'first99', 'delay50', 'delay99'];
    return { rows: summarize(measured.samples, fields) };
  },
  first: measureFirst,
  memory: measureMemory,
  garbage: measureGarbage,
  cold: async (setting) => {
    const measured = await measureCold(setting);
    return Object.fromEntries(
      Object.entries(measured).map(([name, samples]) => [
        name,
        {
          coldMs: median(samples.map((sample) => sample.coldMs)),
          residentMb: median(samples.map((sample) => sample.residentMb)),
        },
      ]),
    );
  },
  workers: measureWorkers,
  lines: measureLines,
  mask: measureMask,
  stages: measureStages,
  startup: measureStartup,
};

/** Whole runs are kept in the repository, so that a later one can be held against them. */
function keep(results, { out, only, isQuick, scenarios, against }) {
  const isWhole = only === undefined && !isQuick && scenarios === undefined && against === undefined;
  const file =
    out ?? (isWhole ? join(import.meta.dirname, 'results', `${results.date.slice(0, 10)}.json`) : undefined);
  if (file === undefined) return;
  writeFileSync(file, `${JSON.stringify(results, rounded, 2)}\n`);
  console.error(`written to ${file}`);
}

/** Four digits are more than the noise leaves. */
function rounded(_name, value) {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}

try {
  await run(parseOptions(process.argv.slice(2)));
} catch (error) {
  console.error(error.message);
  process.exit(1); // what was started ends with this program
}
