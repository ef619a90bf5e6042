import { Worker } from 'node:worker_threads';
import { type FailureCode, GatewayError } from '../../errors.ts';
import type { PageTask } from './page-worker.ts';

const timeLimitMs = 5_000;
/** A thread that is started on a busy machine has its whole time for the task all the same. */
const startLimitMs = 30_000;
const memoryLimitMb = 512;
const maxAtOnce = 2;
/** How long a thread that was started ahead waits for its task. */
const spareMs = 60_000;

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const ownEntry = import.meta.url.endsWith('.ts') ? '../../../dist/page-worker.js' : './page-worker.js';

type Answer =
  /** First: the thread has the task. */
  | { readonly isBegun: true }
  | { readonly value: unknown }
  | { readonly code: FailureCode; readonly message: string };

/** Runs the live page's long tasks in separate threads, each with a time limit, so that no exchange waits for them. */
export class PageThreads {
  readonly #entry: URL;
  #running = 0;
  #spare: Worker | undefined;
  #spareEnds: NodeJS.Timeout | undefined;

  /** `entry` is the module that runs in the threads; the product's own by default. */
  constructor(entry: URL = new URL(ownEntry, import.meta.url)) {
    this.#entry = entry;
  }

  /** Starts a thread for a task that is expected soon: most of a short task's time is the start. */
  prepare(): void {
    this.#spare ??= this.#startSpare();
    clearTimeout(this.#spareEnds);
    this.#spareEnds = setTimeout(() => void this.#takeSpare()?.terminate(), spareMs).unref();
  }

  /** Throws inspector.busy, inspector.too_long, and what the task throws. */
  async run(task: PageTask): Promise<unknown> {
    if (this.#running >= maxAtOnce) {
      throw new GatewayError('inspector.busy', 'the page is still busy with something else; try again', {
        retryAfterS: 1,
      });
    }
    this.#running += 1;
    try {
      return await work(this.#takeSpare() ?? start(this.#entry), task);
    } finally {
      this.#running -= 1;
    }
  }

  #startSpare(): Worker {
    const spare = start(this.#entry);
    // It may fail before its task comes; the task then gets another thread, and the error of that.
    return spare.once('error', () => {
      if (this.#spare === spare) this.#spare = undefined;
    });
  }

  #takeSpare(): Worker | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare;
  }
}

function start(entry: URL): Worker {
  const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb } });
  worker.unref(); // one that waits for a task keeps nobody from ending
  return worker;
}

function work(worker: Worker, task: PageTask): Promise<unknown> {
  return new Promise<unknown>((resolve, reject) => {
    const limit = (ms: number) => setTimeout(() => reject(tooLong(ms)), ms);
    let timer = limit(startLimitMs);
    worker.on('message', (answer: Answer) => {
      clearTimeout(timer);
      if ('isBegun' in answer) timer = limit(timeLimitMs);
      else if ('value' in answer) resolve(answer.value);
      else reject(new GatewayError(answer.code, answer.message));
    });
    worker.once('error', (cause) => {
      clearTimeout(timer);
      reject(new GatewayError('inspector.too_long', 'this needs too much memory', { cause }));
    });
    worker.postMessage(task);
  }).finally(() => worker.terminate());
}

function tooLong(ms: number): GatewayError {
  return new GatewayError('inspector.too_long', `this took longer than ${ms / 1_000} s, and was ended`);
}
