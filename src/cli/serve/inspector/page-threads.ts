import { Worker } from 'node:worker_threads';
import { type FailureCode, GatewayError } from '../../../errors.ts';
import type { PageTask } from './page-worker.ts';

const timeLimitMs = 5_000;
const memoryLimitMb = 512;
const maxAtOnce = 2;

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const ownEntry = import.meta.url.endsWith('.ts') ? '../../../../dist/page-worker.js' : './page-worker.js';

type Answer = { readonly value: unknown } | { readonly code: FailureCode; readonly message: string };

/** Runs the live page's long tasks in separate threads, each with a time limit, so that no exchange waits for them. */
export class PageThreads {
  #running = 0;

  /** Throws inspector.busy, inspector.too_long, and what the task throws. */
  async run(task: PageTask): Promise<unknown> {
    if (this.#running >= maxAtOnce) {
      throw new GatewayError('inspector.busy', 'the page is still busy with something else; try again', {
        retryAfterS: 1,
      });
    }
    this.#running += 1;
    try {
      return await work(task);
    } finally {
      this.#running -= 1;
    }
  }
}

function work(task: PageTask): Promise<unknown> {
  const worker = new Worker(new URL(ownEntry, import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
  });
  return new Promise<unknown>((resolve, reject) => {
    const timer = setTimeout(() => reject(tooLong()), timeLimitMs);
    worker.once('message', (answer: Answer) => {
      clearTimeout(timer);
      if ('value' in answer) resolve(answer.value);
      else reject(new GatewayError(answer.code, answer.message));
    });
    worker.once('error', (cause) => {
      clearTimeout(timer);
      reject(new GatewayError('inspector.too_long', 'this needs too much memory', { cause }));
    });
  }).finally(() => worker.terminate());
}

function tooLong(): GatewayError {
  return new GatewayError(
    'inspector.too_long',
    `this took longer than ${timeLimitMs / 1_000} s, and was ended`,
  );
}
