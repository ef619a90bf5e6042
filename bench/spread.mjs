// What choosing among several targets of an entry costs, in CPU time of the process. Build first:
// npm run build:modules && node bench/spread.mjs
import { shareOf, spread } from '../build/providers/route.js';

const rounds = 7;
const requests = 200_000;
const maxMicroseconds = 2;

const targetsOf = (count, keys) => {
  const entry = {
    targets: Array.from({ length: count }, (_, i) => ({ provider: `p${i}`, weight: 1 + (i % 3) })),
  };
  return entry.targets.flatMap(({ provider }, index) =>
    Array.from({ length: keys }, (_, i) => ({
      share: shareOf(entry, {
        ...{ entry: 0, index, provider, model: 'm' },
        keyName: keys > 1 ? `key-${i}` : undefined,
      }),
    })),
  );
};
const sessions = Array.from(
  { length: 4_096 },
  (_, i) => `shop-web\n8c1d0c0e-0c44-4d5b-9b0e-${i.toString(16).padStart(12, '0')}`,
);

function microseconds(targets) {
  const before = process.cpuUsage();
  for (let i = 0; i < requests; i += 1) spread(targets, sessions[i % sessions.length]);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

let isMissed = false;
for (const [count, keys] of [
  [1, 1],
  [3, 2],
  [10, 1],
  [10, 2],
]) {
  const targets = count === 1 ? [{}] : targetsOf(count, keys);
  const times = Array.from({ length: rounds }, () => microseconds(targets)).sort((a, b) => a - b);
  const best = times[Math.floor(rounds / 2)];
  console.log(`${count} targets with ${keys} keys each: ${best.toFixed(2)} µs`);
  if (count === 10 && keys === 1 && best > maxMicroseconds) isMissed = true;
}
if (isMissed) {
  console.error(`choosing among ten targets takes more than ${maxMicroseconds} µs`);
  process.exitCode = 1;
}
