import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { GatewayError } from '../../errors.ts';
import { type HttpRequest, newRequestId } from '../../http/request.ts';
import { errorBody, refuseUpgrade } from '../../http/respond.ts';
import type { UserSessions } from '../accounts/sessions.ts';
import { eventTypes } from '../contract/asyncapi.ts';
import { badField, parseFields, parseId } from '../plant/plant.ts';
import { type EventType, type PlantEvent, plantOf } from './feed.ts';

export type Watchers = ReturnType<typeof createWatchers>;

interface Watcher {
  readonly socket: WebSocket;
  readonly tokenHash: string;
  readonly filters: Map<string, Filter>;
  isAnswering: boolean;
  /** Messages since the last ping. */
  messages: number;
}

export interface WatcherLimits {
  /** Between pings; a watcher that has not answered by the next one is disconnected. Ended sessions are checked as often. */
  readonly pingMs: number;
  /** Bytes that may wait for one reader. */
  readonly unreadBytes: number;
  readonly messageBytes: number;
  readonly filters: number;
  /** Messages of one watcher between two pings. */
  readonly messages: number;
}

export const defaultWatcherLimits: WatcherLimits = {
  pingMs: 30_000,
  unreadBytes: 256 * 1024,
  messageBytes: 4 * 1024,
  filters: 100,
  messages: 300,
};

// RFC 6455, section 7.4.1, and the registry it set up.
const closeCodes = {
  'session ended': 1008,
  flood: 1008,
  'events interrupted': 1012,
  'going away': 1001,
} as const;
const closeGraceMs = 1_000;

interface WatcherParts {
  readonly sessions: UserSessions;
  readonly limits: WatcherLimits;
  /** A watcher was disconnected because it did not read. */
  readonly onSlow: () => void;
}

/** The WebSockets of all watchers; none can make the service buffer more than the limits allow. */
export function createWatchers({ sessions, limits, onSlow }: WatcherParts) {
  const watchers = new Set<Watcher>();
  let isClosed = false;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.messageBytes,
  });
  server.on('wsClientError', (error, socket) => {
    refuseUpgrade(
      socket,
      new GatewayError('request.unsupported', `not a WebSocket handshake: ${error.message}`),
    );
  });
  const check = setInterval(() => {
    pingAll(watchers);
    dropEnded(watchers, sessions).catch(() => undefined); // the database is unreachable; the next check tries again
  }, limits.pingMs);
  check.unref();

  return {
    /** Turns a request whose session has been checked into a WebSocket. */
    accept: (request: HttpRequest, socket: Duplex, head: Buffer, tokenHash: string): void =>
      server.handleUpgrade(asIncoming(request), socket, head, (webSocket) => {
        const watcher: Watcher = {
          socket: webSocket,
          tokenHash,
          filters: new Map(),
          isAnswering: true,
          messages: 0,
        };
        watchers.add(watcher);
        webSocket.on('message', (data, isBinary) => receive(watcher, isBinary ? undefined : data, limits));
        webSocket.on('pong', () => {
          watcher.isAnswering = true;
        });
        webSocket.on('error', () => undefined); // a broken frame: ws closes with the right code
        webSocket.on('close', () => watchers.delete(watcher));
        // Its session was still being looked up when the others were disconnected.
        if (isClosed) end(watcher, 'going away');
      }),
    notify: (event: PlantEvent): void => {
      const text = Buffer.from(JSON.stringify(event));
      for (const watcher of watchers) {
        if (wants(watcher, event) && !send(watcher, text, limits)) onSlow();
      }
    },
    /** Disconnects the watchers of one session, or all; the code tells why, and whether events may have been missed. */
    disconnect: (reason: keyof typeof closeCodes, tokenHash?: string): void => {
      for (const watcher of watchers) {
        if (tokenHash === undefined || watcher.tokenHash === tokenHash) end(watcher, reason);
      }
    },
    close: () => {
      isClosed = true;
      clearInterval(check);
      for (const watcher of watchers) end(watcher, 'going away');
    },
  };
}

/** The parts of a request that a handshake reads (RFC 6455, section 4.2.1). */
function asIncoming({ method, target, headers }: HttpRequest): IncomingMessage {
  return { method, url: target, headers } as unknown as IncomingMessage; // ws reads nothing else of it
}

function wants({ filters }: Watcher, event: PlantEvent): boolean {
  for (const filter of filters.values()) if (passes(filter, event)) return true;
  return false;
}

function receive(watcher: Watcher, data: RawData | undefined, limits: WatcherLimits): void {
  if (watcher.socket.readyState !== watcher.socket.OPEN) return; // it is being disconnected
  watcher.messages += 1;
  if (watcher.messages > limits.messages) return end(watcher, 'flood');
  try {
    if (data === undefined) throw badField('message', 'must be text, not binary');
    const { action, filter } = parseChoice(String(data));
    const key = filterKey(filter);
    if (action === 'subscribe') watcher.filters.set(key, filter);
    else if (Object.keys(filter).length === 0) watcher.filters.clear();
    else watcher.filters.delete(key);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    send(watcher, Buffer.from(errorBody(error, newRequestId())), limits);
    return;
  }
  if (watcher.filters.size > limits.filters) end(watcher, 'flood');
}

/** False if the watcher reads too slowly and was disconnected. */
function send({ socket }: Watcher, text: Buffer, limits: WatcherLimits): boolean {
  if (socket.readyState !== socket.OPEN) return true; // it is being disconnected for another reason
  if (socket.bufferedAmount + text.length > limits.unreadBytes) {
    // Its close frame would queue behind everything that it has not read.
    socket.terminate();
    return false;
  }
  socket.send(text, { binary: false });
  return true;
}

function end({ socket }: Watcher, reason: keyof typeof closeCodes): void {
  socket.close(closeCodes[reason], reason);
  setTimeout(() => socket.terminate(), closeGraceMs).unref();
}

function pingAll(watchers: ReadonlySet<Watcher>): void {
  for (const watcher of watchers) {
    if (!watcher.isAnswering) {
      watcher.socket.terminate();
      continue;
    }
    watcher.isAnswering = false;
    watcher.messages = 0;
    watcher.socket.ping();
  }
}

async function dropEnded(watchers: ReadonlySet<Watcher>, sessions: UserSessions): Promise<void> {
  const hashes = new Set([...watchers].map(({ tokenHash }) => tokenHash));
  const valid = await sessions.stillValid([...hashes]);
  for (const watcher of watchers) {
    if (hashes.has(watcher.tokenHash) && !valid.has(watcher.tokenHash)) end(watcher, 'session ended');
  }
}

/** Which events a watcher wants; absent fields don't restrict it. */
interface Filter {
  readonly eventTypes?: readonly EventType[];
  readonly plantId?: number;
}

interface Choice {
  readonly action: 'subscribe' | 'unsubscribe';
  readonly filter: Filter;
}

/** Reads a watcher's message. Throws request.field. */
function parseChoice(text: string): Choice {
  const names = ['action', 'eventTypes', 'plantId'] as const;
  const { action, eventTypes: types, plantId } = parseFields(parseJson(text), names, 'message');
  if (action !== 'subscribe' && action !== 'unsubscribe') {
    throw badField('action', 'must be subscribe or unsubscribe');
  }
  return {
    action,
    filter: {
      ...(types === undefined ? {} : { eventTypes: parseTypes(types) }),
      ...(plantId === undefined ? {} : { plantId: parseId('plantId', plantId) }),
    },
  };
}

function passes(filter: Filter, event: PlantEvent): boolean {
  if (filter.eventTypes !== undefined && !filter.eventTypes.includes(event.type)) return false;
  return filter.plantId === undefined || filter.plantId === plantOf(event);
}

/** Equal for filters that select the same events. */
function filterKey({ eventTypes: types, plantId }: Filter): string {
  const sorted = types === undefined ? '*' : [...new Set(types)].sort().join(' ');
  return `${sorted} ${plantId ?? '*'}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badField('message', 'must be JSON'); // the parser's own message quotes it
  }
}

function parseTypes(value: unknown): readonly EventType[] {
  const known: readonly unknown[] = eventTypes;
  const isList = Array.isArray(value) && value.length > 0 && value.length <= eventTypes.length;
  if (!isList || !value.every((type) => known.includes(type))) {
    throw badField('eventTypes', `must be a list of some of ${eventTypes.join(', ')}`);
  }
  return value;
}
