import type { SqliteEngine } from '../../database/sqlite-engine.ts';
import { addedSums, sumValues } from './added-sums.ts';
import { exchangeColumns, exchangeNames } from './exchange-columns.ts';
import type { LedgerRow } from './ledger-row.ts';
import { additions, sumColumns, sumKey } from './ledger-sums.ts';

/**
 * Adds rows within the caller's transaction: once for each request, whoever writes it and however often. The statements are
 * prepared once: kysely would compile each query again.
 */
export function prepareAdding(engine: SqliteEngine): (rows: readonly LedgerRow[]) => void {
  const addRow = engine.prepare(
    `insert into exchanges (${exchangeNames}) values (${marks(exchangeColumns)}) on conflict do nothing`,
  );
  const addSum = engine.prepare(
    `insert into sums (${sumColumns.join()}) values (${marks(sumColumns)})
     on conflict (${sumKey}) do update set ${additions('sums')}`,
  );
  return (rows) => {
    const added = rows.filter((row) => {
      return Number(addRow.run(...exchangeColumns.map(({ read }) => read(row))).changes) > 0;
    });
    for (const sum of addedSums(added)) addSum.run(...sumValues(sum));
  };
}

function marks(columns: readonly unknown[]): string {
  return columns.map(() => '?').join();
}
