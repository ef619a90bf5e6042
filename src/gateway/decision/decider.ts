import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../errors.ts';
import type { Lifetime } from '../../lifetime.ts';
import type { PolicySource } from '../../policy/compile.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import type { KnownKey } from '../authenticate.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import { parseRequest } from '../request.ts';
import { decideRequest, factsOf, type RequestDecision } from './decide-request.ts';
import { type AnswerReader, type ReadAnswer, readAnswer } from './read-answer.ts';
import {
  createTargetModels,
  fromErrorParts,
  fromParts,
  type ModelNames,
  memoryOf,
  type ThreadAnswer,
  type ThreadData,
  type ThreadQuestion,
} from './thread-messages.ts';
import {
  type TranslatedRequest,
  toBuffer,
  translateRequest,
  translationOf,
  type UntranslatedRequest,
} from './translate-request.ts';

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
class DecisionThread {
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
function threadFailure(cause: unknown): GatewayError {
  return new GatewayError('policy.error', 'the exchange could not be checked, so it is refused', { cause });
}

/** Up to this size deciding blocks the event loop for less than 10 ms (docs/decisions/policy-worker-threshold.md). */
export const threadBytes = 1_048_576;

/** A client's body, and what is known about its request. */
export interface Incoming {
  readonly body: Buffer;
  readonly endpoint: ModelEndpoint;
  /** The model, if the path has it. */
  readonly pathModel?: string | undefined;
  readonly key: Pick<KnownKey, 'id' | 'project'>;
  readonly nowMs: number;
}

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
export interface Decider {
  decideRequest(
    policies: PolicySet,
    incoming: Incoming,
    lifetime: Lifetime,
  ): RequestDecision | Promise<RequestDecision>;
  /** Also throws request.unsupported if it can't be translated. */
  translateRequest(
    policies: PolicySet,
    untranslated: UntranslatedRequest,
    lifetime: Lifetime,
  ): TranslatedRequest | Promise<TranslatedRequest>;
  /** Throws provider.broken_response for what is not JSON. */
  readAnswer(body: Buffer, reader: AnswerReader, lifetime: Lifetime): Promise<ReadAnswer>;
  /** What a model is called at each provider that may be tried. */
  targetModels(model: string): readonly string[];
  /** Ends the thread, if there is one. */
  close(): Promise<void>;
}

export interface DeciderOptions {
  readonly source: PolicySource;
  readonly names: ModelNames;
  /** The module that runs in the thread; the product's own by default. */
  readonly entry?: URL | undefined;
}

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const ownEntry = import.meta.url.endsWith('.ts') ? '../../../dist/decide-worker.js' : './decide-worker.js';

export function createDecider({
  source,
  names,
  entry = new URL(ownEntry, import.meta.url),
}: DeciderOptions): Decider {
  const thread = new DecisionThread({ data: { source, ...names }, entry });
  const targetModels = createTargetModels(names);
  return {
    targetModels,
    decideRequest(policies, incoming, lifetime) {
      const { body, endpoint, pathModel, key, nowMs } = incoming;
      if (body.length > threadBytes) return decideRequestInThread(thread, policies, { incoming, lifetime });
      const request = parseRequest(body, endpoint, pathModel);
      const facts = factsOf(request, { endpoint, key, targetModels: targetModels(request.model), nowMs });
      return decideRequest(policies, request, { endpoint, facts });
    },
    translateRequest: (policies, untranslated, lifetime) =>
      untranslated.body.length > threadBytes
        ? translateInThread(thread, policies, { untranslated, lifetime })
        : translateRequest(policies, untranslated),
    readAnswer: async (body, reader, lifetime) =>
      body.length > threadBytes
        ? readAnswerInThread(thread, body, { reader, lifetime })
        : readAnswer(body, reader),
    close: () => thread.end(),
  };
}

async function decideRequestInThread(
  thread: DecisionThread,
  { names }: PolicySet,
  { incoming, lifetime }: { readonly incoming: Incoming; readonly lifetime: Lifetime },
): Promise<RequestDecision> {
  const { body, endpoint, pathModel, key, nowMs } = incoming;
  const { id, project } = key;
  const question = {
    kind: 'request' as const,
    path: endpoint.path,
    pathModel,
    body,
    key: { id, project },
    policies: names,
    nowMs,
  };
  const answer = await thread.ask(question, { memory: memoryOf(body), lifetime });
  if (answer.kind !== 'request') throw refusedByThread(answer);
  const { kind: _, request, ...rest } = answer;
  return { ...rest, request: fromParts(request) };
}

async function translateInThread(
  thread: DecisionThread,
  { names }: PolicySet,
  { untranslated, lifetime }: { readonly untranslated: UntranslatedRequest; readonly lifetime: Lifetime },
): Promise<TranslatedRequest> {
  // A copy: another target may need the client's own bytes.
  const body = Buffer.from(untranslated.body);
  const question = { ...untranslated, kind: 'translation' as const, body, policies: names };
  const answer = await thread.ask(question, { memory: memoryOf(body), lifetime });
  if (answer.kind !== 'translation') throw refusedByThread(answer);
  const { decision, microseconds, dropped, translated } = answer;
  const translation = translationOf(untranslated, translated);
  return { decision, body: toBuffer(answer.body), microseconds, dropped, translation };
}

async function readAnswerInThread(
  thread: DecisionThread,
  whole: Buffer,
  { reader, lifetime }: { readonly reader: AnswerReader; readonly lifetime: Lifetime },
): Promise<ReadAnswer> {
  const { form, answerRules, masked, endpoint, policies, scrubber, translation } = reader;
  // What came in one piece may be a part of a larger buffer.
  const body =
    whole.byteLength === whole.buffer.byteLength ? whole : Buffer.from(new Uint8Array(whole).buffer);
  const question = {
    kind: 'answer' as const,
    ...{ body, form, answerRules, masked },
    path: endpoint.path,
    policies: policies.names,
    secrets: scrubber.secrets,
    translation: translation && { ...translation.pair, translated: translation.facts() },
  };
  const answer = await thread.ask(question, { memory: memoryOf(body), lifetime });
  if (answer.kind !== 'answer') throw refusedByThread(answer);
  const { kind: _, result, ...read } = answer;
  return { ...read, result: result instanceof Uint8Array ? toBuffer(result) : fromErrorParts(result) };
}

function refusedByThread(answer: ThreadAnswer): GatewayError {
  if (answer.kind === 'refused') return fromErrorParts(answer.error);
  return threadFailure(answer.kind === 'failed' ? answer.cause : 'the thread answered another question');
}
