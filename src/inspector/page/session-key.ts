import { pageKeyHeader, pageSignatureHeader, type SignedCall, signedText } from '../contract/session.ts';

/**
 * The page's half of a session. Where the browser can sign (on loopback and behind TLS), the key is kept in a form
 * that no script can read, not even one of another server that gets this port later. Elsewhere it is a text in
 * localStorage. Neither is shared between ports, as cookies are.
 */
export type SessionKey = CryptoKey | string;

const stored = 'gateway-inspector-key';
const algorithm = { name: 'HMAC', hash: 'SHA-256' };

/** The browser's storage does not answer; loading the page again may help. */
export class StorageError extends Error {}

export async function saveKey(key: string): Promise<SessionKey> {
  if (!canSign()) {
    localStorage.setItem(stored, key);
    return key;
  }
  const imported = await crypto.subtle.importKey('raw', bytesOf(key), algorithm, false, ['sign']);
  // Where the browser keeps nothing (private windows of some), the session ends with the page.
  await inStore('readwrite', (store) => store.put(imported, stored)).catch(() => undefined);
  return imported;
}

/** Undefined if there is none, or the browser stores nothing. Throws StorageError. */
export async function loadKey(): Promise<SessionKey | undefined> {
  if (!canSign()) return localStorage.getItem(stored) ?? undefined;
  try {
    return (await inStore('readonly', (store) => store.get(stored))) as CryptoKey | undefined;
  } catch (error) {
    if (error instanceof StorageError) throw error;
    return undefined;
  }
}

/** Throws if the browser can't say that the key is gone. */
export async function dropKey(): Promise<void> {
  localStorage.removeItem(stored);
  if (canSign()) await inStore('readwrite', (store) => store.delete(stored));
}

/** The header by which a call proves that it comes from this page. */
export async function proofHeader(key: SessionKey, call: SignedCall): Promise<Record<string, string>> {
  if (typeof key === 'string') return { [pageKeyHeader]: key };
  const signature = new Uint8Array(await crypto.subtle.sign(algorithm, key, bytesOf(signedText(call))));
  return {
    [pageSignatureHeader]: Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  };
}

function canSign(): boolean {
  return globalThis.isSecureContext;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** IndexedDB can leave a request unanswered: a damaged profile, a full disk, a browser that is short of everything. */
const storageMs = 5_000;

async function inStore<Value>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Value>,
): Promise<Value> {
  let timer: number | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StorageError()), storageMs);
  });
  try {
    return await Promise.race([transact(mode, work), silence]);
  } finally {
    clearTimeout(timer);
  }
}

function transact<Value>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('gateway-inspector', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys');
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction('keys', mode);
      const request = work(transaction.objectStore('keys'));
      transaction.oncomplete = () => {
        database.close();
        resolve(request.result);
      };
      transaction.onabort = () => {
        database.close();
        reject(transaction.error);
      };
    };
  });
}
