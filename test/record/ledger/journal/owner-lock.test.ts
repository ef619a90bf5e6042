import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../../../src/database/sqlite-engine.ts';
import { isJournalInUse, lockOwner } from '../../../../src/record/ledger/journal/owner-lock.ts';
import { emptyDirectory } from '../../../kit/own-configuration.ts';

test('a lock is one file, so that one of a killed process leaves nothing else behind', async () => {
  const sqlite = await loadSqlite();
  const directory = emptyDirectory();
  const lock = lockOwner(sqlite, directory, 'owner');

  expect(readdirSync(directory)).toEqual(['owner.lock']);
  expect(isJournalInUse(sqlite, directory)).toBe(true);
  lock.release({ isLast: false });
  expect(isJournalInUse(sqlite, directory)).toBe(false);
});
