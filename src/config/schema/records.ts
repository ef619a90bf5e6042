import * as z from 'zod';
import { reaching } from './reach.ts';
import { postgresUrl } from './scalars.ts';

/** What is written about each exchange, and where. */
export const recordsSchema = z.strictObject({
  file: reaching('records', z.string().min(1))
    .nullable()
    .default(null)
    .describe('File of the JSON lines, relative to this file; null: in the state directory.'),
  bodies: reaching('bodies', z.boolean())
    .default(false)
    .describe('Record request bodies too, in the file only: `gateway policy replay` needs them.'),
  ledger: reaching('nothing', z.boolean())
    .optional()
    .describe(
      'Keep durable rows of usage, from which budgets continue after a restart; default: yes, unless only the sandbox is served.',
    ),
  ledger_sync: reaching('nothing', z.enum(['every_second', 'always']))
    .default('every_second')
    .describe(
      'How often the ledger is written through to the disk. What was answered survives the end of the process in any case; `always` also waits for the disk before each call to a provider, so that a power failure loses nothing.',
    ),
  ledger_file: reaching('usage file', z.string().min(1))
    .nullable()
    .default(null)
    .describe('SQLite file of the ledger, relative to this file; null: in the state directory.'),
  ledger_database: reaching('usage database', postgresUrl.nullable())

    .default(null)
    .describe('PostgreSQL database of the ledger, which several gateways can share; null: the file.'),
  ledger_days: reaching('nothing', z.int().min(1).max(3_650))
    .default(90)
    .describe('How many days its rows are kept; sums are kept for 400 days.'),
  ledger_megabytes: reaching('nothing', z.int().min(1).max(1_000_000))
    .default(1_000)
    .describe('How large the ledger may become before the oldest rows are deleted.'),
});
