// From the start of a program to its first 200, and the memory it has then.
import { bodies } from './bodies.mjs';
import { residentOf } from './processes.mjs';
import { startJsonProvider } from './providers.mjs';
import { startContender } from './start.mjs';

const fewestRounds = 5;

export async function measureCold({ contenders, options, folder, say }) {
  const provider = await startJsonProvider(folder);
  const setting = { provider, folder, firstBody: bodies.small() };
  const rounds = options.isQuick ? options.rounds : Math.max(options.rounds, fewestRounds);
  const measured = contenders.filter(({ name }) => name !== 'direct' && /^[^:]+$|:large$/.test(name));
  const samples = Object.fromEntries(measured.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of measured) {
      say(`cold: round ${round + 1}, ${contender.name}`);
      const { coldMs, pid, stop } = await startContender(contender, setting);
      samples[contender.name].push({ coldMs, residentMb: residentOf(pid) });
      await stop();
    }
  }
  await provider.stop();
  return samples;
}
