import type { AccessAnswer, ErrorAnswer, SessionAnswer, SessionRequest } from '../contract/session.ts';
import { loadKey, proofHeader, type SessionKey, saveKey } from './session-key.ts';

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
  #key: Promise<SessionKey | undefined> = loadKey();
  /** Of the gateway that answered last. */
  #nonce: string | undefined;

  /** Exchanges the one-time token in the URL for a session, after removing it from the URL. */
  async enterByAddress(): Promise<undefined> {
    const token = /^#token=([^&]+)$/.exec(location.hash)?.[1];
    if (token === undefined) return;
    history.replaceState(null, '', location.pathname + location.search);
    await this.enter({ token: decodeURIComponent(token) });
  }

  async enter(request: SessionRequest): Promise<void> {
    const { key } = await this.post<SessionAnswer>('session', request);
    const saved = saveKey(key);
    this.#key = saved;
    await saved;
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

  access(): Promise<AccessAnswer> {
    return this.#json('access', {});
  }

  /** Resolves with an answer of 200; throws a CallError for anything else. */
  async open(path: string, init: RequestInit): Promise<Response> {
    const key = await this.#key;
    try {
      return await this.#send(path, init, key);
    } catch (error) {
      if (!(error instanceof CallError && error.needsSession && key !== undefined)) throw error;
      // A gateway that was started again wants other signatures.
      const before = this.#nonce;
      await this.#readNonce();
      if (this.#nonce === before) throw error;
      return this.#send(path, init, key);
    }
  }

  async #send(path: string, init: RequestInit, key: SessionKey | undefined): Promise<Response> {
    const { pathname, search } = new URL(`/_/api/${path}`, location.href);
    const target = pathname + search;
    const headers = {
      ...(init.headers as Record<string, string>),
      ...(key === undefined ? {} : await this.#proof(key, init.method ?? 'GET', target)),
    };
    const response = await fetch(target, { ...init, headers, cache: 'no-store' });
    if (response.ok) return response;
    throw await toError(response);
  }

  async #proof(key: SessionKey, method: string, target: string): Promise<Record<string, string>> {
    if (this.#nonce === undefined) await this.#readNonce();
    return proofHeader(key, { nonce: this.#nonce ?? '', method, target });
  }

  async #readNonce(): Promise<void> {
    const response = await this.#send('access', {}, undefined);
    const { nonce } = (await response.json()) as AccessAnswer; // the gateway's own answer: contract.ts
    this.#nonce = nonce;
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
