import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { speakAll } from '../../kit/answers.ts';
import { emptyDirectory } from '../../kit/command.ts';
import { isExhaustive } from '../../kit/scale.ts';
import { host, serve, withHost } from './workers/serving.ts';

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
