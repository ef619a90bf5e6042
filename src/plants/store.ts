import { logIn } from './accounts/login.ts';
import { createPasswordChecker } from './accounts/password.ts';
import { createSessions } from './accounts/sessions.ts';
import { createThrottle } from './accounts/throttle.ts';
import { insertDemoUser, insertUser, type NewUser, type User } from './accounts/users.ts';
import { documentOperations } from './api/document-operations.ts';
import { plantOperations } from './api/plant-operations.ts';
import { serve } from './api/serve.ts';
import { userOperations } from './api/user-operations.ts';
import { createCatalogue } from './catalogue/catalogue.ts';
import { asyncapi } from './contract/asyncapi.ts';
import { openapi } from './contract/openapi.ts';
import { openDatabase } from './database/open.ts';
import { openFeed } from './events/feed.ts';
import { createWatchers, defaultWatcherLimits, type WatcherLimits } from './events/watchers.ts';
import { migrate } from './migrations.ts';

export interface StoreOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** `sqlite:FILE` or `postgres://…`. */
  readonly database: string;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  /** Gets one record a request, and one for each thing that went wrong elsewhere. Never a query string. */
  readonly log: (record: object) => void;
  /** Makes a user `demo` where there is no user at all. */
  readonly demoUser?: boolean;
  readonly drainMs?: number;
  readonly watcherLimits?: Partial<WatcherLimits>;
  readonly now?: () => number;
  /** scrypt's N; another than the standard one is for tests that don't test it. */
  readonly passwordCost?: number;
}

export interface Store {
  /** With the base path: `http://127.0.0.1:4101/v3`. */
  readonly url: string;
  /** Only when the user `demo` has just been made; it is not to be had again. */
  readonly demoPassword?: string;
  /** Stops accepting, lets open requests finish, disconnects watchers, closes the database. */
  drain(): Promise<void>;
}

const cleanUpEveryMs = 60_000;

/** Opens the database (made and seeded where it is new) and serves the plant store on it. */
export async function startStore(options: StoreOptions): Promise<Store> {
  const { log, now = Date.now } = options;
  const database = await openDatabase(options.database);
  const { queries } = database;
  const passwords = createPasswordChecker(options.passwordCost);
  const sessions = createSessions(queries, now);
  const throttle = createThrottle(queries, now);
  const watchers = createWatchers({
    sessions,
    limits: { ...defaultWatcherLimits, ...options.watcherLimits },
    onSlow: () => log({ event: 'plants.watcher_slow' }),
  });
  const closing: (() => Promise<void>)[] = [() => queries.destroy()];
  const close = async () => {
    for (const step of closing.toReversed()) await step();
  };

  try {
    const demoPassword = await migrate(database, async (transaction) =>
      options.demoUser === true ? insertDemoUser(transaction, passwords) : undefined,
    );
    const feed = await openFeed(database, {
      onEvent: watchers.tell,
      onGap: () => {
        log({ event: 'plants.feed_lost' });
        watchers.disconnect('events interrupted');
      },
    });
    closing.push(feed.close);
    const stopCleaning = cleanRegularly(async () => {
      await sessions.deleteExpired();
      await throttle.deleteExpired();
    }, log);
    closing.push(stopCleaning);
    const listener = await serve({
      ...options,
      operations: [
        ...plantOperations({ catalogue: createCatalogue(database, feed, now), sessions }),
        ...userOperations({
          sessions,
          logIn: (credentials, address) =>
            logIn(credentials, address, { queries, passwords, sessions, throttle }),
          onLogout: (tokenHash) => watchers.disconnect('session ended', tokenHash),
        }),
        ...documentOperations(openapi, asyncapi),
      ],
      sessions,
      watchers,
      isFeedLive: () => feed.isLive,
    });
    closing.push(listener.drain, async () => watchers.close());
    return {
      url: `${listener.url}/v3`,
      ...(demoPassword === undefined ? {} : { demoPassword }),
      drain: close,
    };
  } catch (error) {
    watchers.close();
    await close();
    throw error;
  }
}

/** Makes a user in a store's database, whether or not the store is running. */
export async function addUser(database: string, user: NewUser, passwordCost?: number): Promise<User> {
  const opened = await openDatabase(database);
  try {
    await migrate(opened, async () => undefined);
    return await insertUser(opened.queries, createPasswordChecker(passwordCost), user);
  } finally {
    await opened.queries.destroy();
  }
}

/** Runs the work now and then until stopped; stopping waits for a run that is under way. */
function cleanRegularly(work: () => Promise<void>, log: StoreOptions['log']): () => Promise<void> {
  let running = Promise.resolve();
  const run = () => {
    running = running.then(work).catch((error: unknown) => {
      log({ event: 'plants.cleanup_failed', cause: String(error) });
    });
  };
  run();
  const timer = setInterval(run, cleanUpEveryMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
