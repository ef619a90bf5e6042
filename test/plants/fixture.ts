import { addUser, type Store, type StoreOptions, startStore } from '../../src/plants/store.ts';
import type { TestDatabases } from './databases.ts';
import { type Answered, type Sent, send } from './http.ts';

export interface TestStore {
  readonly url: string;
  readonly database: string;
  /** The session of the user `rosa`. */
  readonly token: string;
  readonly log: object[];
  send(sent: Sent): Promise<Answered>;
  /** Sends with the session. */
  sendLoggedIn(sent: Sent): Promise<Answered>;
  /** Adds a plant with the session, or changes one. */
  add(plant: unknown): Promise<Answered>;
  change(plant: unknown): Promise<Answered>;
  drain(): Promise<void>;
}

export const rosa = { username: 'rosa', password: 'correct horse battery' } as const;

// Most tests need a password, few its 128 MiB and quarter of a second.
const cheap = 2 ** 12;

/** A store on a new database (or a given one) with the user rosa, who is logged in. */
export async function startTestStore(
  databases: TestDatabases,
  options: Partial<StoreOptions> = {},
): Promise<TestStore> {
  const log: object[] = [];
  const database = options.database ?? (await databases.create());
  const store = await startStore({
    host: '127.0.0.1',
    port: 0,
    passwordCost: cheap,
    log: (record) => log.push(record),
    ...options,
    database,
  });
  if (options.database === undefined) await addUser(database, { ...rosa, email: 'rosa@example.org' }, cheap);
  const token = await logIn(store);
  return {
    url: store.url,
    database,
    token,
    log,
    send: (sent) => send(store.url, sent),
    sendLoggedIn: (sent) => send(store.url, { token, ...sent }),
    add: (body) => send(store.url, { token, method: 'POST', path: '/plant', body }),
    change: (body) => send(store.url, { token, method: 'PUT', path: '/plant', body }),
    drain: store.drain,
  };
}

export async function logIn({ url }: Pick<Store, 'url'>, credentials: object = rosa): Promise<string> {
  const { json } = await send(url, { method: 'POST', path: '/user/auth/login', body: credentials });
  return json.token;
}
