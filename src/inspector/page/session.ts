import {
  type ErrorResponse,
  type SessionRequest,
  type SessionResponse,
  tokenHeader,
} from '../contract/actions.ts';

/** A call that the gateway refused, with its own message. */
export class CallError extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }

  get needsSession(): boolean {
    return this.status === 401;
  }
}

/** How long signing out waits for the gateway. */
const leaveMs = 5_000;
/** Storage is separated by port, unlike cookies. */
const stored = 'gateway-inspector';

/** The page's half of the session, and all calls to the gateway. */
export class ApiClient {
  /** For a browser that stores nothing: it keeps the session until the page is closed. */
  #token: string | undefined;
  /** Why there is no session, where something went wrong. */
  problem: string | undefined;

  /** Exchanges the one-time token in the URL for a session, after removing it from the URL. */
  async enterByAddress(): Promise<void> {
    const token = tokenInAddress();
    if (token === undefined) return;
    history.replaceState(null, '', location.pathname + location.search);
    try {
      await this.enter({ token: decodeURIComponent(token) });
    } catch (error) {
      this.problem = messageOfCall(error);
    }
  }

  async enter(request: SessionRequest): Promise<void> {
    const { token } = await this.post<SessionResponse>('session', request);
    this.#token = token;
    this.problem = undefined;
    storage((store) => store.setItem(stored, token));
  }

  /**
   * Ends this session, or every session of every browser. This browser's half is dropped first, whether the gateway
   * answers or not; `problem` then says what has not ended.
   */
  async leave({ everywhere }: { readonly everywhere: boolean }): Promise<void> {
    const path = everywhere ? 'sessions' : 'session';
    const ending = this.open(path, { method: 'DELETE', signal: AbortSignal.timeout(leaveMs) });
    this.forget();
    this.problem = undefined;
    try {
      await ending;
    } catch (error) {
      if (error instanceof CallError && error.needsSession) return; // it had ended
      const what = everywhere
        ? 'only this browser is signed out'
        : 'the session could not be ended at the gateway';
      this.problem = `This browser has dropped its half of the session, but ${what}. ${messageOfCall(error)}`;
    }
  }

  /** Drops this browser's half of the session. */
  forget(): void {
    this.#token = undefined;
    storage((store) => store.removeItem(stored));
  }

  get<Answer>(path: string): Promise<Answer> {
    return this.#json(path, {});
  }

  post<Answer>(path: string, body: unknown): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    return this.#json(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** Resolves with an answer of 200; throws a CallError for anything else. */
  async open(path: string, init: RequestInit): Promise<Response> {
    // Another page of this browser may have opened a session since.
    const token = storage((store) => store.getItem(stored)) ?? this.#token;
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set(tokenHeader, token);
    const response = await fetch(`/_/api/${path}`, { ...init, headers, cache: 'no-store' });
    if (response.ok) return response;
    // One may also have been opened while this call was on its way.
    const latest = storage((store) => store.getItem(stored)) ?? token;
    if (response.status === 401 && latest !== token) return this.open(path, init);
    throw await toError(response);
  }

  async #json<Answer>(path: string, init: RequestInit): Promise<Answer> {
    const response = await this.open(path, init);
    return (await response.json()) as Answer; // the gateway's own answer: contract/
  }
}

/** Undefined where the browser has no storage for the page. */
function storage<Value>(use: (store: Storage) => Value): Value | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}

/** The one-time token of a link. */
export function tokenInAddress(): string | undefined {
  return /^#token=([^&]+)$/.exec(location.hash)?.[1];
}

async function toError(response: Response): Promise<CallError> {
  try {
    const { error } = (await response.json()) as ErrorResponse;
    return new CallError(response.status, error.reason, error.message);
  } catch {
    // Not the gateway's own error: something else is listening on this address now.
    return new CallError(response.status, 'unknown', `the answer was ${response.status}`);
  }
}

export function messageOfCall(error: unknown): string {
  return error instanceof CallError ? sentence(error.message) : 'The gateway does not answer. Is it running?';
}

/** The gateway's messages are fragments; one that begins with a name stays as it is. */
function sentence(message: string): string {
  return /^[a-z]+[ ,]/.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
}
