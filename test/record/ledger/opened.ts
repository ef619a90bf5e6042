import { onTestFinished } from 'vitest';
import { openSqliteReader } from '../../../src/database/sqlite-engine.ts';
import type { LedgerEvent, LedgerOptions } from '../../../src/record/ledger/ledger.ts';
import { fileLedger } from '../../../src/record/ledger/ledger-store.ts';
import { openLedger } from '../../../src/record/ledger/open-ledger.ts';
import { retention, wanted } from './rows.ts';

/** A ledger for a test, with what it reports. */
export async function openAt(place: LedgerOptions['place'], options: Partial<LedgerOptions> = {}) {
  const events: LedgerEvent[] = [];
  const onEvent = (event: LedgerEvent) => events.push(event);
  const opened = await openLedger({ place, retention, onEvent, ...options }, wanted);
  onTestFinished(() => opened.ledger.close());
  return { ...opened, events };
}

/** The same in a file. */
export function openFile(path: string, options: Partial<LedgerOptions> = {}) {
  return openAt(fileLedger(path), options);
}

/** What SQL finds in a file. */
export async function select<Row>(path: string, sql: string): Promise<readonly Row[]> {
  const engine = await openSqliteReader(path);
  const rows = engine.prepare(sql).all();
  engine.close();
  return rows as readonly Row[];
}
