import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { beforeAll, expect, test } from 'vitest';
import { openLedgerFile } from '../../../src/record/ledger/ledger-file.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';

const folder = emptyDirectory();
const program = join(folder, 'exit.mjs');

beforeAll(async () => {
  const input = join(import.meta.dirname, 'exit-child.ts');
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' });
  await bundle.write({ file: program, format: 'esm', codeSplitting: false });
  await bundle.close();
  symlinkSync(join(import.meta.dirname, '../../../dist/ledger-thread.js'), join(folder, 'ledger-thread.js'));
});

test('a process that ends while it moves segments ends with its own exit code', async () => {
  for (let i = 0; i < 8; i += 1) {
    const path = join(folder, `${i}.sqlite`);
    const child = spawn(process.execPath, [program, path, String(1_000 + i * 70)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const [code, signal] = await once(child, 'close');
    expect({ code, signal, stderr }).toEqual({ code: 7, signal: null, stderr: '' });
    (await openLedgerFile(path)).close();
  }
}, 60_000);
