import type { KeepBodiesRequest, KeepBodiesResponse } from '../contract/actions.ts';
import type { NowResponse } from '../contract/events.ts';
import type { ListResponse } from '../contract/exchange-list.ts';
import { followEvents, type LinkState, type LiveEvent } from './event-stream.ts';
import { type ApiClient, CallError, messageOfCall } from './session.ts';
import { Traffic } from './traffic.ts';

// A list that changes more often than this can't be read.
const redrawMs = 250;

/** What the page currently knows about the gateway; components render again when it changes. */
export class Live {
  readonly session: ApiClient;
  readonly traffic = new Traffic();
  /** Exchanges that came too fast to be sent. */
  skipped = 0;
  connection: LinkState = { state: 'connecting' };
  now: NowResponse | undefined;
  isSignedOut = false;
  /** Whether somebody signed out, so that nothing may be left here. */
  hasLeft = false;
  /** Whether the first list has been loaded. */
  isLoaded = false;
  /** Why the list could not be loaded. */
  failure: string | undefined;
  /** Why bodies could not be kept, or dropped. */
  keepFailure: string | undefined;
  /** This browser's pages at this gateway, which share the session. */
  readonly #otherPages = new BroadcastChannel('gateway-inspector');
  readonly #listeners = new Set<() => void>();
  #stop = new AbortController();
  #isDrawPlanned = false;
  #lastDrawMs = 0;

  constructor(session: ApiClient) {
    this.session = session;
    this.#otherPages.onmessage = ({ data }) => {
      if (data === 'left') this.#forget();
      else if (this.isSignedOut) void this.start();
    };
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Enters by the one-time token in the URL. */
  async enterByAddress(): Promise<void> {
    await this.session.enterByAddress();
    await this.enter();
  }

  /** Starts with a new session, in all of this browser's pages that have none. */
  async enter(): Promise<void> {
    this.#otherPages.postMessage('entered');
    await this.start();
  }

  /** Loads the list and follows the events; starts over when called again. */
  async start(): Promise<void> {
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.isSignedOut = false;
    this.hasLeft = false;
    this.failure = undefined;
    try {
      const cursor = await this.#load();
      if (signal.aborted) return;
      void followEvents(
        this.session,
        cursor,
        {
          onEvent: (event) => this.#apply(event),
          onConnection: (connection) => this.#set({ connection }),
          onSignedOut: () => this.#end(),
        },
        signal,
      );
      this.#set({ now: await this.session.get<NowResponse>('now') });
    } catch (error) {
      if (error instanceof CallError && error.needsSession) return this.#end();
      this.#set({ failure: messageOfCall(error), connection: { state: 'cut', why: messageOfCall(error) } });
      setTimeout(() => signal.aborted || void this.start(), 3000);
    }
  }

  /** Keeps bodies for this many minutes; 0 stops and drops those that are kept. */
  async keepBodies(minutes: number): Promise<void> {
    const request: KeepBodiesRequest = { minutes, forget: minutes === 0 };
    try {
      const answer = await this.session.post<KeepBodiesResponse>('keep-bodies', request);
      this.#set({ keepFailure: undefined });
      if (this.now === undefined) return;
      const { keeps_bodies: _, ...now } = this.now;
      this.#set({ now: { ...now, ...answer } });
    } catch (error) {
      this.#set({ keepFailure: messageOfCall(error) });
    }
  }

  /**
   * Ends this session, or all of them. Whatever the gateway answers, this browser's pages drop it and what they have
   * shown.
   */
  async signOut(options: { readonly everywhere: boolean }): Promise<void> {
    this.#stop.abort();
    this.#otherPages.postMessage('left');
    await this.session.leave(options);
    this.#forget();
  }

  /** There is no session, or it has ended at the gateway. */
  #end(): void {
    if (this.isLoaded)
      this.session.problem ??= 'The session has ended: none outlives the gateway, nor a week.';
    this.session.forget();
    this.#set({ isSignedOut: true });
  }

  /** Drops all that was shown, too. */
  #forget(): void {
    this.#stop.abort();
    this.session.forget();
    this.hasLeft = true;
    this.traffic.clear();
    this.#set({ isSignedOut: true, isLoaded: false, skipped: 0, now: undefined });
  }

  async #load(): Promise<string> {
    const { rows, cursor } = await this.session.get<ListResponse>('exchanges');
    this.traffic.clear(); // another process may have answered before
    for (const row of rows) this.traffic.put(row);
    this.#set({ isLoaded: true, skipped: 0 });
    return cursor;
  }

  #apply(event: LiveEvent): void {
    switch (event.name) {
      case 'resync':
        return void this.start();
      case 'now':
        return this.#set({ now: event.data });
      case 'skipped':
        return this.#set({ skipped: this.skipped + event.data.count });
      case 'row':
        this.traffic.put(event.data);
        return this.#draw();
    }
  }

  #set(change: Partial<Live>): void {
    Object.assign(this, change);
    this.#draw();
  }

  /** Notifies immediately if the last time is long enough ago, otherwise as soon as it is. */
  #draw(): void {
    if (this.#isDrawPlanned) return;
    this.#isDrawPlanned = true;
    const waitMs = Math.max(0, this.#lastDrawMs + redrawMs - performance.now());
    setTimeout(() => {
      this.#isDrawPlanned = false;
      this.#lastDrawMs = performance.now();
      for (const listener of this.#listeners) listener();
    }, waitMs);
  }
}
