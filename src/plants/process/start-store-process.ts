import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../errors.ts';
import { defaultListenLimits } from '../../http/listen.ts';
import { backoffMs, countDeath, restarts } from '../../lib/backoff.ts';
import type { Store, StoreSettings } from '../store.ts';
import type { StoreCommand, StoreMessage } from './plant-store.ts';

// Node 20 can't run TypeScript, so when run from source (in tests) this uses the built entry.
const entry = import.meta.url.endsWith('.ts') ? '../../../dist/plant-store.js' : './plant-store.js';
const startWithinMs = 30_000;
/** Beyond the time for open requests there is some for disconnecting watchers and closing the database. */
const endWithinMs = defaultListenLimits.drainMs + 5_000;
const keptErrorCharacters = 4_000;

/**
 * Runs the plant store in a process of its own, so that nothing in it (a crash, a slow disk, password hashing) stops
 * or delays the gateway; it is restarted whenever it dies. Throws the reason if the first one can't start.
 */
export async function startStoreProcess(
  settings: StoreSettings,
  log: (record: object) => void,
  env: Environment,
): Promise<Store> {
  const store = new StoreProcess(log, storeEnvironment(env));
  return { ...(await store.start(settings)), drain: () => store.drain() };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What Node, SQLite and PostgreSQL's client read. The rest isn't for the store: among it are the keys of providers. */
const storeVariables =
  /^(?:NODE_\w+|PG\w+|SSL_CERT_\w+|LC_\w+|LANG|TZ|PATH|HOME|USER|LOGNAME|TMPDIR|TEMP|TMP|SQLITE_TMPDIR|APPDATA|LOCALAPPDATA|USERPROFILE|SYSTEMROOT|WINDIR|LD_LIBRARY_PATH)$/i;

function storeEnvironment(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => storeVariables.test(name)));
}

type Started = Omit<Store, 'drain'>;

/** The store's process, and its replacement after a crash. */
class StoreProcess {
  readonly #log: (record: object) => void;
  readonly #env: Environment;
  #child: ChildProcess | undefined;
  #closed: Promise<string> = Promise.resolve('');
  #restart: NodeJS.Timeout | undefined;
  #deathsInRow = 0;
  #isStopped = false;

  constructor(log: (record: object) => void, env: Environment) {
    this.#log = log;
    this.#env = env;
  }

  async start(settings: StoreSettings): Promise<Started> {
    const bornMs = performance.now();
    const started = await this.#spawn(settings);
    // A replacement keeps the port that clients know, and has no terminal to show a password on.
    const next = { ...settings, port: Number(new URL(started.url).port), demoUser: false };
    void this.#closed.then((how) => {
      this.#deathsInRow = countDeath(this.#deathsInRow, performance.now() - bornMs);
      this.#replace(next, { event: 'plants.store_ended', cause: how });
    });
    return started;
  }

  async drain(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#restart);
    const child = this.#child;
    child?.send({ kind: 'drain' } satisfies StoreCommand, () => undefined); // its exit follows, or has already happened
    const late = setTimeout(() => child?.kill('SIGKILL'), endWithinMs);
    await this.#closed;
    clearTimeout(late);
  }

  async #spawn(settings: StoreSettings): Promise<Started> {
    const child = fork(fileURLToPath(new URL(entry, import.meta.url)), [], {
      execArgv: [],
      env: this.#env,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    this.#closed = closeOf(child);
    const late = setTimeout(() => child.kill('SIGKILL'), startWithinMs);
    try {
      return await new Promise<Started>((resolve, reject) => {
        child.on('error', reject);
        child.on('message', (message: StoreMessage) => {
          if (message.kind === 'listening') child.send({ kind: 'start', settings } satisfies StoreCommand);
          if (message.kind === 'started') resolve(message.store);
          if (message.kind === 'failed') reject(failureOf(message));
          if (message.kind === 'log') this.#log(message.record);
        });
        void this.#closed.then((how) => reject(endedAtStart(how)));
      });
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  /** Starts the next process after a pause, again and again for as long as that fails. */
  #replace(settings: StoreSettings, record: { readonly event: string; readonly cause: string }): void {
    if (this.#isStopped) return;
    const pauseMs = Math.round(backoffMs(Math.max(1, this.#deathsInRow), restarts));
    this.#log({ ...record, restart_ms: pauseMs });
    this.#restart = setTimeout(() => {
      this.start(settings).then(
        () => this.#log({ event: 'plants.store_restarted' }),
        (error: unknown) => {
          this.#deathsInRow += 1;
          this.#replace(settings, { event: 'plants.store_failed', cause: String(error) });
        },
      );
    }, pauseMs);
  }
}

/** Resolves when the process is gone, with how it ended and what it wrote last. */
function closeOf(child: ChildProcess): Promise<string> {
  let written = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    written = (written + text).slice(-keptErrorCharacters);
  });
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(`${signal ?? `exit code ${code}`} ${written}`.trim()));
  });
}

function failureOf({ code, message, cause }: StoreMessage & { readonly kind: 'failed' }): GatewayError {
  return new GatewayError(code, message, { cause });
}

function endedAtStart(how: string): GatewayError {
  return new GatewayError('gateway.internal', "the plant store's process exited while starting", {
    cause: how,
  });
}
