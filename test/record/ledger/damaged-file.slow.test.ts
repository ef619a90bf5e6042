import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../../src/database/sqlite-engine.ts';
import { openLedgerFile } from '../../../src/record/ledger/ledger-file.ts';
import { fileLedger } from '../../../src/record/ledger/ledger-store.ts';
import { openLedger } from '../../../src/record/ledger/open-ledger.ts';
import { emptyDirectory } from '../../kit/own-configuration.ts';
import { dayMs, retention, row, startedMs, wanted } from './rows.ts';

const directory = emptyDirectory();

const pageBytes = 4_096;

/** Of the hours after it began, and of many models. */
const rowAt = (i: number) => ({
  ...row(`req_${i}`),
  started_ms: startedMs + i * 60_000,
  model: `model-${i % 40}`,
});
const all = wanted.map((each) => ({ ...each, untilMs: startedMs + 30 * dayMs }));

/** A ledger of some 40 pages: exchanges, sums, and lists of open requests that fill pages of their own. */
async function wholeFile(): Promise<Buffer> {
  const path = join(directory, 'whole.sqlite');
  const file = await openLedgerFile(path);
  file.add({ rows: Array.from({ length: 600 }, (_, i) => rowAt(i)) });
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

      const onEvent = () => undefined;
      const { ledger, sums, problem } = await openLedger(
        { place: fileLedger(path), retention, onEvent },
        all,
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
