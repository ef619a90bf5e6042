import cluster, { type Worker as Process } from 'node:cluster';
import { GatewayError, toGatewayError } from '../../../errors.ts';
import type { Order, OrderAnswer, Orders, StartOrders } from './messages.ts';
import { relayLines } from './relay-lines.ts';
import { countDeath, restartDelayMs } from './restart-delay.ts';

/** What whoever runs the gateway should hear about a worker. */
export type WorkerNews =
  | { readonly kind: 'ended'; readonly pid: number; readonly how: string; readonly restartMs: number }
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'failed'; readonly message: string; readonly restartMs: number };

interface WorkerOptions {
  /** What its next process is to start with. */
  readonly orders: () => StartOrders;
  readonly tell: (news: WorkerNews) => void;
  readonly writeStderr: (text: string) => void;
  /** How long it may take to drain, in milliseconds. */
  readonly drainMs: number;
}

interface Asked {
  readonly order: Order['kind'];
  readonly resolve: () => void;
  readonly reject: (error: GatewayError) => void;
}

/** One place among the workers: a process, and after its death another one. */
export class Worker {
  readonly #options: WorkerOptions;
  #process: Process | undefined;
  #closed: Promise<unknown> = Promise.resolve();
  /** Whether it hears orders: those sent while its modules load are lost. */
  #isListening = false;
  #isServing = false;
  #isStopped = false;
  #asked: Asked[] = [];
  #bornMs = 0;
  #deathsInRow = 0;
  #restart: NodeJS.Timeout | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  get pid(): number {
    return this.#process?.process.pid ?? 0;
  }

  /**
   * Starts a process; from the time it serves there is another one whenever one dies. Throws what keeps it from
   * serving.
   */
  async start(): Promise<void> {
    const spawned = this.#spawn();
    try {
      await this.#answerTo('start'); // that it listens
      this.#isListening = true;
      await this.#ask({ kind: 'start', orders: this.#options.orders() });
      this.#isServing = true;
    } catch (thrown) {
      spawned.process.kill('SIGKILL');
      await this.#closed;
      throw thrown;
    }
  }

  /** Throws where the process can't follow. One that is not there yet, or dies meanwhile, starts with the newest orders. */
  apply(orders: Orders): Promise<void> {
    return this.#isListening ? this.#ask({ kind: 'apply', orders }) : Promise.resolve();
  }

  /** Lets open exchanges finish; resolves when the process is gone and its last words are told. */
  async drain(): Promise<void> {
    if (!this.#isListening) return this.kill();
    this.#stop();
    this.#process?.send({ kind: 'drain' } satisfies Order, ignoreDeath);
    const late = setTimeout(() => this.#process?.process.kill('SIGKILL'), this.#options.drainMs);
    await this.#closed;
    clearTimeout(late);
  }

  async kill(): Promise<void> {
    this.#stop();
    this.#process?.process.kill('SIGKILL');
    await this.#closed;
  }

  #stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#restart);
  }

  #spawn(): Process {
    this.#bornMs = Date.now();
    const spawned = cluster.fork();
    this.#process = spawned;
    this.#closed = new Promise((resolve) => spawned.process.once('close', resolve));
    spawned.on('message', (answer: OrderAnswer) => this.#hear(answer));
    spawned.on('error', (error) => {
      if (spawned.process.pid === undefined) this.#lose(spawned, error.message);
    });
    spawned.on('exit', (code, signal) => this.#lose(spawned, signal ?? `exit code ${code}`));
    if (spawned.process.stderr !== null) relayLines(spawned.process.stderr, this.#options.writeStderr);
    return spawned;
  }

  #ask(order: Order): Promise<void> {
    const answered = this.#answerTo(order.kind);
    this.#process?.send(order, ignoreDeath);
    return answered;
  }

  #answerTo(order: Order['kind']): Promise<void> {
    return new Promise((resolve, reject) => this.#asked.push({ order, resolve, reject }));
  }

  #hear(answer: OrderAnswer): void {
    const asked = this.#asked.shift();
    if (answer.kind === 'done') asked?.resolve();
    else asked?.reject(new GatewayError(answer.code, answer.message, { cause: answer.cause }));
  }

  #lose(lost: Process, how: string): void {
    if (lost !== this.#process) return;
    const { pid } = this;
    const wasServing = this.#isServing;
    this.#process = undefined;
    this.#isListening = false;
    this.#isServing = false;
    for (const { order, resolve, reject } of this.#asked.splice(0)) {
      if (order === 'start') reject(endedAtStart(how));
      else resolve();
    }
    if (wasServing) this.#replace((restartMs) => ({ kind: 'ended', pid, how, restartMs }));
  }

  /** Starts the next process after a while, and again for as long as that fails. */
  #replace(newsOf: (restartMs: number) => WorkerNews): void {
    if (this.#isStopped) return;
    this.#deathsInRow = countDeath(this.#deathsInRow, Date.now() - this.#bornMs);
    const restartMs = restartDelayMs(this.#deathsInRow);
    this.#options.tell(newsOf(restartMs));
    this.#restart = setTimeout(() => {
      this.start().then(
        () => this.#options.tell({ kind: 'started', pid: this.pid }),
        (thrown) => {
          const { message } = toGatewayError(thrown);
          this.#replace((nextMs) => ({ kind: 'failed', message, restartMs: nextMs }));
        },
      );
    }, restartMs);
  }
}

/** Its exit is told by the process itself. */
function ignoreDeath(): void {}

function endedAtStart(how: string): GatewayError {
  return new GatewayError('gateway.internal', 'a worker ended at its start', { cause: how });
}
