import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../../src/database/sqlite-engine.ts';
import { openLedgerFile } from '../../../src/record/ledger/ledger-file.ts';
import type { Intent, LedgerRow } from '../../../src/record/ledger/ledger-row.ts';
import { fileLedger } from '../../../src/record/ledger/ledger-store.ts';
import { openLedger } from '../../../src/record/ledger/open-ledger.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';

const directory = emptyDirectory();

const startedMs = Date.parse('2026-11-22T12:34:00Z');
const pageBytes = 4_096;

function intent(requestId: string, i: number): Intent {
  const known = { project: 'shop', keyId: 'shop-web', endpoint: 'chat', model: `model-${i % 40}` };
  const amounts = { inputTokens: 30, outputTokens: 100, nanoUsd: 1_000 };
  return { requestId, startedMs: startedMs + i * 60_000, ...known, ...amounts };
}

function row(requestId: string, i: number): LedgerRow {
  const answered = { provider: 'host', targetModel: 'm', status: 200, outcome: 'answered' };
  const tokens = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, isEstimated: false };
  const rest = { decision: null, reason: null, firstByteMs: 1, totalMs: 2 };
  const used = { inputTokens: 5, outputTokens: 3, nanoUsd: 80 };
  return { ...intent(requestId, i), ...answered, ...tokens, ...rest, ...used };
}

const wanted = [
  {
    scope: 'project' as const,
    name: 'shop',
    sinceMs: startedMs - 3_600_000,
    untilMs: startedMs + 2_592_000_000,
  },
];

/** A ledger of some 40 pages: exchanges, sums, and lists of open requests that fill pages of their own. */
async function wholeFile(): Promise<Buffer> {
  const path = join(directory, 'whole.sqlite');
  const file = await openLedgerFile(path);
  file.add(Array.from({ length: 600 }, (_, i) => row(`req_${i}`, i)));
  file.close();
  const { DatabaseSync } = await loadSqlite();
  const engine = new DatabaseSync(path);
  engine.exec('pragma wal_checkpoint(truncate)');
  engine.close();
  return readFileSync(path);
}

const damages: Readonly<Record<string, (page: Buffer, number: number) => void>> = {
  zeros: (page) => void page.fill(0),
  noise: (page, number) => {
    for (let i = 0; i < page.length; i += 1) page[i] = (i * 7_919 + number * 31) % 251;
  },
  'noise in its middle': (page, number) => {
    for (let i = 1_500; i < 2_500; i += 1) page[i] = (i * 7_919 + number * 31) % 251;
  },
};

test.each(Object.keys(damages))(
  'with one page overwritten by %s, a file knows every sum or is refused, and nothing hangs',
  async (name) => {
    const whole = await wholeFile();
    const pages = whole.length / pageBytes;
    const outcomes = { known: 0, refused: 0 };
    for (let number = 0; number < pages; number += 1) {
      const damaged = Buffer.from(whole);
      damages[name]?.(damaged.subarray(number * pageBytes, (number + 1) * pageBytes), number);
      const path = join(directory, `${name}-${number}.sqlite`);
      writeFileSync(path, damaged, { mode: 0o600 });

      const retention = { days: 90, bytes: 1e9 };
      const onEvent = () => undefined;
      const { ledger, sums, problem } = await openLedger(
        { place: fileLedger(path), retention, onEvent },
        wanted,
      );

      if (sums === undefined) {
        outcomes.refused += 1;
        // What SQLite or the gateway says of it, and nothing that is in the file.
        expect(problem?.message).toMatch(/malformed|damaged|is not a SQLite database/);
      } else {
        outcomes.known += 1;
        expect(sums).toMatchObject([{ tokens: 600 * 8, nanoUsd: 600 * 80 }]);
      }
      await ledger.close();
    }
    expect(outcomes.refused).toBeGreaterThan(5);
    expect(outcomes.known).toBeGreaterThan(5);
  },
  120_000,
);
