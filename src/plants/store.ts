import { toStoreError } from '../database/failures.ts';
import type { AcceptedSockets } from '../http/listen.ts';
import { messageOfError } from '../lib/message-of.ts';
import { createPasswordChecker } from './accounts/password.ts';
import { createSessions, logIn } from './accounts/sessions.ts';
import { createThrottle } from './accounts/throttle.ts';
import {
  changePassword,
  demoUser,
  hasUsers,
  insertDemoUser,
  insertUser,
  type NewUser,
  type User,
} from './accounts/users.ts';
import { assetOperations, documentHandlers } from './api/document-operations.ts';
import { type Handlers, type OperationId, type OperationRequest, operationsOf } from './api/operation.ts';
import { plantHandlers } from './api/plant-operations.ts';
import { servePlants } from './api/serve.ts';
import { userHandlers } from './api/user-operations.ts';
import { createPlantCatalogue } from './catalogue/catalogue.ts';
import { type Database, openDatabase, type Queries } from './database/open.ts';
import type { Feed, FeedListener } from './events/feed.ts';
import { openPostgresFeed } from './events/postgres-feed.ts';
import {
  createWatchers,
  defaultWatcherLimits,
  type WatcherLimits,
  type Watchers,
} from './events/watchers.ts';
import { migrate } from './migrations.ts';
import { becomeReady } from './readiness.ts';

export { randomPassword } from './accounts/users.ts';

/** Plain data, so that it can be sent to a process of its own. */
export interface StoreSettings {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** `sqlite:FILE` or `postgres://…`. */
  readonly database: string;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  /** Creates a user `demo` if there is no user at all. */
  readonly demoUser?: boolean;
  readonly watcherLimits?: Partial<WatcherLimits>;
  /** scrypt's N; tests of other things use a smaller one. */
  readonly passwordCost?: number;
}

export interface StoreOptions extends StoreSettings {
  /** Receives one record per request, and one for each failure elsewhere. Never a query string. */
  readonly log: (record: object) => void;
  /** In place of listening at the address. */
  readonly accepted?: AcceptedSockets | undefined;
  readonly now?: () => number;
}

export interface Store {
  /** With the base path: `http://127.0.0.1:4101/v3`. */
  readonly url: string;
  /** Only if the user `demo` has just been created; it can't be retrieved later. */
  readonly demoPassword: string | undefined;
  /** Stops accepting, lets open requests finish, disconnects watchers, closes the database. */
  drain(): Promise<void>;
}

const cleanUpEveryMs = 60_000;

/**
 * Opens the database (created and seeded if it is new) and serves the plant store. A database that does not answer yet
 * delays nothing: requests get 503 until it does.
 */
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
    const ready = await becomeReady({
      prepare: async (attempt) => {
        // Later its password could not be shown any more.
        const wantsDemoUser = options.demoUser === true && attempt === 1;
        const demoPassword = await migrate(database, async (transaction) =>
          wantsDemoUser ? insertDemoUser(transaction, passwords) : undefined,
        );
        return { demoPassword, feed: await openFeed(database, feedListener(watchers, log)) };
      },
      onFailure: (error) => log({ event: 'plants.database_away', cause: causeText(error) }),
      onReady: () => log({ event: 'plants.database_back' }),
    });
    closing.push(async () => {
      await ready.stop();
      await ready.value?.feed.close();
    });
    const stopCleaning = cleanRegularly(async () => {
      if (ready.value === undefined) return;
      await sessions.deleteExpired();
      await throttle.deleteExpired();
    }, log);
    closing.push(stopCleaning);
    const writes: Pick<Feed, 'write'> = { write: (work) => ready.require().feed.write(work) };
    const listener = await servePlants({
      ...options,
      operations: [
        ...operationsOf({
          ...afterCheck(ready.require, {
            ...plantHandlers({ catalogue: createPlantCatalogue(database, writes, now), sessions }),
            ...userHandlers({
              sessions,
              logIn: (credentials, address) =>
                logIn(credentials, address, { queries, passwords, sessions, throttle }),
              onLogout: (tokenHash) => watchers.disconnect('session ended', tokenHash),
            }),
          }),
          ...documentHandlers,
        }),
        ...assetOperations,
      ],
      sessions,
      watchers,
      isFeedLive: () => ready.value?.feed.isLive === true,
    });
    closing.push(listener.drain, async () => watchers.close());
    return {
      url: `${listener.url}/v3`,
      demoPassword: ready.value?.demoPassword,
      drain: close,
    };
  } catch (error) {
    watchers.close();
    await close();
    throw error;
  }
}

/** Adds a user to a store's database, whether or not the store is running. */
export function addUser(database: string, user: NewUser, passwordCost?: number): Promise<User> {
  return changeUsers(database, (queries) => insertUser(queries, createPasswordChecker(passwordCost), user));
}

/**
 * Sets a user's password, in the same way. A store that has no user yet gets the user `demo`, who is not made where there
 * is no terminal to show the password on.
 */
export function resetPassword(
  database: string,
  user: Omit<NewUser, 'email'>,
  passwordCost?: number,
): Promise<User> {
  const passwords = createPasswordChecker(passwordCost);
  return changeUsers(database, async (queries) =>
    user.username === demoUser && !(await hasUsers(queries))
      ? insertUser(queries, passwords, user)
      : changePassword(queries, passwords, user),
  );
}

async function changeUsers(database: string, change: (queries: Queries) => Promise<User>): Promise<User> {
  const opened = await openDatabase(database);
  try {
    await migrate(opened, async () => undefined);
    return await change(opened.queries);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await opened.queries.destroy();
  }
}

function feedListener({ notify, disconnect }: Watchers, log: StoreOptions['log']): FeedListener {
  return {
    onEvent: notify,
    onState: (state) => {
      log({ event: `plants.events_${state}` });
      if (state === 'lost') disconnect('events interrupted');
    },
  };
}

function afterCheck<Id extends OperationId>(check: () => void, handlers: Handlers<Id>): Handlers<Id> {
  const checked = Object.entries<Handlers[OperationId]>(handlers).map(([id, handle]) => [
    id,
    (call: OperationRequest) => {
      check();
      return handle(call);
    },
  ]);
  return Object.fromEntries(checked); // of the same names
}

/** Runs the work every minute until stopped; stopping waits for a run in progress. */
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

function causeText(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return messageOfError(cause);
}

/** Throws store.database if events are not available yet. */
async function openFeed(database: Database, listener: FeedListener): Promise<Feed> {
  return database.kind === 'postgres'
    ? openPostgresFeed(database, listener)
    : openLocalFeed(database, listener);
}

function openLocalFeed({ queries }: Database, { onEvent }: FeedListener): Feed {
  return {
    isLive: true,
    write: async (work) => {
      const { value, events } = await queries.transaction().execute(work);
      for (const event of events) onEvent(event);
      return value;
    },
    close: async () => undefined,
  };
}
