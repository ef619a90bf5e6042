import { type ChildProcess, fork } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../errors.ts';
import { bind, urlOf } from '../../http/bind.ts';
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

/**
 * Listens at the store's address, and starts its process with the first connection, as most gateways are never asked for
 * plants. A start that fails is logged, the connections that waited for it are reset, and the next one tries again.
 * Throws port.busy, and config.invalid if the address is unusable.
 */
export async function startStoreOnDemand(
  settings: StoreSettings,
  log: (record: object) => void,
  env: Environment,
): Promise<Store> {
  const store = new StoreProcess(log, storeEnvironment(env));
  const waiting: Socket[] = [];
  let starting: Promise<void> | undefined;
  const start = async () => {
    try {
      await store.start({ ...settings, port }, server);
      store.take(waiting.splice(0));
      server.close();
    } catch (error) {
      log({ event: 'plants.store_failed', cause: String(error) });
      reset(waiting);
      starting = undefined;
    }
  };
  // Nothing is read from a connection here.
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    waiting.push(socket);
    starting ??= start();
  });
  const port = await bind(server, settings);
  return {
    url: `${urlOf({ host: settings.host, port })}/v3`,
    demoPassword: undefined,
    drain: async () => {
      server.close();
      await starting;
      reset(waiting);
      await store.drain();
    },
  };
}

function reset(sockets: Socket[]): void {
  for (const socket of sockets.splice(0)) socket.resetAndDestroy();
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

  /** `listening`: accepts its connections in place of an address of its own. */
  async start(settings: StoreSettings, listening?: Server): Promise<Started> {
    const bornMs = performance.now();
    const started = await this.#spawn(settings, listening);
    // A replacement keeps the port that clients know, and has no terminal to show a password on.
    const next = { ...settings, port: Number(new URL(started.url).port), demoUser: false };
    void this.#closed.then((how) => {
      this.#deathsInRow = countDeath(this.#deathsInRow, performance.now() - bornMs);
      this.#replace(next, { event: 'plants.store_ended', cause: how });
    });
    return started;
  }

  /** Hands over connections that were accepted before it was there; one that can't be sent is reset. */
  take(sockets: readonly Socket[]): void {
    for (const socket of sockets) {
      const command: StoreCommand = { kind: 'connection' };
      this.#child?.send(command, socket, { keepOpen: true }, (error) => {
        if (error === null)
          socket.destroy(); // this process's handle only: the connection goes on in the other
        else socket.resetAndDestroy();
      });
    }
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

  async #spawn(settings: StoreSettings, listening?: Server): Promise<Started> {
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
          if (message.kind === 'listening')
            child.send({ kind: 'start', settings } satisfies StoreCommand, listening);
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
