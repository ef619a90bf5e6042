import { hash } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { readState, refuseForeignState, stateDirectory, writeState } from '../client/state.ts';
import type { Config } from '../config/config.ts';
import { realPathOf } from '../config/source/real-path.ts';
import { fileLedger } from '../record/ledger/ledger-store.ts';
import { type LedgerSettings, nameOfDatabase as nameOf } from './ledger.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Why a configuration keeps no ledger. */
export function noLedgerReason({ isSandboxMode }: Pick<Config, 'isSandboxMode'>): string {
  return isSandboxMode
    ? 'no ledger is kept in sandbox mode; "gateway init" writes a configuration'
    : 'no ledger is kept here: records.ledger is false';
}

interface Caller {
  readonly env: Environment;
  readonly cwd: string;
}

interface LoadedFile {
  readonly config: Config;
  /** Absolute; undefined if there is no file. */
  readonly path: string | undefined;
}

/** Whose `ledger.sqlite` is. */
const ownerFile = 'ledger-owner.json';

/**
 * Which ledger a configuration keeps; undefined for none. Where it names none, it has one of its own, so that projects and
 * keys of the same name in two configurations are not one. Throws config.invalid if it is in another user's state directory.
 */
export function ledgerSettings(
  { config: { records }, path }: LoadedFile,
  { env, cwd }: Caller,
): LedgerSettings | undefined {
  if (records.ledger === undefined) return undefined;
  const { file, database, ...settings } = records.ledger;
  if (file === undefined) refuseForeignState(env);
  const inState = (name: string) => join(stateDirectory(env), name);
  if (database !== undefined) {
    const journal = inState(`ledger-${shortHash(nameOf(database))}.journal`);
    return { ...settings, place: { url: database, journal } };
  }
  const ledger = file === undefined ? inState(ownName(path, env)) : resolve(cwd, file);
  return { ...settings, place: fileLedger(ledger) };
}

/** The same for who writes it: `ledger.sqlite` is from now on that of the first configuration that was served. */
export function claimLedger(loaded: LoadedFile, caller: Caller): LedgerSettings | undefined {
  const { ledger } = loaded.config.records;
  const isOwn = ledger !== undefined && ledger.file === undefined && ledger.database === undefined;
  if (isOwn && readState(caller.env, ownerFile) === undefined)
    writeState(caller.env, ownerFile, { configuration: identityOf(loaded.path) });
  return ledgerSettings(loaded, caller);
}

function ownName(path: string | undefined, env: Environment): string {
  const owner = readState(env, ownerFile) as { readonly configuration?: unknown } | undefined;
  const own = identityOf(path);
  const isFirst = owner === undefined || owner.configuration === own;
  return isFirst ? 'ledger.sqlite' : `ledger-${shortHash(own)}.sqlite`;
}

/** Its last link is not followed: Kubernetes points it to another folder with every change of a ConfigMap. */
function identityOf(path = ''): string {
  return join(realPathOf(dirname(path)), basename(path));
}

function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 12);
}
