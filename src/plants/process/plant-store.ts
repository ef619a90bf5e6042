import { Server, Socket } from 'node:net';
import { type FailureCode, toGatewayError } from '../../errors.ts';
import { type Store, type StoreOptions, type StoreSettings, startStore } from '../store.ts';

// The entry of the process in which `gateway serve` runs the plant store.
run();

function run(): void {
  // Ctrl-C reaches every process of a terminal; the gateway decides what a signal means.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit()); // the gateway is gone
  const log = createLog();
  let store: Store | undefined;
  let listening: Server | undefined;
  // The system hands this process connections from the moment that it has the server: they wait until the store is there.
  const early: Socket[] = [];
  let take = (socket: Socket): void => {
    early.push(socket.on('error', () => socket.destroy()));
  };
  const accepted = {
    subscribe: (next: typeof take) => {
      take = (socket) => next(socket.setNoDelay());
      for (const socket of early.splice(0)) take(socket);
    },
  };
  process.on('message', async (command: StoreCommand, handle: unknown) => {
    switch (command.kind) {
      case 'connection':
        if (handle instanceof Socket) take(handle); // otherwise its client has left meanwhile
        return;
      case 'drain':
        listening?.close();
        await store?.drain();
        return process.exit();
      case 'start':
        if (handle instanceof Server) listening = handle.on('connection', (socket) => take(socket));
        store = await start({ ...command.settings, log, accepted: listening && accepted });
    }
  });
  send({ kind: 'listening' });
}

async function start(options: StoreOptions): Promise<Store | undefined> {
  try {
    const store = await startStore(options);
    const { url, demoPassword } = store;
    send({ kind: 'started', store: { url, demoPassword } });
    return store;
  } catch (thrown) {
    const { code, message } = toGatewayError(thrown);
    const cause = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    send({ kind: 'failed', code, message, cause }, () => process.exit(1));
    return undefined;
  }
}

/** Sends records while the gateway keeps up with them; those that it can't read in time are only counted. */
function createLog(): (record: object) => void {
  let isBehind = false;
  let dropped = 0;
  const log = (record: object) => {
    if (isBehind) {
      dropped += 1;
      return;
    }
    isBehind = !send({ kind: 'log', record }, () => {
      isBehind = false;
      if (dropped === 0) return;
      const records = dropped;
      dropped = 0;
      log({ event: 'plants.records_dropped', records });
    });
  };
  return log;
}

/** False if messages pile up. */
function send(message: StoreMessage, onSent: () => void = () => undefined): boolean {
  return process.connected && process.send?.(message, undefined, undefined, onSent) === true;
}

/** What the gateway sends to the store's process, once that has sent `listening`. */
export type StoreCommand =
  /** With a server that listens, the store accepts its connections in place of listening itself. */
  | { readonly kind: 'start'; readonly settings: StoreSettings }
  /** With a connection that the gateway has accepted. */
  | { readonly kind: 'connection' }
  | { readonly kind: 'drain' };

/** What the store's process sends. `failed` is its last message; `drain` is answered by its exit. */
export type StoreMessage =
  | { readonly kind: 'listening' }
  | { readonly kind: 'started'; readonly store: Omit<Store, 'drain'> }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string; readonly cause: string }
  | { readonly kind: 'log'; readonly record: object };
