import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { speakAll } from '../../kit/answers.ts';
import { emptyDirectory } from '../../kit/command.ts';
import { isExhaustive } from '../../kit/scale.ts';
import { host, keys, lines, serve, withBudget, withHost } from './workers/serving.ts';

test.each(isExhaustive ? [1, 2] : [1])(
  'with %i processes /readyz says whether the ledger can be written',
  async (workers) => {
    const directory = join(emptyDirectory(), 'ledger.sqlite');
    mkdirSync(directory);
    const records = `records: { ledger: true, ledger_file: "${directory}" }\n`;
    const provider = await host(speakAll);
    const { url } = await serve(`${withHost(provider, `workers: ${workers}`)}${records}`);
    const ready = async () => (await fetch(`${url}/readyz`, { headers: { connection: 'close' } })).json();

    await expect.poll(ready).toEqual({ status: 'degraded', state: 'ok', ledger: 'failing' });

    rmdirSync(directory);
    let isWhole = 0;
    while (isWhole < 4) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      isWhole = ((await ready()) as { ledger: string }).ledger === 'ok' ? isWhole + 1 : 0;
    }
  },
);

test('a PostgreSQL that is away at the start is known before the gateway is', async () => {
  const records = 'records: { ledger_database: "postgres://me@127.0.0.1:1/none" }';
  const limits = 'usd_per_month: 1';

  const { url, child } = await serve(withBudget('http://127.0.0.1:1', { limits, more: records }), [], keys);

  const said = lines(child).map((line) => (JSON.parse(line) as { msg: string }).msg);
  const isAway = (line: string) => line.includes('cannot be written; its journal waits meanwhile');
  expect(said.findIndex(isAway)).toBeGreaterThanOrEqual(0);
  expect(said.findIndex(isAway)).toBeLessThan(said.indexOf('listening'));
  expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({
    status: 'degraded',
    ledger: 'failing',
  });
});
