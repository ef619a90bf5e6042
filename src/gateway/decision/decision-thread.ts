import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import type { Lifetime } from '../../lifetime.ts';
import type { ThreadAnswer, ThreadData, ThreadQuestion } from './thread-messages.ts';

interface ThreadOptions {
  readonly data: ThreadData;
  /** The module that runs in the thread. */
  readonly entry: URL;
}

interface Job {
  readonly question: ThreadQuestion;
  readonly memory: readonly ArrayBuffer[];
  readonly resolve: (answer: ThreadAnswer) => void;
  readonly reject: (error: GatewayError) => void;
}

/**
 * One worker thread, started with the first question. It gets one question at a time, so that a question whose client
 * has disconnected is never begun, and a thread that dies costs only one exchange; the next question starts a new thread.
 */
export class DecisionThread {
  readonly #options: ThreadOptions;
  readonly #waiting: Job[] = [];
  #worker: Worker | undefined;
  #running: Job | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /**
   * Asks the thread, and transfers the listed memory to it; it is transferred back with the answer. Throws policy.error if
   * the thread dies, and the lifetime's reason if that ends first.
   */
  ask(
    question: ThreadQuestion,
    { memory, lifetime }: { readonly memory: readonly ArrayBuffer[]; readonly lifetime: Lifetime },
  ): Promise<ThreadAnswer> {
    let unsubscribe: (() => void) | undefined;
    const answered = new Promise<ThreadAnswer>((resolve, reject) => {
      const job: Job = { question, memory, resolve, reject };
      this.#waiting.push(job);
      unsubscribe = lifetime.onEnd(() => {
        const at = this.#waiting.indexOf(job);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(lifetime.reason ?? new GatewayError('client.left', 'the client left'));
      });
    });
    this.#next();
    return answered.finally(() => unsubscribe?.());
  }

  /** Ends the thread; requests that still wait are refused. */
  async end(): Promise<void> {
    const worker = this.#worker;
    for (const job of this.#waiting.splice(0)) job.reject(threadFailure('the thread was ended'));
    this.#lose(worker, 'the thread was ended');
    await worker?.terminate();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#running = job;
    try {
      this.#worker ??= this.#start();
      this.#worker.postMessage(job.question, job.memory);
    } catch (cause) {
      this.#settle((running) => running.reject(threadFailure(cause)));
    }
  }

  #start(): Worker {
    const { data, entry } = this.#options;
    const worker = new Worker(entry, { workerData: data, env: {}, name: 'decisions' });
    worker.on('message', (answer: ThreadAnswer) => {
      if (worker === this.#worker) this.#settle((running) => running.resolve(answer));
    });
    worker.on('messageerror', (cause) => this.#lose(worker, cause));
    worker.on('error', (cause) => this.#lose(worker, cause));
    worker.on('exit', (code) => this.#lose(worker, `the thread ended with ${code}`));
    worker.unref(); // it must not keep a process that has nothing else to do
    return worker;
  }

  /** Discards an unusable thread, and refuses the request that it was working on. */
  #lose(worker: Worker | undefined, cause: unknown): void {
    if (worker === undefined || worker !== this.#worker) return;
    this.#worker = undefined;
    void worker.terminate(); // it is dead, or its answers are ignored
    this.#settle((running) => running.reject(threadFailure(cause)));
  }

  #settle(notify: (running: Job) => void): void {
    const running = this.#running;
    this.#running = undefined;
    if (running !== undefined) notify(running);
    this.#next();
  }
}

/** Why a body that the thread was asked about can't be used. */
export function threadFailure(cause: unknown): GatewayError {
  return new GatewayError('policy.error', 'the exchange could not be checked, so it is refused', { cause });
}
