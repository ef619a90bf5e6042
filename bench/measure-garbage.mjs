// What a request of 250 B leaves behind for the collector: KB allocated on the main thread's heap, and collections a
// second, by what Node prints with --trace-gc.
import { join } from 'node:path';
import { bodies } from './bodies.mjs';
import { writeBody, wrkCommand } from './measure-json.mjs';
import { cores, freePort, launch, runLoad, stop } from './processes.mjs';
import { startJsonProvider } from './providers.mjs';
import { untilAnswered } from './request.mjs';
import { key } from './start.mjs';

const connections = 64;
const warmUpS = 8;
const measuredNames = new Set(['bare', 'gateway', 'before']);
/** A heap, MB before a collection of it, and after. */
const collection =
  /^\[\d+:(0x[0-9a-f]+)\].*?: (?:Scavenge|Mark-Compact).*? ([\d.]+) \([\d.]+\) -> ([\d.]+) /gm;

/** By contender. */
export async function measureGarbage({ contenders, options, folder, say }) {
  const provider = await startJsonProvider(folder);
  const file = writeBody(join(folder, 'garbage.json'), bodies.small);
  const seconds = Math.max(4, options.seconds);
  const measured = {};
  for (const contender of contenders.filter(({ name }) => measuredNames.has(name))) {
    say(`garbage: ${contender.name}`);
    const port = await freePort();
    const plan = contender.prepare({ port, provider, folder, key });
    const [node, ...rest] = plan.command;
    const command = [node, '--trace-gc', ...rest];
    const child = launch({ ...plan, command, core: cores.contender, stdout: 'pipe' });
    let printed = '';
    child.stdout.setEncoding('latin1').on('data', (text) => {
      printed += text;
    });
    const target = { port, headers: { authorization: `Bearer ${key}`, ...plan.headers } };
    await untilAnswered({ ...target, body: bodies.small() }, child);
    const load = (time) => runLoad(wrkCommand(target, { file, connections, seconds: time }), time + 25);
    await load(options.isQuick ? 2 : warmUpS);
    printed = '';
    const { requests } = await load(seconds);
    const { megabytes, collections } = mainHeap(printed);
    measured[contender.name] = {
      kbPerRequest: (megabytes * 1_024) / requests,
      collectionsPerSecond: collections / seconds,
    };
    await stop(child);
  }
  await provider.stop();
  return measured;
}

/** Of the heap with the most collections: what was allocated between the first of them and the last. */
function mainHeap(printed) {
  const heaps = new Map();
  for (const [, heap, before, after] of printed.matchAll(collection)) {
    const found = heaps.get(heap) ?? { collections: 0, megabytes: 0, after: Number(before) };
    found.megabytes += Number(before) - found.after;
    found.after = Number(after);
    found.collections += 1;
    heaps.set(heap, found);
  }
  return [...heaps.values()].toSorted((one, other) => other.collections - one.collections)[0];
}
