// Contenders take turns within each round, so that all of them meet the same machine.
import { quietly } from './noise.mjs';
import { startAll, stopAll } from './start.mjs';

/** Samples by scenario and contender. `takes` says who takes part, `take` takes one sample. */
export async function takeTurns({ scenarios, targets, provider, rounds, takes, take, say }) {
  const samples = {};
  for (const scenario of scenarios) {
    const taking = targets.filter((target) => takes(target, scenario));
    const of = Object.fromEntries(taking.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const target of taking) {
        say(`${scenario.name}, round ${round + 1}, ${target.name}`);
        const watched = target.pid === undefined ? [provider.pid] : [target.pid, provider.pid];
        of[target.name].push(await quietly(watched, () => take(target, scenario)));
      }
    }
    samples[scenario.name] = of;
  }
  return samples;
}

/**
 * The same, with each sample of a process of its own, as two of one program differ by a tenth. `ready` warms those that
 * were started, `rest` looks at them before they end.
 */
export async function takeFresh({ contenders, setting, rounds, ready, rest, ...turns }) {
  const samples = {};
  for (let round = 0; round < rounds; round += 1) {
    const targets = await startAll(contenders, setting);
    await ready(targets);
    const taken = await takeTurns({ ...turns, targets, provider: setting.provider, rounds: 1 });
    for (const [scenario, of] of Object.entries(taken)) {
      samples[scenario] ??= {};
      for (const [name, list] of Object.entries(of))
        samples[scenario][name] = (samples[scenario][name] ?? []).concat(list);
    }
    await rest?.(targets);
    await stopAll(targets);
  }
  return samples;
}
