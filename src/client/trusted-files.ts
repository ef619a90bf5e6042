import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { type Environment, readState, removeState, stateDirectory, writeState } from './state.ts';

/** A configuration file, and what this user has allowed it. */
export interface TrustedFile {
  /** Its real path. */
  readonly path: string;
  /** When something was last allowed, as RFC 3339. */
  readonly since: string;
  readonly wants: readonly { readonly id: string; readonly text: string }[];
}

/** What a file at a real path was allowed; undefined if the user was never asked. */
export function trustedFile(env: Environment, path: string): TrustedFile | undefined {
  const file = parseTrusted(readState(env, fileOf(path)));
  return file?.path === path ? file : undefined;
}

/** Allows a file more; what it was allowed before stays, so that changing between branches doesn't ask each time. */
export function trustFile(env: Environment, path: string, wants: TrustedFile['wants']): void {
  const all = [...(trustedFile(env, path)?.wants ?? []), ...wants.map(({ id, text }) => ({ id, text }))];
  const once = [...new Map(all.map((want) => [want.id, want])).values()];
  writeState(env, fileOf(path), { path, since: new Date().toISOString(), wants: once });
}

/** Takes back all that a file was allowed. */
export function distrustFile(env: Environment, path: string): void {
  removeState(env, fileOf(path));
}

/** All files that were allowed something. */
export function trustedFiles(env: Environment): readonly TrustedFile[] {
  return namesIn(stateDirectory(env))
    .flatMap((name) => parseTrusted(readState(env, name)) ?? [])
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

// A file for each, so that two answers at once don't overwrite each other.
function fileOf(path: string): string {
  return `trusted-${createHash('sha256').update(path).digest('hex').slice(0, 32)}.json`;
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => /^trusted-[0-9a-f]{32}\.json$/.test(name));
  } catch {
    return []; // there is no state yet
  }
}

/** Undefined for anything that was not written here as a whole: then it is asked again. */
function parseTrusted(saved: unknown): TrustedFile | undefined {
  if (typeof saved !== 'object' || saved === null) return undefined;
  const { path, since, wants }: Partial<Record<keyof TrustedFile, unknown>> = saved;
  if (typeof path !== 'string' || typeof since !== 'string' || !Array.isArray(wants)) return undefined;
  return wants.every(isWant) ? { path, since, wants } : undefined;
}

function isWant(value: unknown): value is TrustedFile['wants'][number] {
  if (typeof value !== 'object' || value === null) return false;
  const { id, text }: { id?: unknown; text?: unknown } = value;
  return typeof id === 'string' && typeof text === 'string';
}
