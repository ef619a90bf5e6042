import { randomBytes } from 'node:crypto';
import { readState, writeState } from '../../../client/state.ts';
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

/** The live page's sessions in this user's state directory, readable only by this user. */
export class SessionFile implements SessionStore {
  readonly #env: Io['env'];
  readonly #nowMs: () => number;
  #state: State;

  constructor(env: Io['env'], nowMs: () => number = Date.now) {
    this.#env = env;
    this.#nowMs = nowMs;
    const known = read(env);
    this.#state = known ?? newState();
    if (known !== undefined) return;
    this.#write(this.#state);
    // If two gateways start at once, both use the file that remains.
    this.#state = read(env) ?? this.#state;
  }

  get secret(): string {
    return this.#state.secret;
  }

  isEnded(id: string): boolean {
    return this.#state.ended.has(id);
  }

  end(id: string, expiresMs: number): void {
    // Another gateway of this user may have written since.
    const { secret, ended } = read(this.#env) ?? this.#state;
    const all = [...this.#state.ended, ...ended, [id, expiresMs] as const];
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
    writeState(this.#env, fileName, { secret: state.secret, ended: Object.fromEntries(state.ended) });
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
