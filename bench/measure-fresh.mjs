// The first streams of a process that has answered one request: what of its code is not warm yet, they wait for.
import { streamBody } from './bodies.mjs';
import { runStreams } from './measure-streams.mjs';
import { startStreamProvider } from './providers.mjs';
import { startContender } from './start.mjs';
import { median } from './summarize.mjs';

const load = { streams: 100, events: 20, gapMs: 10 };
const fewestRounds = 5;

/** The median time to the first byte, in µs, by contender. */
export async function measureFresh({ contenders, options, folder, say }) {
  const provider = await startStreamProvider();
  const setting = { provider, folder, firstBody: streamBody({ events: 1, gapMs: 0 }) };
  const rounds = options.isQuick ? options.rounds : Math.max(options.rounds, fewestRounds);
  const measured = contenders.filter(({ name }) => /^[^:]+$|:no-ledger$/.test(name));
  const samples = Object.fromEntries(measured.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of measured) {
      say(`fresh: round ${round + 1}, ${contender.name}`);
      const target = await startContender(contender, setting);
      const { first50, failed } = await runStreams(target, { ...load, warmPort: provider.port });
      samples[contender.name].push({ first50, failed });
      await target.stop();
    }
  }
  await provider.stop();
  return Object.fromEntries(
    Object.entries(samples).map(([name, of]) => [
      name,
      {
        first50: median(of.map(({ first50 }) => first50)),
        failed: of.reduce((sum, { failed }) => sum + failed, 0),
      },
    ]),
  );
}
