import {
  type ErrorAnswer,
  pageKeyHeader,
  type SessionAnswer,
  type SessionRequest,
} from '../contract/session.ts';

// Cookies of 127.0.0.1 are shared between its ports, localStorage is not.
const stored = 'gateway-inspector-key';

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

/** The page's half of the session, and all calls to the gateway. */
export class Session {
  #key = localStorage.getItem(stored) ?? '';

  /** Exchanges the one-time token in the URL for a session, after removing it from the URL. */
  async enterByAddress(): Promise<undefined> {
    const token = /^#token=([^&]+)$/.exec(location.hash)?.[1];
    if (token === undefined) return;
    history.replaceState(null, '', location.pathname + location.search);
    await this.enter({ token: decodeURIComponent(token) });
  }

  async enter(request: SessionRequest): Promise<void> {
    const { key } = await this.post<SessionAnswer>('session', request);
    this.#key = key;
    localStorage.setItem(stored, key);
  }

  get<Answer>(path: string): Promise<Answer> {
    return this.#json(path, {});
  }

  post<Answer>(path: string, body: unknown): Promise<Answer> {
    return this.#json(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** Resolves with an answer of 200; throws a CallError for anything else. */
  async open(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), [pageKeyHeader]: this.#key };
    const response = await fetch(`/_/api/${path}`, { ...init, headers, cache: 'no-store' });
    if (response.ok) return response;
    throw await toError(response);
  }

  async #json<Answer>(path: string, init: RequestInit): Promise<Answer> {
    const response = await this.open(path, init);
    return (await response.json()) as Answer; // the gateway's own answer: contract.ts
  }
}

async function toError(response: Response): Promise<CallError> {
  try {
    const { error } = (await response.json()) as ErrorAnswer;
    return new CallError(response.status, error.reason, error.message);
  } catch {
    // Not the gateway's own error: something else answers at this address now.
    return new CallError(response.status, 'unknown', `the answer was ${response.status}`);
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof CallError) return error.message;
  return 'the gateway does not answer; is it running?';
}
