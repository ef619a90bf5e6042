import { sqliteFailure } from './failures.ts';
import type { SqliteEngine } from './sqlite-engine.ts';

const lockWaitMs = 5_000;
const lockPauseMs = 1;

/**
 * One transaction, which waits for other processes that write. It blocks the thread, and so belongs where nothing
 * else runs: into a thread of its own, or into a command.
 */
export function transaction<Value>(engine: SqliteEngine, work: () => Value): Value {
  begin(engine, performance.now() + lockWaitMs);
  try {
    const value = work();
    engine.exec('commit');
    return value;
  } catch (error) {
    try {
      engine.exec('rollback');
    } catch {
      // SQLite itself has rolled back, as it does where the disk is full.
    }
    throw error;
  }
}

function begin(engine: SqliteEngine, deadline: number): void {
  for (;;) {
    try {
      return engine.exec('begin immediate');
    } catch (error) {
      if (sqliteFailure(error) !== 'locked' || performance.now() > deadline) throw error;
    }
    // SQLite's own waiting becomes longer and longer, up to a tenth of a second.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockPauseMs);
  }
}
