/** A small generator with a seed, so that each run tries the same bodies. */
export function randomFrom(seed: number) {
  let state = seed;
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const from = (letters: string, length: number) =>
    Array.from({ length }, () => letters[next(letters.length)]).join('');
  return {
    pick: <Item>(items: readonly Item[]) => items[next(items.length)] as Item,
    number: next,
    hex: (length: number) => from('0123456789abcdef', length),
    id: (length: number) => from('ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz0123456789', length),
  };
}
export type Random = ReturnType<typeof randomFrom>;

export const uuid = ({ hex }: Random) => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
export const stamp = ({ number }: Random) =>
  `2026-0${1 + number(9)}-${10 + number(18)}T0${number(10)}:${10 + number(50)}:0${number(10)}.${100 + number(900)}Z`;

export const outputs: readonly ((random: Random) => string)[] = [
  (random) =>
    `commit ${random.hex(40)}\nAuthor: A Developer\nDate:   ${stamp(random)}\n\n    parser: fix the build`,
  (random) =>
    `index ${random.hex(7)}..${random.hex(7)} 100644\n--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1,4 +1,5 @@\n-const n = ${random.number(1e6)};\n+const n = 0x${random.hex(6)};`,
  (random) =>
    `-rw-r--r--  1 dev staff  ${random.number(1e7)} Nov ${1 + random.number(28)} 10:24 package-lock.json`,
  (random) =>
    `"integrity": "sha512-${random.id(86)}==",\n"resolved": "https://registry.npmjs.org/zod/-/zod-4.${random.number(9)}.${random.number(30)}.tgz"`,
  (random) =>
    `${stamp(random)} INFO request_id=${uuid(random)} took ${random.number(9000)}ms, ${random.number(1e9)} bytes`,
  (random) =>
    `Tests  ${random.number(2000)} passed (${random.number(2000)})\nDuration  ${random.number(99)}.${random.number(99)}s`,
  (random) => `sha256:${random.hex(64)}  ${1_700_000_000 + random.number(9e7)}`,
  (random) =>
    `total: €${random.number(9999)}.${10 + random.number(90)} for order #${random.number(99_999)}, version ${random.number(20)}.${random.number(20)}.${random.number(20)}`,
  () =>
    'import { readFile } from "node:fs/promises";\n\nexport const token = process.env.API_TOKEN;\nconst key = config.get("apiKey");',
  () => 'cd "C:\\Program Files\\app" && npm ci\n\u001b[32m✓\u001b[39m 東京 café naïve 👩‍👩‍👧',
  (random) =>
    JSON.stringify({
      id: random.number(1e6),
      ok: true,
      items: [1.5, 2e3, -0.25],
      at: stamp(random),
      etag: random.hex(32),
    }),
  (random) =>
    `rgb(${random.number(256)}, ${random.number(256)}, ${random.number(256)}) #${random.hex(6)} 10.5px 1920x1080 100%`,
];
