import { Worker, type WorkerOptions } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import type { Lifetime } from '../../lib/lifetime.ts';
import type { JobResult, Jobs, ThreadQuestion, ThreadReply } from './decide-thread.ts';
import {
  fromErrorParts,
  type Preparation,
  type Prepared,
  type ThreadData,
  threadFailure,
} from './thread-messages.ts';

/** Whose question it is, and what comes with it. */
interface Asked {
  /** The key, whose questions wait for one another and for no other key's. */
  readonly key: string;
  readonly memory: readonly ArrayBuffer[];
  readonly lifetime: Lifetime;
}

interface Job {
  readonly key: string;
  readonly question: ThreadQuestion;
  readonly memory: readonly ArrayBuffer[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: GatewayError) => void;
}

/** What the policies compiled to takes some megabytes in each thread. */
export interface ThreadLimits {
  readonly count: number;
  /** Of JavaScript's heap in each; undefined: as Node does. */
  readonly heapMegabytes: number | undefined;
}

/** Of new objects, where the heap is limited; Node's own is three times as much. */
const youngMegabytes = 16;
const usual: ThreadLimits = { count: 4, heapMegabytes: undefined };
/** How long a thread is busy, in milliseconds, before another one is made ready. */
const prepareAfterMs = 250;

/**
 * A few threads, started as they are needed. A key has one of them at a time: however much its requests take, another
 * key's find a free one, and where more keys ask at once than there are threads, they take turns. Each thread gets one
 * question at a time, so that a question whose client has disconnected is never begun, and a thread that dies costs only
 * one exchange.
 */
export class DecisionThreads {
  readonly #data: ThreadData;
  readonly #entry: URL;
  readonly #limits: ThreadLimits;
  /** The one that has rested longest is the next to work, so that all know the texts that come. */
  readonly #idle: DecisionThread[] = [];
  /** One that still compiles, for whoever finds no other. */
  #spare: DecisionThread | undefined;
  #preparing: NodeJS.Timeout | undefined;
  readonly #busy = new Map<string, DecisionThread>();
  /** What each key waits for, in the order of their turns. */
  readonly #waiting = new Map<string, Job[]>();

  /** `entry` is the module that runs in the threads. */
  constructor(data: ThreadData, entry: URL, limits: ThreadLimits = usual) {
    this.#data = data;
    this.#entry = entry;
    this.#limits = limits;
  }

  /**
   * Asks a thread, and transfers the listed memory to it; it is transferred back with the answer. Throws what the job
   * throws, policy.error if the thread dies, and the lifetime's reason if that ends first.
   */
  ask<Kind extends keyof Jobs>(
    question: ThreadQuestion<Kind>,
    { key, memory, lifetime }: Asked,
  ): Promise<JobResult<Kind>> {
    let unsubscribe: (() => void) | undefined;
    const answered = new Promise<unknown>((resolve, reject) => {
      const job: Job = { key, question, memory, resolve, reject };
      const jobs = this.#waiting.get(key);
      if (jobs === undefined) this.#waiting.set(key, [job]);
      else jobs.push(job);
      unsubscribe = lifetime.onEnd(() => {
        this.#forget(job);
        reject(lifetime.reason ?? new GatewayError('client.left', 'the client left'));
      });
    });
    this.#next();
    return answered.finally(() => unsubscribe?.()) as Promise<JobResult<Kind>>; // the thread's answer to this kind
  }

  /** Whether one is there, or on its way. */
  get areStarted(): boolean {
    return this.#busy.size > 0 || this.#idle.length > 0 || this.#spare !== undefined;
  }

  /** Ends the threads; requests that still wait are refused. */
  async end(): Promise<void> {
    clearTimeout(this.#preparing);
    const jobs = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const job of jobs) job.reject(threadFailure('the thread was ended'));
    const spare = this.#spare === undefined ? [] : [this.#spare];
    const threads = [...this.#idle.splice(0), ...spare, ...this.#busy.values()];
    await Promise.all(threads.map((thread) => thread.end()));
  }

  /** Gives free threads to the keys that wait and have none. */
  #next(): void {
    for (const [key, jobs] of this.#waiting) {
      if (this.#busy.has(key)) continue;
      if (this.#busy.size >= this.#limits.count) return;
      const job = jobs.shift() as Job; // a key waits only while it has some
      if (jobs.length === 0) this.#waiting.delete(key);
      try {
        const thread = this.#idle.shift() ?? this.#takeSpare() ?? this.#start();
        this.#busy.set(key, thread);
        thread.run(job, () => this.#release(key, thread));
        this.#preparing ??= setTimeout(() => this.#prepareIfBusy(job.question), prepareAfterMs).unref();
      } catch (cause) {
        job.reject(threadFailure(cause));
      }
    }
  }

  #release(key: string, thread: DecisionThread): void {
    this.#busy.delete(key);
    if (thread.isAlive) this.#idle.push(thread);
    const jobs = this.#waiting.get(key);
    // Whoever had a turn waits for the next one behind all others.
    if (jobs !== undefined && this.#waiting.delete(key)) this.#waiting.set(key, jobs);
    this.#next();
  }

  /**
   * One more than is needed now is ready, as starting one takes several times as long as most of what it is asked. Not at
   * once: a first thread would take twice as long to start, and most bodies are done by then.
   */
  #prepareIfBusy(question: Job['question']): void {
    this.#preparing = undefined;
    const isLast = this.#idle.length === 0 && this.#spare === undefined;
    if (isLast && this.#busy.size > 0 && this.#busy.size < this.#limits.count) this.#prepare(question);
  }

  #prepare({ input: { policies } }: ThreadQuestion): void {
    const thread = this.#start();
    this.#spare = thread;
    thread.prepare(policies, () => {
      if (this.#takeSpareIf(thread)) this.#idle.push(thread);
    });
  }

  #takeSpare(): DecisionThread | undefined {
    const spare = this.#spare;
    this.#spare = undefined;
    return spare;
  }

  #takeSpareIf(thread: DecisionThread): boolean {
    return this.#spare === thread && this.#takeSpare() !== undefined;
  }

  #start(): DecisionThread {
    const thread = new DecisionThread(this.#workerOptions(), this.#entry, () => {
      this.#takeSpareIf(thread);
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    return thread;
  }

  #workerOptions(): WorkerOptions {
    const { heapMegabytes } = this.#limits;
    const resourceLimits =
      heapMegabytes === undefined
        ? {}
        : { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: youngMegabytes };
    return { workerData: this.#data, env: {}, name: 'decisions', resourceLimits };
  }

  #forget(job: Job): void {
    const jobs = this.#waiting.get(job.key);
    const at = jobs?.indexOf(job) ?? -1;
    if (jobs === undefined || at < 0) return;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#waiting.delete(job.key);
  }
}

/** One thread, and the job that it is at. */
class DecisionThread {
  #thread: Worker | undefined;
  #job: Job | undefined;
  #onDone: (() => void) | undefined;
  #onReady: (() => void) | undefined;
  readonly #onDeath: () => void;

  constructor(options: WorkerOptions, entry: URL, onDeath: () => void) {
    this.#onDeath = onDeath;
    const thread = new Worker(entry, options);
    thread.on('message', (answer: ThreadReply | Prepared) => {
      if ('isReady' in answer) this.#onReady?.();
      else this.#settle((job) => conclude(job, answer));
    });
    thread.on('messageerror', (cause) => this.#lose(cause));
    thread.on('error', (cause) => this.#lose(cause));
    thread.on('exit', (code) => this.#lose(`the thread ended with ${code}`));
    thread.unref(); // it must not keep a process that has nothing else to do
    this.#thread = thread;
  }

  get isAlive(): boolean {
    return this.#thread !== undefined;
  }

  run(job: Job, onDone: () => void): void {
    this.#job = job;
    this.#onDone = onDone;
    try {
      this.#thread?.postMessage(job.question, job.memory);
    } catch (cause) {
      this.#settle((each) => each.reject(threadFailure(cause)));
    }
  }

  /** Compiles these policies before anything is asked. */
  prepare(policies: readonly string[], onReady: () => void): void {
    this.#onReady = onReady;
    this.#thread?.postMessage({ kind: 'preparation', input: { policies } } satisfies Preparation);
  }

  async end(): Promise<void> {
    const thread = this.#thread;
    this.#lose('the thread was ended');
    await thread?.terminate();
  }

  /** Discards an unusable thread, and refuses the request that it was working on. */
  #lose(cause: unknown): void {
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#thread = undefined;
    void thread.terminate(); // it is dead, or its answers are ignored
    this.#onDeath();
    this.#settle((job) => job.reject(threadFailure(cause)));
  }

  #settle(notify: (job: Job) => void): void {
    const [job, onDone] = [this.#job, this.#onDone];
    this.#job = undefined;
    this.#onDone = undefined;
    if (job !== undefined) notify(job);
    onDone?.();
  }
}

function conclude({ resolve, reject }: Job, answer: ThreadReply): void {
  if ('error' in answer) reject(fromErrorParts(answer.error));
  else resolve(answer.result);
}
