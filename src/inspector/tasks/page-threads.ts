import { Worker } from 'node:worker_threads';
import { type FailureCode, GatewayError } from '../../errors.ts';
import type { PageTask } from './page-thread.ts';

const timeLimitMs = 5_000;
/** A thread that is started on a busy machine has its whole time for the task all the same. */
const startLimitMs = 30_000;
const memoryLimitMb = 512;
const maxAtOnce = 2;

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const ownEntry = import.meta.url.endsWith('.ts') ? '../../../dist/page-thread.js' : './page-thread.js';

type TaskReply =
  /** First: the thread has the task. */
  | { readonly isBegun: true }
  | { readonly value: unknown }
  | { readonly code: FailureCode; readonly message: string };

/** Runs the live page's long tasks in separate threads, each with a time limit, so that no exchange waits for them. */
export class PageThreads {
  readonly #entry: URL;
  #running = 0;

  /** `entry` is the module that runs in the threads; the product's own by default. */
  constructor(entry: URL = new URL(ownEntry, import.meta.url)) {
    this.#entry = entry;
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
      return await work(this.#entry, task);
    } finally {
      this.#running -= 1;
    }
  }
}

function work(entry: URL, task: PageTask): Promise<unknown> {
  const thread = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb } });
  thread.unref(); // it doesn't keep the process alive
  return new Promise<unknown>((resolve, reject) => {
    const limit = (ms: number) => setTimeout(() => reject(tooLong(ms)), ms);
    let timer = limit(startLimitMs);
    thread.on('message', (reply: TaskReply) => {
      clearTimeout(timer);
      if ('isBegun' in reply) timer = limit(timeLimitMs);
      else if ('value' in reply) resolve(reply.value);
      else reject(new GatewayError(reply.code, reply.message));
    });
    thread.once('error', (cause) => {
      clearTimeout(timer);
      reject(new GatewayError('inspector.too_long', 'this needs too much memory', { cause }));
    });
    thread.postMessage(task);
  }).finally(() => thread.terminate());
}

function tooLong(ms: number): GatewayError {
  return new GatewayError('inspector.too_long', `this took longer than ${ms / 1_000} s, and was ended`);
}
