import { Worker, type WorkerOptions } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import { JsonDocument } from '../../json/json-document.ts';
import type { Lifetime } from '../../lib/lifetime.ts';
import { type Checkpoint, GivenUp } from '../../policy/checkpoint.ts';
import { type CheckResults, Unchecked } from '../../policy/checks/check-book.ts';
import type { PolicySource } from '../../policy/compile.ts';
import { Conversations } from '../../policy/conversations.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import { CheckCalls } from '../checks/check-calls.ts';
import { withChecks } from '../checks/with-checks.ts';
import { parseRequest } from '../request.ts';
import { withBody } from '../sender.ts';
import {
  type BodyDecision,
  type BuiltBody,
  decideBody,
  decideRequest,
  type Incoming,
  type RequestDecision,
  requestMeta,
} from './decide-request.ts';
import type { JobResult, Jobs, ThreadQuestion, ThreadReply } from './decide-thread.ts';
import { type AnswerReader, type CheckedBody, readAnswer } from './read-answer.ts';
import { createRoutePlanner, type ModelNames } from './route-plan.ts';
import {
  fromErrorParts,
  memoryOf,
  type Preparation,
  type Prepared,
  type ThreadData,
  threadFailure,
} from './thread-messages.ts';
import {
  type TranslatedRequest,
  toBuffer,
  translateRequest,
  translationOf,
  type UntranslatedRequest,
} from './translate-request.ts';

/**
 * Up to this size a body is begun in the main thread although what reads it can't be given up: that takes less than 20 ms
 * in the worst case (docs/decisions/policy-thread-threshold.md).
 */
export const threadBytes = 262_144;
/** The same of requests, which are given up in the middle of reading, too. */
export const requestThreadBytes = 524_288;

/**
 * Parses bodies strictly, translates them and applies policies to them, and the same for whole answers: what takes little
 * time here, large ones in separate threads, so that they don't hold up other exchanges; and what turns out to take longer
 * is given up here and begun again in a thread. The outcome is the same. A large body's memory is transferred to the thread
 * and back: afterwards, use the body in the result, not the one that was passed in.
 *
 * Each body is read as if it were new, although an agent sends most of a conversation again with every turn
 * (docs/decisions/every-body-is-new.md).
 *
 * The methods throw what strict parsing throws, policy.error if the thread dies, and the lifetime's reason if it ends. What
 * every exchange needs is returned without a promise where no thread is asked.
 */
export type Decider = ReturnType<typeof createDecider>;

export interface DeciderOptions {
  readonly source: PolicySource;
  readonly names: ModelNames;
  readonly limits?: ThreadLimits | undefined;
  /** The module that runs in the thread; the product's own by default. */
  readonly entry?: URL | undefined;
}

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const ownEntry = import.meta.url.endsWith('.ts') ? '../../../dist/decide-thread.js' : './decide-thread.js';

export function createDecider({
  source,
  names,
  limits,
  entry = new URL(ownEntry, import.meta.url),
}: DeciderOptions) {
  const threads = new DecisionThreads({ source, ...names }, entry, limits);
  const planOf = createRoutePlanner(names);
  const conversations = new Conversations();
  const { peaks } = conversations;
  const calls = new CheckCalls();
  const remember = (decided: RequestDecision): RequestDecision => {
    if (decided.kind === 'passed' && decided.conversation) conversations.note(decided.conversation);
    return decided;
  };
  const parseAndDecide = (
    policies: PolicySet,
    body: Buffer,
    { endpoint, pathModel, key, sender, nowMs }: Incoming,
    checkpoint: Checkpoint,
  ): RequestDecision => {
    const request = parseRequest(body, endpoint, { pathModel, checkpoint });
    const plan = planOf(request.model);
    const meta = requestMeta(request, {
      endpoint,
      key,
      route: plan.fixed,
      nowMs,
      sender: withBody(sender, request.document, endpoint),
    });
    return decideRequest(policies, request, { endpoint, meta, plan, checkpoint, peaks });
  };
  const decideLater = (
    policies: PolicySet,
    incoming: Incoming,
    lifetime: Lifetime,
  ): RequestDecision | Promise<RequestDecision> => {
    const { endpoint, pathModel, key, sender, nowMs } = incoming;
    let whole = incoming.body;
    const inThread = async (results: CheckResults | undefined) => {
      const { id, project } = key;
      const known = {
        path: endpoint.path,
        pathModel,
        key: { id, project },
        sender,
        nowMs,
        peaks: peaks.size === 0 ? undefined : peaks,
      };
      const moved = toMove(whole);
      const decided = await threads.ask(
        { kind: 'request', input: { ...known, body: moved, policies: policies.names, results } },
        { key: id, memory: memoryOf(moved), lifetime },
      );
      if (decided.kind === 'unchecked') {
        whole = toBuffer(decided.body);
        return new Unchecked(decided.unasked, decided.results);
      }
      const { request } = decided;
      return { ...decided, request: { ...request, document: JsonDocument.fromParts(request.document) } };
    };
    // Without a service it was tried here before.
    if (policies.checks === undefined) return inThread(undefined) as Promise<RequestDecision>;
    return checked(policies, { calls, lifetime, key: key.id }, (results) => {
      const here = decideHere(
        threads,
        { body: whole, limitBytes: requestThreadBytes },
        knowing(policies, results, (checkpoint) => parseAndDecide(policies, whole, incoming, checkpoint)),
      );
      return here ?? inThread(results);
    });
  };
  return {
    decideRequest(
      policies: PolicySet,
      incoming: Incoming,
      lifetime: Lifetime,
    ): RequestDecision | Promise<RequestDecision> {
      const { body } = incoming;
      const here =
        policies.checks === undefined
          ? decideHere(threads, { body, limitBytes: requestThreadBytes }, (checkpoint) =>
              parseAndDecide(policies, body, incoming, checkpoint),
            )
          : undefined;
      if (here !== undefined) return remember(here);
      const decided = decideLater(policies, incoming, lifetime);
      return decided instanceof Promise ? decided.then(remember) : remember(decided);
    },
    /** Also throws request.unsupported if it can't be translated. */
    async translateRequest(
      policies: PolicySet,
      untranslated: UntranslatedRequest,
      lifetime: Lifetime,
    ): Promise<TranslatedRequest> {
      const { key } = untranslated.meta;
      return checked(policies, { calls, lifetime, key }, async (results) => {
        const here = decideHere(
          threads,
          { body: untranslated.body, limitBytes: threadBytes },
          knowing(policies, results, (checkpoint) => translateRequest(policies, untranslated, checkpoint)),
        );
        if (here !== undefined) return here;
        // A copy: another target may need the client's own bytes.
        const body = Buffer.from(untranslated.body);
        const decided = await threads.ask(
          { kind: 'translation', input: { ...untranslated, body, policies: policies.names, results } },
          { key, memory: memoryOf(body), lifetime },
        );
        if (decided.kind === 'blocked') return decided;
        if (decided.kind === 'unchecked') return new Unchecked(decided.unasked, decided.results);
        const { translated, ...passed } = decided;
        return {
          ...passed,
          body: toBuffer(passed.body),
          translation: translationOf(untranslated, translated),
        };
      });
    },
    /** Decides on a body in the client's own dialect in which something was changed. */
    async decideBody(policies: PolicySet, built: BuiltBody, lifetime: Lifetime): Promise<BodyDecision> {
      let whole = built.body;
      const { key } = built.meta;
      return checked(policies, { calls, lifetime, key }, async (results) => {
        const here = decideHere(
          threads,
          { body: whole, limitBytes: requestThreadBytes },
          knowing(policies, results, (checkpoint) =>
            decideBody(policies, { ...built, body: whole }, checkpoint),
          ),
        );
        if (here !== undefined) return here;
        const body = toMove(whole);
        const decided = await threads.ask(
          { kind: 'body', input: { ...built, body, policies: policies.names, results } },
          { key, memory: memoryOf(body), lifetime },
        );
        if (decided.kind === 'blocked') return decided;
        const bytes = toBuffer(decided.body);
        if (decided.kind === 'passed') return { ...decided, body: bytes };
        whole = bytes;
        return new Unchecked(decided.unasked, decided.results);
      });
    },
    /** Throws provider.broken_response for what is not JSON. */
    readAnswer(whole: Buffer, reader: AnswerReader, lifetime: Lifetime): CheckedBody | Promise<CheckedBody> {
      const here = decideHere(threads, { body: whole, limitBytes: threadBytes }, (checkpoint) =>
        readAnswer(whole, reader, checkpoint),
      );
      return here ?? readInThread(threads, whole, reader, lifetime);
    },
    /** Ends the threads. */
    close: (): Promise<void> => threads.end(),
  };
}

async function readInThread(
  threads: DecisionThreads,
  whole: Buffer,
  reader: AnswerReader,
  lifetime: Lifetime,
): Promise<CheckedBody> {
  const { key, form, answerRules, masked, endpoint, policies, scrubber, translation } = reader;
  const body = toMove(whole);
  const input = {
    ...{ body, form, answerRules, masked },
    path: endpoint.path,
    policies: policies.names,
    secrets: scrubber.secrets,
    translation: translation && { ...translation.pair, translated: translation.answerContext() },
  };
  const { result, ...read } = await threads.ask(
    { kind: 'answer', input },
    { key, memory: memoryOf(body), lifetime },
  );
  return { ...read, result: result instanceof Uint8Array ? toBuffer(result) : fromErrorParts(result) };
}

/** Decides once, or, where services are asked about texts, until they have been asked about all of them. */
function checked<Decided>(
  { checks }: PolicySet,
  by: { readonly calls: CheckCalls; readonly lifetime: Lifetime; readonly key: string },
  attempt: (results: CheckResults | undefined) => Decided | Unchecked | Promise<Decided | Unchecked>,
): Decided | Promise<Decided> {
  // Without a service nothing is left unchecked.
  return checks === undefined
    ? (attempt(undefined) as Decided | Promise<Decided>)
    : withChecks({ checks, ...by }, attempt);
}

/** A decision with what services have said of texts; where none is asked, the decision itself. */
function knowing<Decided>(
  { checks }: PolicySet,
  results: CheckResults | undefined,
  decide: (checkpoint: Checkpoint) => Decided,
): (checkpoint: Checkpoint) => Decided | Unchecked {
  if (checks === undefined || results === undefined) return decide;
  return (checkpoint) => checks.decide(results, () => decide(checkpoint));
}

/** What is decided in this thread; undefined if another one has to. */
function decideHere<Result>(
  threads: DecisionThreads,
  { body, limitBytes }: { readonly body: Uint8Array; readonly limitBytes: number },
  decide: (checkpoint: Checkpoint) => Result,
): Result | undefined {
  if (body.length > limitBytes) return undefined;
  try {
    return decide(mainThreadBudget(threads.areStarted ? budgetMs : coldBudgetMs));
  } catch (thrown) {
    if (thrown instanceof GivenUp) return undefined;
    throw thrown;
  }
}

/** Bytes in memory of their own, which can be transferred. A small body may fill what was read from a socket at once. */
function toMove(body: Buffer): Buffer {
  const isOwn = body.length > threadBytes && body.byteLength === body.buffer.byteLength;
  return isOwn ? body : toBuffer(new Uint8Array(body));
}

/** What a decision may take in the main thread, where all other exchanges wait for it, until it is given up there. */
const budgetMs = 20;
/** As long as there is no thread, as starting one takes twice as long; the code is cold then, and five times as slow. */
const coldBudgetMs = 200;
/** Characters that a detector reads in less than 30 ms in the worst case. */
const longText = 49_152;
/** Reading the clock costs as much as a very short text: it is read once in this many characters, or sixteen texts. */
const charactersBetween = 4_096;
const charactersOfText = 256;

/**
 * Gives a decision up when it has taken its time, or is about to run a detector over a long text: what that costs shows
 * only afterwards. From here on, with a clock.
 */
export function mainThreadBudget(limitMs: number, now = readClock): Checkpoint {
  const endsAt = now() + limitMs;
  let unread = 0;
  return (next = 0) => {
    if (next > longText) throw new GivenUp('the text is long');
    unread += charactersOfText + next;
    if (unread < charactersBetween) return;
    unread = 0;
    if (now() > endsAt) throw new GivenUp('it took too long');
  };
}

function readClock(): number {
  return performance.now();
}

// ---------------------------------------------------------------- threads

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

/**
 * Of new objects, where the heap is limited; Node's own is three times as much. V8 ignores it in a process that has
 * `--max-semi-space-size` (docs/decisions/young-generation.md).
 */
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
  /** The one that has worked last is the next to work: its tables are in the CPU's caches, and its code is warm. */
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
        const thread = this.#idle.pop() ?? this.#takeSpare() ?? this.#start();
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
