#!/usr/bin/env node
// Where the gateway's CPU time goes under one kind of load.
//   npm run build:modules && node bench/profile.mjs [--body 'small'] [--policy small] [--with limits,metrics] [--streams] [--seconds 6] [--top 40]
// Takes the modules of build/ where they are, so that each line has its file, else the bundle.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bodies, streamBody } from './bodies.mjs';
import { gateway } from './contenders/gateway.mjs';
import { cache, install } from './install.mjs';
import { wrkCommand } from './measure-json.mjs';
import { runStreams } from './measure-streams.mjs';
import { cores, freePort, launch, runLoad } from './processes.mjs';
import { startJsonProvider, startStreamProvider } from './providers.mjs';
import { untilAnswered } from './request.mjs';
import { key } from './start.mjs';

const text = { type: 'string' };
const { values } = parseArgs({
  options: {
    body: text,
    policy: text,
    seconds: text,
    connections: text,
    top: text,
    root: text,
    with: text,
    streams: { type: 'boolean' },
  },
});
const root = values.root ?? join(import.meta.dirname, '..');
const seconds = Number(values.seconds ?? 6);

install();
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'profile-'));
try {
  show(await profile());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function profile() {
  const provider = values.streams ? await startStreamProvider() : await startJsonProvider(folder);
  const contender = gateway({
    name: 'gateway',
    root,
    policy: values.policy ?? 'small',
    records: 'file',
    with: values.with?.split(','),
  });
  const port = await freePort();
  const plan = contender.prepare({ port, provider, folder, key });
  const [node, program, ...rest] = plan.command;
  const modules = join(root, 'build/main.js');
  const flags = ['--cpu-prof', '--cpu-prof-interval', '200', `--cpu-prof-dir=${folder}`];
  const child = launch({
    ...plan,
    command: [node, ...flags, existsSync(modules) ? modules : program, ...rest],
    core: cores.contender,
  });
  const target = { port, headers: { authorization: `Bearer ${key}` } };
  const firstBody = values.streams ? streamBody({ events: 1, gapMs: 0 }) : bodies.small();
  await untilAnswered({ ...target, body: firstBody }, child);
  await load(target);
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  const file = readdirSync(folder).find((name) => name.endsWith('.cpuprofile'));
  return JSON.parse(readFileSync(join(folder, file), 'utf8'));
}

async function load(target) {
  if (values.streams) {
    for (let i = 0; i < 3; i += 1)
      await runStreams(target, { streams: 100, events: (seconds * 100) / 3, gapMs: 10 });
    return;
  }
  const file = join(folder, 'body.json');
  writeFileSync(file, bodies[values.body ?? 'small']());
  await runLoad(
    wrkCommand(target, { file, connections: Number(values.connections ?? 32), seconds }),
    seconds + 25,
  );
}

/** Own time of each function, and of each file, over the second half: the first compiles. */
function show({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const functions = new Map();
  const files = new Map();
  let total = 0;
  for (let at = samples.length >> 1; at < samples.length; at += 1) {
    const { functionName, url, lineNumber } = byId.get(samples[at]).callFrame;
    if (functionName === '(idle)' || functionName === '(program)') continue;
    const file = shortName(url);
    total += timeDeltas[at];
    add(functions, `${functionName || '(anonymous)'}  ${file}:${lineNumber + 1}`, timeDeltas[at]);
    add(files, file, timeDeltas[at]);
  }
  console.log('own time by function');
  print(functions, total, Number(values.top ?? 40));
  console.log('\nown time by file');
  print(files, total, 30);
}

function shortName(url) {
  return url.replace(/^.*\/(?=node_modules\/|dist\/)/, '').replace(/^file:\/\//, '') || '(engine)';
}

function add(map, name, time) {
  map.set(name, (map.get(name) ?? 0) + time);
}

function print(map, total, limit) {
  const rows = [...map].sort(([, one], [, other]) => other - one).slice(0, limit);
  for (const [name, time] of rows) console.log(`${((100 * time) / total).toFixed(1).padStart(6)} %  ${name}`);
}
