import type { AccessAnswer, ErrorAnswer, SessionAnswer, SessionRequest } from '../contract/session.ts';
import { dropKey, loadKey, proofHeader, type SessionKey, StorageError, saveKey } from './session-key.ts';

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

/** The page's half of the session, and all calls to the gateway. */
export class Session {
  /** Loaded for the first call that needs it. */
  #key: Promise<SessionKey | undefined> | undefined;
  /** Why there is no session, where something went wrong. */
  problem: string | undefined;
  /** The nonce of the gateway that answered last. */
  #nonce: string | undefined;

  /** Exchanges the one-time token in the URL for a session, after removing it from the URL. */
  async enterByAddress(): Promise<void> {
    const token = tokenInAddress();
    if (token === undefined) return;
    history.replaceState(null, '', location.pathname + location.search);
    try {
      await this.enter({ token: decodeURIComponent(token) });
    } catch (error) {
      this.problem = messageOf(error);
    }
  }

  async enter(request: SessionRequest): Promise<void> {
    // Needs no key, so it doesn't wait for the browser's storage either.
    const response = await this.#send('session', toPost(request), undefined);
    const { key } = (await response.json()) as SessionAnswer; // the gateway's own answer: contract.ts
    const saved = saveKey(key);
    this.#key = saved;
    this.problem = undefined;
    await saved;
  }

  /**
   * Ends this session, or every session of every browser. This browser's key is dropped first, whether the gateway
   * answers or not; `problem` then says what has not ended.
   */
  async leave({ everywhere }: { readonly everywhere: boolean }): Promise<void> {
    const key = await this.#loadKey();
    this.forgetKey();
    const [stored, ended] = await Promise.allSettled([
      dropKey(),
      this.#openWith(key, everywhere ? 'sessions' : 'session', {
        method: 'DELETE',
        signal: AbortSignal.timeout(leaveMs),
      }),
    ]);
    this.problem = undefined;
    if (stored.status === 'rejected') {
      this.problem =
        "This browser's storage does not answer, so its key may still be there: clear this page's data.";
    } else if (ended.status === 'rejected' && !hasEnded(ended.reason)) {
      const why = messageOf(ended.reason);
      this.problem = everywhere
        ? `Only this browser is signed out: open a link and try again, or delete inspector.json in the state directory. ${why}`
        : `This browser is signed out and its key is gone, but the session could not be ended at the gateway. ${why}`;
    }
  }

  /** From now on there is no session in this page; what is stored stays. */
  forgetKey(): void {
    this.#key = Promise.resolve(undefined);
  }

  get<Answer>(path: string): Promise<Answer> {
    return this.#json(path, {});
  }

  post<Answer>(path: string, body: unknown): Promise<Answer> {
    return this.#json(path, toPost(body));
  }

  async access(): Promise<AccessAnswer> {
    const response = await this.#send('access', {}, undefined);
    return (await response.json()) as AccessAnswer; // the gateway's own answer: contract.ts
  }

  /** Resolves with an answer of 200; throws a CallError for anything else. */
  async open(path: string, init: RequestInit): Promise<Response> {
    return this.#openWith(await this.#loadKey(), path, init);
  }

  async #openWith(key: SessionKey | undefined, path: string, init: RequestInit): Promise<Response> {
    try {
      return await this.#send(path, init, key);
    } catch (error) {
      if (!(error instanceof CallError && error.needsSession && key !== undefined)) throw error;
      // A restarted gateway requires other signatures.
      const before = this.#nonce;
      await this.#readNonce();
      if (this.#nonce === before) throw error;
      return this.#send(path, init, key);
    }
  }

  #loadKey(): Promise<SessionKey | undefined> {
    this.#key ??= loadKey().catch((error) => {
      this.problem = messageOf(error);
      return undefined;
    });
    return this.#key;
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
    this.#nonce = (await this.access()).nonce;
  }

  async #json<Answer>(path: string, init: RequestInit): Promise<Answer> {
    const response = await this.open(path, init);
    return (await response.json()) as Answer; // the gateway's own answer: contract.ts
  }
}

/** The one-time token of a link. */
export function tokenInAddress(): string | undefined {
  return /^#token=([^&]+)$/.exec(location.hash)?.[1];
}

function hasEnded(error: unknown): boolean {
  return error instanceof CallError && error.needsSession;
}

function toPost(body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

async function toError(response: Response): Promise<CallError> {
  try {
    const { error } = (await response.json()) as ErrorAnswer;
    return new CallError(response.status, error.reason, error.message);
  } catch {
    // Not the gateway's own error: something else is listening on this address now.
    return new CallError(response.status, 'unknown', `the answer was ${response.status}`);
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof CallError) return sentence(error.message);
  if (error instanceof StorageError)
    return "This browser's storage does not answer. Reload the page, or open another link.";
  return 'The gateway does not answer. Is it running?';
}

/** The gateway's messages are fragments; one that begins with a name stays as it is. */
function sentence(message: string): string {
  return /^[a-z]+[ ,]/.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message;
}
