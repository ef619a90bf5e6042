import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLedgerFile } from '../../../src/record/ledger/ledger-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-ledger-exit-'));
const program = join(folder, 'exit.mjs');

beforeAll(async () => {
  const input = join(import.meta.dirname, 'exit-child.ts');
  const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' });
  await bundle.write({ file: program, format: 'esm' });
  await bundle.close();
  symlinkSync(join(import.meta.dirname, '../../../dist/ledger-worker.js'), join(folder, 'ledger-worker.js'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
