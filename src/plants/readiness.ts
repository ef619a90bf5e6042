import { toStoreError } from '../database/failures.ts';
import { GatewayError } from '../errors.ts';
import { backoffMs } from '../lib/backoff.ts';

interface Preparation<Value> {
  readonly prepare: (attempt: number) => Promise<Value>;
  /** Called for each failure that is followed by another attempt. */
  readonly onFailure: (error: unknown) => void;
  readonly onReady: () => void;
}

const retry = { firstMs: 200, maxMs: 5_000 };

/**
 * Prepares what needs the database. The first attempt is awaited and throws failures that waiting can't fix; while the
 * database is unreachable, more attempts follow in the background, so that a service may start before its database.
 */
export async function becomeReady<Value>(preparation: Preparation<Value>) {
  const { prepare, onFailure, onReady } = preparation;
  let value: Value | undefined;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const failed = (error: unknown) => {
    failures += 1;
    onFailure(error);
    if (isStopped) return;
    timer = setTimeout(
      () => {
        running = again();
      },
      backoffMs(failures, retry),
    ).unref();
  };
  const again = async () => {
    try {
      value = await prepare(failures + 1);
      onReady();
    } catch (error) {
      failed(error);
    }
  };
  let running = Promise.resolve();

  try {
    value = await prepare(1);
  } catch (thrown) {
    const error = toStoreError(thrown);
    if (!(error instanceof GatewayError) || error.code !== 'store.database') throw error;
    failed(error);
  }
  return {
    /** What exists once the database has answered for the first time. */
    get value() {
      return value;
    },
    /** Throws store.database while there is nothing yet. */
    require: (): Value => {
      if (value !== undefined) return value;
      throw new GatewayError('store.database', "the store's database has not answered yet; try again soon", {
        retryAfterS: 1,
      });
    },
    /** Stops the attempts; resolves when none is in progress. */
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
