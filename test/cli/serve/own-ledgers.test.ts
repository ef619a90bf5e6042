import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, emptyDirectory, startServing } from '../../kit/command.ts';
import { answering, configure, keys, statuses, withBudget } from './workers/serving.ts';

/** Writes a configuration that allows one request; its project and keys have the names of all others here. */
async function write(folder: string, more = ''): Promise<void> {
  mkdirSync(folder, { recursive: true });
  configure(folder, withBudget((await answering()).url, { limits: 'tokens_per_day: 200', more }));
}

async function ask(home: string, folder: string): Promise<readonly number[]> {
  const { url, stop } = await startServing({ cwd: home, env: keys }, '-c', join(folder, 'gateway.yaml'));
  const answered = await statuses({ url, key: keys.SHOP_KEY }, 1);
  await stop();
  return answered;
}

async function rowsOf(home: string, folder: string): Promise<string> {
  const argv = ['usage', '-c', join(folder, 'gateway.yaml'), '--jq', '.[] | "\\(.project) \\(.requests)"'];
  return (await command(argv, { cwd: home, env: keys })).stdout;
}

test('two configurations with the same names have budgets and rows of their own, also after a restart', async () => {
  const home = emptyDirectory();
  const [one, two] = [join(home, 'one'), join(home, 'two')];
  for (const folder of [one, two]) await write(folder);

  expect([await ask(home, one), await ask(home, two)]).toEqual([[200], [200]]);
  expect(await ask(home, one)).toEqual([429]);

  expect(await rowsOf(home, one)).toBe('shop 1\n');
  expect(await rowsOf(home, two)).toBe('shop 1\n');
}, 60_000);

test('a configuration that was moved keeps its budgets if it names the ledger that it had', async () => {
  const home = emptyDirectory();
  const [before, after] = [join(home, 'before'), join(home, 'after')];
  await write(before);
  expect(await ask(home, before)).toEqual([200]);
  renameSync(before, after);
  expect(await rowsOf(home, after)).toBe('');

  await write(after, `records: { ledger_file: "${join(home, '.local/state/gateway/ledger.sqlite')}" }`);

  expect(await ask(home, after)).toEqual([429]);
  expect(await rowsOf(home, after)).toBe('shop 1\n');
}, 60_000);
