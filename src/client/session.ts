import { createHash } from 'node:crypto';
import { type Environment, readState, removeState, writeState } from './state.ts';

/** A login saved for later commands. */
export interface SavedSession {
  readonly baseUrl: string;
  readonly username: string;
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The session saved for a store, or undefined if there is none that is still valid. */
export function readSession(env: Environment, baseUrl: string, now = Date.now()): SavedSession | undefined {
  const saved = readState(env, fileOf(baseUrl));
  return isSession(saved) && saved.baseUrl === baseUrl && saved.expiresAt > now ? saved : undefined;
}

/** Saves a session where only this user can read it; returns the file. */
export function saveSession(env: Environment, session: SavedSession): string {
  return writeState(env, fileOf(session.baseUrl), session);
}

export function removeSession(env: Environment, baseUrl: string): void {
  removeState(env, fileOf(baseUrl));
}

// A file for each store, so that two logins at once don't overwrite each other.
function fileOf(baseUrl: string): string {
  return `plants-session-${createHash('sha256').update(baseUrl).digest('hex').slice(0, 16)}.json`;
}

function isSession(value: unknown): value is SavedSession {
  if (typeof value !== 'object' || value === null) return false;
  const { baseUrl, username, token, expiresAt }: Partial<Record<keyof SavedSession, unknown>> = value;
  const texts = [baseUrl, username, token];
  return texts.every((text) => typeof text === 'string') && typeof expiresAt === 'number';
}
