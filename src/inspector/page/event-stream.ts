import { createParser } from 'eventsource-parser';
import type { Events } from '../contract/events.ts';
import { type ApiClient, CallError } from './session.ts';

export type LinkState =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'cut'; readonly why: string };

export type LiveEvent = {
  [Name in keyof Events]: { readonly name: Name; readonly data: Events[Name] };
}[keyof Events];

interface Listener {
  onEvent(event: LiveEvent): void;
  onConnection(connection: LinkState): void;
  /** The session has ended: no reconnecting. */
  onSignedOut(): void;
}

// Comments come every 15 s; a stream without them is dead, even if the socket is open.
const silenceMs = 40_000;
const firstWaitMs = 1000;
const maxWaitMs = 15_000;

/** Reads the events until the signal fires, and reconnects after every break with the last event's id. */
export async function followEvents(
  session: ApiClient,
  cursor: string,
  listener: Listener,
  signal: AbortSignal,
): Promise<void> {
  let lastId = cursor;
  let waitMs = firstWaitMs;
  while (!signal.aborted) {
    listener.onConnection({ state: 'connecting' });
    let why = 'the connection was lost';
    try {
      await readOnce(session, lastId, signal, {
        onOpen: () => {
          waitMs = firstWaitMs;
          listener.onConnection({ state: 'live' });
        },
        onEvent: (event, id) => {
          if (id !== undefined) lastId = id;
          listener.onEvent(event);
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof CallError && error.needsSession) return listener.onSignedOut();
      why = error instanceof CallError ? error.message : 'the gateway does not answer';
    }
    listener.onConnection({ state: 'cut', why });
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(waitMs * 2, maxWaitMs);
  }
}

interface ReadProgress {
  onOpen(): void;
  onEvent(event: LiveEvent, id: string | undefined): void;
}

async function readOnce(
  session: ApiClient,
  lastId: string,
  signal: AbortSignal,
  reading: ReadProgress,
): Promise<void> {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), silenceMs);
  try {
    const response = await session.open('events', {
      headers: { 'last-event-id': lastId },
      signal: AbortSignal.any([signal, silent.signal]),
    });
    reading.onOpen();
    const parser = createParser({
      // Only this gateway writes here: contract.ts.
      onEvent: ({ event, data, id }) =>
        reading.onEvent({ name: event, data: JSON.parse(data) } as LiveEvent, id),
    });
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
      parser.feed(decoder.decode(read.value, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
  }
}
