// Three lines of the goals that no other section has: the tail under a steady load with the ledger and without, random
// letters against words, and the start with many keys and models.
import { randomBytes } from 'node:crypto';
import { bodies } from './bodies.mjs';
import { gateway } from './contenders/gateway.mjs';
import { OpenLoad } from './open-load.mjs';
import { cpuOf } from './processes.mjs';
import { startJsonProvider } from './providers.mjs';
import { ask } from './request.mjs';
import { startAll, startContender, stopAll } from './start.mjs';
import { median } from './summarize.mjs';

const requestsPerSecond = 1_500;
const warmUpS = 3;
const megabyte = 1_048_576;
const entries = 10_000;
const fewestRounds = 3;
const root = new URL('..', import.meta.url).pathname;

const wait = (seconds) => new Promise((done) => setTimeout(done, seconds * 1_000));

/** Ratios; undefined where the gateway takes no part. */
export async function measureLines({ contenders, options, folder, say }) {
  const asked = contenders.filter(({ name }) => name === 'gateway' || name === 'gateway:no-ledger');
  if (asked.length < 2) return undefined;
  const provider = await startJsonProvider(folder);
  const setting = { provider, folder, firstBody: bodies.small() };
  const rounds = options.isQuick ? options.rounds : Math.max(options.rounds, fewestRounds);
  const measured = {};
  const measures = { ledgerP99: steady, randomOfWords: random, manyOfEmpty: start };
  for (const [name, measure] of Object.entries(measures)) {
    say(`lines: ${name}`);
    measured[name] = await measure({ asked, setting, rounds, seconds: options.seconds });
  }
  await provider.stop();
  return measured;
}

/** p99 with the ledger, as a ratio to p99 without. */
async function steady({ asked, setting, rounds, seconds }) {
  const started = await startAll(asked, setting);
  const p99 = started.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [at, target] of started.entries()) {
      const load = new OpenLoad({ ...target, body: bodies.small(), rate: requestsPerSecond });
      load.start();
      await wait(round < 0 ? warmUpS : 1); // connections are opened
      load.takeCounts();
      if (round >= 0) await wait(seconds);
      if (round >= 0) p99[at].push(load.takeCounts().p99);
      load.stop();
    }
  }
  await stopAll(started);
  const of = (wanted) => median(p99[asked.findIndex(({ name }) => name === wanted)]);
  return of('gateway') / of('gateway:no-ledger');
}

/** CPU time for 1 MB of random base64, new each time, as a ratio to 1 MB of words. */
async function random({ setting, rounds }) {
  const target = await startContender(gateway({ name: 'gateway', root, policy: 'example' }), setting);
  const words = 'the gateway should stream tokens '.repeat(megabyte / 33);
  const body = (text) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] });
  const costOf = async (text) => {
    const before = cpuOf(target.pid);
    const { status } = await ask({ ...target, body: body(text) });
    if (status !== 200) throw new Error(`1 MB was answered with ${status}`);
    return cpuOf(target.pid) - before;
  };
  const costs = { letters: [], words: [] };
  for (let round = -2; round < rounds * 2; round += 1) {
    const letters = await costOf(randomBytes((megabyte / 4) * 3).toString('base64'));
    const said = await costOf(words);
    if (round < 0) continue;
    costs.letters.push(letters);
    costs.words.push(said);
  }
  await target.stop();
  return median(costs.letters) / median(costs.words);
}

/** CPU time to the first 200 with 10,000 keys that have limits and as many models, as a ratio to one of each. */
async function start({ setting, rounds }) {
  const list = (make) => Array.from({ length: entries }, (_, at) => make(at));
  const extend = (plain) => ({
    ...plain,
    models: [...list((at) => ({ match: `model-${at}`, provider: 'provider' })), ...plain.models],
    projects: {
      ...plain.projects,
      many: {
        keys: list((at) => ({
          id: `key-${at}`,
          hash: `sha256:${at.toString(16).padStart(64, '0')}`,
          limits: { usd_per_day: 10, requests_per_minute: 60 },
        })),
      },
    },
  });
  const costs = { many: [], one: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, change] of [
      ['many', { extend }],
      ['one', {}],
    ]) {
      const target = await startContender(gateway({ name, root, ...change }), setting);
      costs[name].push(cpuOf(target.pid));
      await target.stop();
    }
  }
  return median(costs.many) / median(costs.one);
}
