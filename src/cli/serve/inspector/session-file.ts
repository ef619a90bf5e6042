import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readState, stateDirectory, writeState } from '../../../client/state.ts';
import type { SessionStore } from '../../../inspector/access/session-store.ts';
import type { Io } from '../../shell/io.ts';

interface State {
  readonly secret: string;
  /** When each session that was ended would have expired, by its id. */
  readonly ended: ReadonlyMap<string, number>;
}

const fileName = 'inspector.json';
const secretShape = /^[0-9a-f]{64}$/;
const idShape = /^[0-9a-f]{32}$/;
/** More than these end all sessions, so that the file has a bound and no ended session comes back. */
const maxEnded = 1_000;

/**
 * The live page's sessions in this user's state directory, readable only by this user. The file is read again whenever it
 * has changed: another gateway of this user may have ended sessions, or the user may have deleted it to end all.
 */
export class SessionFile implements SessionStore {
  readonly #env: Io['env'];
  readonly #nowMs: () => number;
  #state: State;
  /** Of the file that `#state` is from. */
  #version: string | undefined;
  /** The file could not be written: what was ended would be valid again after a restart. */
  #isUnwritten = false;

  constructor(env: Io['env'], nowMs: () => number = Date.now) {
    this.#env = env;
    this.#nowMs = nowMs;
    const known = read(env);
    this.#state = known ?? newState();
    this.#version = versionOf(env);
    if (known !== undefined) return;
    this.#write(this.#state);
    // If two gateways start at once, both use the file that remains.
    this.#state = read(env) ?? this.#state;
  }

  get secret(): string {
    this.#refresh();
    return this.#state.secret;
  }

  isEnded(id: string): boolean {
    this.#refresh();
    return this.#state.ended.has(id);
  }

  end(id: string, expiresMs: number): void {
    this.#refresh();
    const { secret, ended } = this.#state;
    const all = [...ended, [id, expiresMs] as const];
    const current = new Map(all.filter(([, ms]) => ms > this.#nowMs()));
    if (current.size > maxEnded) return this.renew();
    this.#write({ secret, ended: current });
  }

  renew(): void {
    this.#write(newState());
  }

  /** In force here even if the file can't be written, which throws. */
  #write(state: State): void {
    this.#state = state;
    this.#isUnwritten = true;
    writeState(this.#env, fileName, { secret: state.secret, ended: Object.fromEntries(state.ended) });
    this.#isUnwritten = false;
    this.#version = versionOf(this.#env);
  }

  #refresh(): void {
    if (this.#isUnwritten) return this.#retry(this.#state);
    const version = versionOf(this.#env);
    if (version === this.#version) return;
    const known = read(this.#env);
    if (known === undefined) return this.#retry(newState());
    this.#version = version;
    const isSame = known.secret === this.#state.secret;
    this.#state = isSame ? { ...known, ended: new Map([...this.#state.ended, ...known.ended]) } : known;
  }

  #retry(state: State): void {
    try {
      this.#write(state);
    } catch {
      // In force here in any case, and retried with the next call.
    }
  }
}

/** Changes with every write, each of which makes a new file; undefined if there is none. */
function versionOf(env: Io['env']): string | undefined {
  try {
    const { ino, mtimeMs, size } = statSync(join(stateDirectory(env), fileName));
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return undefined;
  }
}

function newState(): State {
  return { secret: randomBytes(32).toString('hex'), ended: new Map() };
}

/** Undefined if the file is missing or damaged: then all sessions have ended. */
function read(env: Io['env']): State | undefined {
  const { secret, ended } = (readState(env, fileName) ?? {}) as { secret?: unknown; ended?: unknown };
  if (typeof secret !== 'string' || !secretShape.test(secret)) return undefined;
  const known = Object.entries(typeof ended === 'object' && ended !== null ? ended : {});
  const isValid = (entry: [string, unknown]): entry is [string, number] =>
    idShape.test(entry[0]) && typeof entry[1] === 'number';
  return { secret, ended: new Map(known.filter(isValid)) };
}
