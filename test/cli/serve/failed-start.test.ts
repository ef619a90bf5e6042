import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serveHere } from '../../../src/server/server-handle.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';
import { configOf } from '../../kit/served-config.ts';

test('what was opened before a start fails is closed', async () => {
  const directory = emptyDirectory();
  const place = { path: join(directory, 'ledger.sqlite'), journal: join(directory, 'journal') };
  const log: string[] = [];
  const tracing = {
    get timeoutMs(): never {
      throw new Error('no tracer');
    },
  };

  const starting = serveHere({
    config: await configOf('server: { port: 0 }'),
    sandboxUrl: undefined,
    host: '127.0.0.1',
    port: 0,
    record: () => undefined,
    ledger: { place, isSynced: false, keepsRows: false, days: 1, bytes: 1e9 },
    log: (_level, message) => log.push(message),
    tracing,
  });

  await expect(starting).rejects.toThrow('no tracer');
  expect(log).toEqual(['the ledger is flushed']);
  expect(readdirSync(place.journal)).toEqual([]);
});
