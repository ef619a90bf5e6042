// Contenders take turns within each round, so that all of them meet the same machine.
import { quietly } from './noise.mjs';

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
