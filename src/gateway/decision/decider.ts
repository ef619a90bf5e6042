import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import { JsonDocument } from '../../json/json-document.ts';
import type { Lifetime } from '../../lifetime.ts';
import type { PolicySource } from '../../policy/compile.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import { parseRequest } from '../request.ts';
import { decideRequest, factsOf, type Incoming, type RequestDecision } from './decide-request.ts';
import type { JobResult, Jobs, ThreadAnswer, ThreadQuestion } from './decide-worker.ts';
import { type AnswerReader, type ReadAnswer, readAnswer } from './read-answer.ts';
import {
  createTargetModels,
  fromErrorParts,
  type ModelNames,
  memoryOf,
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

interface Job {
  readonly question: ThreadQuestion;
  readonly memory: readonly ArrayBuffer[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: GatewayError) => void;
}

/**
 * One worker thread, started with the first question. It gets one question at a time, so that a question whose client
 * has disconnected is never begun, and a thread that dies costs only one exchange; the next question starts a new thread.
 */
class DecisionThread {
  readonly #data: ThreadData;
  readonly #entry: URL;
  readonly #waiting: Job[] = [];
  #worker: Worker | undefined;
  #running: Job | undefined;

  /** `entry` is the module that runs in the thread. */
  constructor(data: ThreadData, entry: URL) {
    this.#data = data;
    this.#entry = entry;
  }

  /**
   * Asks the thread, and transfers the listed memory to it; it is transferred back with the answer. Throws what the job
   * throws, policy.error if the thread dies, and the lifetime's reason if that ends first.
   */
  ask<Kind extends keyof Jobs>(
    question: ThreadQuestion<Kind>,
    { memory, lifetime }: { readonly memory: readonly ArrayBuffer[]; readonly lifetime: Lifetime },
  ): Promise<JobResult<Kind>> {
    let unsubscribe: (() => void) | undefined;
    const answered = new Promise<unknown>((resolve, reject) => {
      const job: Job = { question, memory, resolve, reject };
      this.#waiting.push(job);
      unsubscribe = lifetime.onEnd(() => {
        const at = this.#waiting.indexOf(job);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(lifetime.reason ?? new GatewayError('client.left', 'the client left'));
      });
    });
    this.#next();
    return answered.finally(() => unsubscribe?.()) as Promise<JobResult<Kind>>; // the thread's answer to this kind
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
    const worker = new Worker(this.#entry, { workerData: this.#data, env: {}, name: 'decisions' });
    worker.on('message', (answer: ThreadAnswer) => {
      if (worker === this.#worker) this.#settle((running) => conclude(running, answer));
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

function conclude({ resolve, reject }: Job, answer: ThreadAnswer): void {
  if ('error' in answer) reject(fromErrorParts(answer.error));
  else resolve(answer.result);
}

/** Up to this size deciding blocks the event loop for less than 10 ms (docs/decisions/policy-worker-threshold.md). */
export const threadBytes = 1_048_576;

/**
 * Parses bodies strictly, translates them and applies policies to them, and the same for whole answers: small ones here,
 * large ones in a separate thread, so that they don't hold up other exchanges. The outcome is the same. A large body's
 * memory is transferred to the thread and back: afterwards, use the body in the result, not the one that was passed in.
 *
 * Each body is read as if it were new, although an agent sends most of a conversation again with every turn
 * (docs/decisions/every-body-is-new.md).
 *
 * The methods throw what strict parsing throws, policy.error if the thread dies, and the lifetime's reason if it ends.
 */
export type Decider = ReturnType<typeof createDecider>;

export interface DeciderOptions {
  readonly source: PolicySource;
  readonly names: ModelNames;
  /** The module that runs in the thread; the product's own by default. */
  readonly entry?: URL | undefined;
}

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const ownEntry = import.meta.url.endsWith('.ts') ? '../../../dist/decide-worker.js' : './decide-worker.js';

export function createDecider({ source, names, entry = new URL(ownEntry, import.meta.url) }: DeciderOptions) {
  const thread = new DecisionThread({ source, ...names }, entry);
  const targetModels = createTargetModels(names);
  return {
    /** What a model is called at each provider that may be tried. */
    targetModels,
    async decideRequest(
      policies: PolicySet,
      { body, endpoint, pathModel, key, nowMs }: Incoming,
      lifetime: Lifetime,
    ): Promise<RequestDecision> {
      if (body.length <= threadBytes) {
        const request = parseRequest(body, endpoint, pathModel);
        const facts = factsOf(request, { endpoint, key, targetModels: targetModels(request.model), nowMs });
        return decideRequest(policies, request, { endpoint, facts });
      }
      const { id, project } = key;
      const known = { path: endpoint.path, pathModel, key: { id, project }, nowMs };
      const { request, ...decided } = await thread.ask(
        { kind: 'request', input: { ...known, body, policies: policies.names } },
        { memory: memoryOf(body), lifetime },
      );
      return { ...decided, request: { ...request, document: JsonDocument.fromParts(request.document) } };
    },
    /** Also throws request.unsupported if it can't be translated. */
    async translateRequest(
      policies: PolicySet,
      untranslated: UntranslatedRequest,
      lifetime: Lifetime,
    ): Promise<TranslatedRequest> {
      if (untranslated.body.length <= threadBytes) return translateRequest(policies, untranslated);
      // A copy: another target may need the client's own bytes.
      const body = Buffer.from(untranslated.body);
      const { translated, ...result } = await thread.ask(
        { kind: 'translation', input: { ...untranslated, body, policies: policies.names } },
        { memory: memoryOf(body), lifetime },
      );
      const translation = translationOf(untranslated, translated);
      return { ...result, body: toBuffer(result.body), translation };
    },
    /** Throws provider.broken_response for what is not JSON. */
    async readAnswer(whole: Buffer, reader: AnswerReader, lifetime: Lifetime): Promise<ReadAnswer> {
      if (whole.length <= threadBytes) return readAnswer(whole, reader);
      const { form, answerRules, masked, endpoint, policies, scrubber, translation } = reader;
      // What came in one piece may be a part of a larger buffer.
      const isPart = whole.byteLength !== whole.buffer.byteLength;
      const body = isPart ? Buffer.from(new Uint8Array(whole).buffer) : whole;
      const input = {
        ...{ body, form, answerRules, masked },
        path: endpoint.path,
        policies: policies.names,
        secrets: scrubber.secrets,
        translation: translation && { ...translation.pair, translated: translation.facts() },
      };
      const { result, ...read } = await thread.ask(
        { kind: 'answer', input },
        { memory: memoryOf(body), lifetime },
      );
      return { ...read, result: result instanceof Uint8Array ? toBuffer(result) : fromErrorParts(result) };
    },
    /** Ends the thread, if there is one. */
    close: (): Promise<void> => thread.end(),
  };
}
