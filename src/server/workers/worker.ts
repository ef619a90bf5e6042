import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { backoffMs, countDeath, restarts } from '../../lib/backoff.ts';
import type { CounterService } from '../../limits/shared-counters.ts';
import type { BreakerChange } from '../../providers/health.ts';
import type { OpenCounts } from '../../record/gauges.ts';
import { type ConnectionTarget, SentConnections } from './hand-over.ts';
import type { WorkerCommand, WorkerConfig, WorkerMessage, WorkerStart, WorkerStats } from './messages.ts';
import { relayLines, spawnWorker } from './spawn-worker.ts';

interface WorkerOptions {
  /** What its next process will start with. */
  readonly start: () => WorkerStart;
  readonly log: (level: 'info' | 'error', message: string) => void;
  readonly writeStderr: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Numbers the processes of all workers, from 1: their only argument, to tell them apart. */
  readonly nextNumber: () => number;
  /** It serves from now on, or again. */
  readonly onServing: () => void;
  /** A breaker opened or closed in this worker; the others follow. */
  readonly onBreaker: (worker: Worker, change: BreakerChange) => void;
  /** Counts for all workers. */
  readonly limits: CounterService;
  /** What is open in all workers. */
  readonly countOpen: () => Promise<OpenCounts>;
  /** How long it may take to drain, in milliseconds. */
  readonly drainMs: number;
}

interface Pending {
  readonly command: WorkerCommand['kind'];
  readonly resolve: () => void;
  readonly reject: (error: GatewayError) => void;
}

/** Milliseconds that a worker may take to answer a reload command; one that takes longer hangs. */
const answerMs = 30_000;
/** Milliseconds that a reading may take; after that its counts are in the next reading. */
const readMs = 2_000;

/** One worker: a process, which is replaced when it dies. */
export class Worker implements ConnectionTarget {
  readonly #options: WorkerOptions;
  #process: ChildProcess | undefined;
  #closed: Promise<unknown> = Promise.resolve();
  /** Whether it receives commands: those sent while its modules are loading are lost. */
  #isListening = false;
  #isServing = false;
  #isStopped = false;
  #pending: Pending[] = [];
  readonly #readings = new Map<number, (reading: WorkerStats | undefined) => void>();
  #connections: SentConnections | undefined;
  #sequence = 0;
  /** The configuration that its process has prepared. */
  #prepared: WorkerConfig | undefined;
  /** How its process ended, and how many changes of its ledger were not written then. */
  #end = '';
  #unwritten: number | undefined;
  #bornMs = 0;
  #deathsInRow = 0;
  #restart: NodeJS.Timeout | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /**
   * Starts a process; once it serves, it is replaced whenever it dies. Throws what prevents it from serving.
   */
  async start(): Promise<void> {
    const spawned = this.#spawn();
    try {
      await this.#answerTo('start'); // that it listens
      this.#isListening = true;
      await this.#send({ kind: 'start', start: this.#options.start() });
      this.#isServing = true;
      this.#options.onServing();
    } catch (thrown) {
      spawned.kill('SIGKILL');
      await this.#closed;
      throw thrown;
    }
  }

  /**
   * Has the process prepare a configuration; throws if it can't. A process that is not running yet, or dies meanwhile,
   * starts with the configuration that is in force then.
   */
  async prepare(next: WorkerConfig): Promise<void> {
    if (!this.#isListening) return;
    const preparing = this.#process;
    await inTime(this.#send({ kind: 'prepare', next }));
    if (this.#process === preparing) this.#prepared = next;
  }

  /** Applies what was prepared. A process that fails to apply it is replaced. */
  commit(next: WorkerConfig): void {
    if (!this.#isListening) return;
    const isPrepared = this.#prepared === next;
    this.#prepared = undefined;
    const committing = this.#process;
    const steps = isPrepared ? [] : [this.#send({ kind: 'prepare', next })];
    inTime(Promise.all([...steps, this.#send({ kind: 'commit' })])).catch(() => committing?.kill('SIGKILL'));
  }

  get isServing(): boolean {
    const answers = this.#process?.connected === true && this.#connections?.areLate === false;
    return this.#isServing && !this.#isStopped && answers;
  }

  accept(socket: Socket, done: (isTaken: boolean) => void): void {
    this.#connections?.send(socket, done);
  }

  /** Sends what gets no answer; a process that does not listen yet starts with what is in force then. */
  notify(command: Extract<WorkerCommand, { kind: 'announce' | 'breaker' }>): void {
    if (this.#isListening) this.#process?.send(command, ignoreDeath);
  }

  discard(): void {
    this.#prepared = undefined;
    // Sent even after an answer, because the worker may still be working on it.
    if (this.#isListening) this.#send({ kind: 'discard' }).catch(() => undefined);
  }

  /** What its process is doing; undefined if none answers. */
  read(what: 'open' | 'metrics'): Promise<WorkerStats | undefined> {
    if (!this.#isListening) return Promise.resolve(undefined);
    this.#sequence += 1;
    const id = this.#sequence;
    return new Promise((resolve) => {
      const settle = (reading: WorkerStats | undefined) => {
        clearTimeout(late);
        this.#readings.delete(id);
        resolve(reading);
      };
      const late = setTimeout(() => settle(undefined), readMs);
      this.#readings.set(id, settle);
      this.#process?.send({ kind: 'read', id, what } satisfies WorkerCommand, ignoreDeath);
    });
  }

  /**
   * Lets open exchanges finish; resolves when the process has exited and its last output has been passed on, with whether
   * it ended by itself and wrote its ledger.
   */
  async drain(): Promise<boolean> {
    if (!this.#isListening) {
      await this.kill();
      return true;
    }
    this.#stop();
    const { pid } = this;
    this.#process?.send({ kind: 'drain' } satisfies WorkerCommand, ignoreDeath);
    const late = setTimeout(() => this.#process?.kill('SIGKILL'), this.#options.drainMs);
    await this.#closed;
    clearTimeout(late);
    const [how, unwritten] = [this.#end, this.#unwritten];
    const isComplete = how === 'exit code 0' && (unwritten ?? 0) === 0;
    const message = `worker ${pid} ended (${how})${ledgerState(unwritten)}`;
    this.#options.log(isComplete ? 'info' : 'error', message);
    return isComplete;
  }

  async kill(): Promise<void> {
    this.#stop();
    this.#process?.kill('SIGKILL');
    await this.#closed;
  }

  #stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#restart);
  }

  #spawn(): ChildProcess {
    this.#bornMs = Date.now();
    const spawned = spawnWorker(this.#options.nextNumber(), this.#options.env);
    const connections = new SentConnections(spawned, this.#options.onServing);
    this.#connections = connections;
    this.#process = spawned;
    this.#closed = new Promise((resolve) => spawned.once('close', resolve));
    spawned.on('message', (message) => {
      const sent = message as WorkerMessage;
      // Perhaps the last message of a process that has a successor already.
      if (sent.kind === 'taken') connections.confirm(sent.id, !sent.isLate);
      else this.#receive(spawned, sent);
    });
    spawned.on('error', (error) => {
      if (spawned.pid === undefined) this.#lose(spawned, error.message);
    });
    // Not at 'exit' or 'disconnect': a message may still come after them.
    spawned.once('close', () => connections.returnAll());
    spawned.on('exit', (code, signal) => this.#lose(spawned, signal ?? `exit code ${code}`));
    if (spawned.stderr !== null) relayLines(spawned.stderr, this.#options.writeStderr);
    return spawned;
  }

  #send(command: WorkerCommand): Promise<void> {
    const answered = this.#answerTo(command.kind);
    this.#process?.send(command, ignoreDeath);
    return answered;
  }

  #answerTo(command: WorkerCommand['kind']): Promise<void> {
    return new Promise((resolve, reject) => this.#pending.push({ command, resolve, reject }));
  }

  #receive(from: ChildProcess, sent: Exclude<WorkerMessage, { kind: 'taken' }>): void {
    if (sent.kind === 'limits.reserve' || sent.kind === 'limits.settle') {
      const granted = this.#options.limits.replyTo(from.pid ?? 0, sent); // it never rejects
      void granted.then((known) => known && from.send(known, ignoreDeath));
      return;
    }
    if (sent.kind === 'breaker') return this.#options.onBreaker(this, sent.change);
    if (sent.kind === 'drained') {
      this.#unwritten = sent.unwritten;
      return;
    }
    if (sent.kind === 'reading') return this.#readings.get(sent.id)?.(sent.reading);
    if (sent.kind === 'count.open') {
      const { id } = sent;
      void this.#options.countOpen().then((open) => {
        from.send({ kind: 'counted', id, open } satisfies WorkerCommand, ignoreDeath);
      });
      return;
    }
    const pending = this.#pending.shift();
    if (sent.kind === 'done') pending?.resolve();
    else pending?.reject(new GatewayError(sent.code, sent.message, { cause: sent.cause }));
  }

  #lose(lost: ChildProcess, how: string): void {
    this.#options.limits.release(lost.pid ?? 0);
    if (lost !== this.#process) return;
    this.#end = how;
    const { pid } = this;
    const wasServing = this.#isServing;
    this.#process = undefined;
    this.#isListening = false;
    this.#isServing = false;
    this.#prepared = undefined;
    for (const settle of [...this.#readings.values()]) settle(undefined);
    for (const { command, resolve, reject } of this.#pending.splice(0)) {
      if (command !== 'start') resolve();
      else reject(new GatewayError('gateway.internal', 'a worker ended while starting', { cause: how }));
    }
    if (!wasServing) return;
    const ended = `worker ${pid} ended (${how}) and its open exchanges with it`;
    this.#replace((restartMs) => `${ended}; it is restarted in ${restartMs} ms`);
  }

  /** Starts the next process after a while, and again for as long as that fails. */
  #replace(messageOf: (restartMs: number) => string): void {
    if (this.#isStopped) return;
    this.#deathsInRow = countDeath(this.#deathsInRow, Date.now() - this.#bornMs);
    const restartMs = backoffMs(this.#deathsInRow, restarts, 0);
    this.#options.log('error', messageOf(restartMs));
    this.#restart = setTimeout(() => {
      this.start().then(
        () => this.#options.log('info', `worker ${this.pid} serves in its place`),
        (thrown) => {
          const failed = `a worker could not start: ${toGatewayError(thrown).message}`;
          this.#replace((nextMs) => `${failed}; retrying in ${nextMs} ms`);
        },
      );
    }, restartMs);
  }
}

function ledgerState(unwritten: number | undefined): string {
  if (unwritten === undefined) return '';
  return unwritten === 0
    ? '; its ledger is flushed'
    : `; ${unwritten} changes of the ledger are not on the disk`;
}

/** Sending to a dead process is ignored: its exit arrives as an event. */
function ignoreDeath(): void {}

function inTime<Value>(answer: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new GatewayError('gateway.overloaded', 'a worker does not answer'));
    const timer = setTimeout(late, answerMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
