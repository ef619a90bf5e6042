import { execFileSync } from 'node:child_process';
import {
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { chatAnswer } from '../../kit/answers.ts';
import { type Child, startProgram } from '../../kit/child.ts';
import { command, emptyDirectory } from '../../kit/command.ts';
import { ask, configure, host } from './workers/serving.ts';

// A SQLite ledger that is damaged or read-only; test/record/ledger/damaged-file.slow.test.ts has each page of a file.
const keys = { SHOP_KEY: 'a-project-key-with-a-budget', FREE_KEY: 'a-project-key-without-a-budget' };
const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };

const running: Child[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.process.kill('SIGKILL');
});

const config = (hostUrl: string, { ledger, limits }: { ledger: string; limits: string }) => `
records: { ledger_file: "${ledger}" }
providers: { gpt: { dialect: openai, base_url: "${hostUrl}/v1" } }
models: [{ match: "gpt-*", provider: gpt }]
projects:
  shop:
    ${limits}
    keys: [{ id: shop-web, value: "\${SHOP_KEY}" }]
  free:
    keys: [{ id: free-web, value: "\${FREE_KEY}" }]
`;
const budget = 'limits: { tokens_per_day: 1000000 }';

const answering = () =>
  host((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(chatAnswer);
  });

function run(home: string): Child {
  const child = startProgram(['serve', '-p', '0'], home, keys);
  running.push(child);
  return child;
}

async function start(home: string) {
  const child = run(home);
  await child.wrote('"listening"');
  const { url } = JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8'));
  const statuses = async (key: string, count: number) => {
    const seen: number[] = [];
    for (let i = 0; i < count; i += 1) {
      const response = await ask({ child, home, url: url as string, key, workers: [] }, body);
      await response.text();
      seen.push(response.status);
    }
    return seen;
  };
  const stop = async () => {
    child.process.kill('SIGTERM');
    return (await child.ended).exit;
  };
  return { child, statuses, stop };
}

/** Every page but the first, which says that it is a database. */
function damage(path: string): void {
  const file = openSync(path, 'r+');
  const noise = Buffer.from(Array.from({ length: statSync(path).size - 4_096 }, (_, i) => (i * 7_919) % 251));
  writeSync(file, noise, 0, noise.length, 4_096);
  closeSync(file);
}

test('damaged in the middle: a running gateway goes on, the next one refuses budgets, and says what to do', async () => {
  const { url } = await answering();
  const home = emptyDirectory();
  const ledger = join(home, 'ledger.sqlite');
  configure(home, config(url, { ledger, limits: budget }));
  const filled = await start(home);
  expect(new Set(await filled.statuses(keys.SHOP_KEY, 20))).toEqual(new Set([200]));
  expect(await filled.stop()).toBe(0);

  const first = await start(home);
  expect(await first.statuses(keys.SHOP_KEY, 1)).toEqual([200]);
  damage(ledger);
  expect(await first.statuses(keys.FREE_KEY, 5)).toEqual([200, 200, 200, 200, 200]);
  // Whether it notices depends on which pages it has in memory.
  expect([200, 503]).toEqual(expect.arrayContaining(await first.statuses(keys.SHOP_KEY, 5)));
  expect([0, 1]).toContain(await first.stop());

  for (const suffix of ['-wal', '-shm']) rmSync(ledger + suffix, { force: true });
  damage(ledger);
  const { exit, stderr } = await run(home).ended;
  expect(exit).toBe(2);
  expect(stderr).toContain(`the ledger ${ledger} can't be opened (database disk image is malformed)`);
  expect(stderr).toContain('repair it, move it away, or set records.ledger: false');
  const usage = await command(['usage'], { cwd: home, env: keys });
  expect(usage.exit).toBe(2);
  expect(usage.stderr).toContain(`the ledger ${ledger} can't be read: database disk image is malformed`);

  configure(home, config(url, { ledger, limits: '' }));
  const free = await start(home);
  await free.child.wrote(`the ledger ${ledger} cannot be written`);
  expect(await free.statuses(keys.SHOP_KEY, 2)).toEqual([200, 200]);
  renameSync(ledger, `${ledger}.damaged`);
  await free.child.wrote('can be written again');
  expect(await free.stop()).toBe(0);
  const { stdout } = await command(['usage', '-o', 'json'], { cwd: home, env: keys });
  // What the first gateway could not write any more was in its journal.
  const [others, shop] = JSON.parse(stdout);
  expect(others).toMatchObject({ project: 'free', requests: 5 });
  expect(shop.requests).toBeGreaterThanOrEqual(5 + 2);
}, 120_000);

function fill(folder: string): void {
  for (let size = 65_536; size >= 512; size /= 2) {
    try {
      for (;;) writeFileSync(join(folder, 'filler'), Buffer.alloc(size), { flag: 'a' });
    } catch {
      // full for this size
    }
  }
}

const canMount = process.getuid?.() === 0;
test.skipIf(!canMount)(
  'read-only: budgets are refused at the start, others are served, and it is written once it can be',
  async () => {
    const { url } = await answering();
    const mounted = emptyDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', mounted]);
    try {
      const ledger = join(mounted, 'ledger.sqlite');
      const home = emptyDirectory();
      configure(home, config(url, { ledger, limits: budget }));
      const filled = await start(home);
      expect(await filled.statuses(keys.SHOP_KEY, 1)).toEqual([200]);
      expect(await filled.stop()).toBe(0);
      execFileSync('mount', ['-o', 'remount,ro', mounted]);

      const { exit, stderr } = await run(home).ended;
      expect(exit).toBe(2);
      expect(stderr).toContain(`the ledger ${ledger} can't be opened (EROFS: read-only file system`);

      configure(home, config(url, { ledger, limits: '' }));
      const free = await start(home);
      await free.child.wrote(`the ledger ${ledger} cannot be written`);
      expect(await free.statuses(keys.FREE_KEY, 2)).toEqual([200, 200]);
      execFileSync('mount', ['-o', 'remount,rw', mounted]);
      await free.child.wrote('can be written again');
      expect(await free.stop()).toBe(0);
      const { stdout } = await command(['usage', '-o', 'json'], { cwd: home, env: keys });
      expect(JSON.parse(stdout)).toMatchObject([
        { project: 'free', requests: 2 },
        { project: 'shop', requests: 1 },
      ]);
    } finally {
      execFileSync('umount', ['-l', mounted]);
    }
  },
  120_000,
);

test.skipIf(!canMount).each([1, 2])(
  'what a stop could not write is an error, with %i processes',
  async (workers) => {
    const { url } = await answering();
    const mounted = emptyDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', mounted]);
    try {
      const home = emptyDirectory();
      const ledger = join(mounted, 'ledger.sqlite');
      configure(home, `${config(url, { ledger, limits: '' })}server: { workers: ${workers} }\n`);
      const { child, statuses, stop } = await start(home);
      fill(mounted);
      expect(await statuses(keys.FREE_KEY, 120)).toEqual(Array(120).fill(200));

      expect(await stop()).toBe(1);
      const { stderr } = await child.ended;
      expect(stderr).toMatch(/\d changes of the ledger are not on the disk/);
      expect(stderr).toMatch(/^gateway: not all /m);
    } finally {
      execFileSync('umount', ['-l', mounted]);
    }
  },
  60_000,
);
