// What a user waits for once: the first request after a start, the first of 60 KB, the first after a reload, each with the
// policy that `init` writes, and each over the tenth of its kind.
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { bodies } from './bodies.mjs';
import { gateway } from './contenders/gateway.mjs';
import { cores, cpuOf, freePort, launch, stop } from './processes.mjs';
import { startJsonProvider } from './providers.mjs';
import { path } from './request.mjs';
import { key } from './start.mjs';
import { median } from './summarize.mjs';

const fewestRounds = 5;
const requests = 10;
/** About as long as an agent takes to start. */
const idleMs = 1_000;
const waitMs = 30_000;

/** Medians in ms, of waiting and of CPU time, by contender and case. */
export async function measureFirst({ contenders, options, folder, say }) {
  const provider = await startJsonProvider(folder);
  const rounds = options.isQuick ? options.rounds : Math.max(options.rounds, fewestRounds);
  const measured = contenders.filter(({ name }) => name === 'gateway' || name === 'before');
  const samples = {};
  await warmUpMyself(provider.port);
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, root } of measured) {
      say(`first: round ${round + 1}, ${name}`);
      for (const [kind, sample] of Object.entries(await sampleOf(root, { provider, folder }))) {
        samples[name] ??= {};
        samples[name][kind] ??= [];
        samples[name][kind].push(sample);
      }
    }
  }
  await provider.stop();
  const inOne = (all) =>
    Object.fromEntries(Object.keys(all[0]).map((field) => [field, median(all.map((each) => each[field]))]));
  return Object.fromEntries(
    Object.entries(samples).map(([name, kinds]) => [
      name,
      Object.fromEntries(Object.entries(kinds).map(([kind, all]) => [kind, inOne(all)])),
    ]),
  );
}

async function sampleOf(root, { provider, folder }) {
  const port = await freePort();
  const contender = gateway({ name: 'first', root, policy: 'init' });
  const { command, ...plan } = contender.prepare({ port, provider, folder, key });
  const logging = command.map((word) => (word === '--quiet' ? '--log=json' : word));
  const child = launch({ ...plan, command: logging, core: cores.contender });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const target = { port, pid: child.pid, agent: new http.Agent({ keepAlive: true, maxSockets: 1 }) };
  try {
    await until(() => log.includes('listening'), child);
    await pause(idleMs);
    const start = await firstOverTenth(target, bodies.small);
    const large = await firstOverTenth(target, bodies['60 KB']);
    // Another rule, so that everything is compiled anew.
    const file = command[command.indexOf('--config') + 1];
    writeFileSync(file, readFileSync(file, 'utf8').replace('"id": "secrets"', '"id": "other-secrets"'));
    child.kill('SIGHUP');
    await until(() => log.includes('configuration reloaded'), child);
    const reload = await firstOverTenth(target, bodies.small);
    return { start, large, reload };
  } finally {
    target.agent.destroy();
    await stop(child);
  }
}

/** Of ten requests of a kind: the first one, and what it takes longer than the last. */
async function firstOverTenth(target, body) {
  const ms = [];
  const cpu = [];
  for (let at = 0; at < requests; at += 1) {
    const before = cpuOf(target.pid);
    ms.push(await timeOf(target, body().replaceAll('@@MARK@@', `m${at}`)));
    cpu.push((cpuOf(target.pid) - before) / 1_000);
  }
  // One alone may have been disturbed.
  const last = (values) => median(values.slice(-3));
  return { firstMs: ms[0], overMs: ms[0] - last(ms), firstCpuMs: cpu[0], overCpuMs: cpu[0] - last(cpu) };
}

function timeOf({ port, agent }, body) {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const request = http.request(
      { port, host: '127.0.0.1', path, method: 'POST', agent, headers },
      (response) => {
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response
          .resume()
          .on('end', () => resolve(performance.now() - startedAt))
          .on('error', reject);
      },
    );
    request.on('error', reject).end(body);
  });
}

/** This program's own code must not be what is cold. */
async function warmUpMyself(port) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let at = 0; at < 50; at += 1) await timeOf({ port, agent }, bodies.small());
  for (let at = 0; at < 50; at += 1) await timeOf({ port, agent }, bodies['60 KB']());
  agent.destroy();
}

async function until(isSo, child) {
  const endsAt = performance.now() + waitMs;
  while (!isSo()) {
    if (performance.now() > endsAt) throw new Error(`waited in vain: ${child.words}`);
    await pause(5);
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
