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

const outputs: readonly ((random: Random) => string)[] = [
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

export const output = (random: Random) => random.pick(outputs)(random);
export const prompts = [
  'Fix the failing test in src/parser.ts and explain why it failed.',
  'Summarize the last three releases in a table.',
  'Why does `npm ci` take so long on CI? Keep it short.',
  'Bitte übersetze die Fehlermeldung ins Englische.',
  'Write a regular expression for ISO dates, e.g. 2026-11-23.',
];
export const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    file_path: { type: 'string', description: 'The absolute path of the file' },
    file_id: { type: 'string', description: 'An id' },
    image_url: { type: 'string', format: 'uri' },
    max_tokens: { type: 'integer', maximum: 1_000_000 },
    name: { type: 'string', enum: ['python', 'web_search'] },
    model: { type: 'string', default: 'gpt-4o' },
  },
  required: ['file_path'],
  additionalProperties: false,
};
export const args = (random: Random) => ({
  file_path: '/repo/src/app.ts',
  limit: random.number(2000),
  text: output(random),
});
