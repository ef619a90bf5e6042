import {
  closeSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';

const dayMs = 86_400_000;
/** Processes that began the same day's file at once each have one of their own. */
const maxNames = 100;

interface DailyFileOptions {
  /** Opens the file for appending, and creates it if needed. Throws if it can't, or if the file is somebody else's. */
  readonly open: (path: string) => number;
  /** How many days files are kept; undefined: all lines go into one file, for ever. */
  readonly days: number | undefined;
  /** A file could not be put aside, and is written on until the next day (UTC). */
  readonly onFailure: (cause: string) => void;
}

/**
 * A file to append to, of one day: on the next one it is put aside as `name.2026-11-28.jsonl`, and a new one begun. Several
 * processes may write it: whichever is first puts it aside, and the others, whose lines go into the old file until then,
 * go over to the new one.
 */
export class DailyFile {
  readonly #path: string;
  readonly #options: DailyFileOptions;
  #descriptor: number;
  /** Days since 1970. */
  #day: number;

  /** Throws what `open` throws. */
  constructor(path: string, options: DailyFileOptions) {
    this.#path = path;
    this.#options = options;
    this.#descriptor = options.open(path);
    // That of the last line: the first may be of an exchange that began before midnight.
    const { size, mtimeMs } = fstatSync(this.#descriptor);
    this.#day = dayOf(size === 0 ? Date.now() : mtimeMs);
    this.#prune();
  }

  /** Where to append the next line. */
  get descriptor(): number {
    return this.#descriptor;
  }

  /** To be called before a line is written: a comparison of numbers, except on a new day. */
  turn(): void {
    const today = dayOf(Date.now());
    if (this.#options.days === undefined || today === this.#day) return;
    try {
      if (this.#isCurrent()) this.#putAside();
      const previous = this.#descriptor;
      this.#descriptor = this.#options.open(this.#path);
      keepMode(previous, this.#descriptor);
      closeSync(previous);
    } catch (error) {
      this.#options.onFailure((error as NodeJS.ErrnoException).code ?? String(error));
    }
    this.#day = today;
    this.#prune();
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Whether the file is still the one of that name. */
  #isCurrent(): boolean {
    return fileId(fstatSync(this.#descriptor)) === fileId(statSync(this.#path, { throwIfNoEntry: false }));
  }

  /** Under a name that nobody else has: a file is never replaced. */
  #putAside(): void {
    const { size, mtimeMs } = fstatSync(this.#descriptor);
    if (size === 0) return;
    const target = this.#claimName(dayOf(mtimeMs));
    try {
      // Another process may have been faster.
      if (this.#isCurrent()) renameSync(this.#path, target);
    } finally {
      if (lstatSync(target).size === 0) rmSync(target);
    }
  }

  #claimName(day: number): string {
    for (let number = 0; ; number += 1) {
      const path = pathOf(this.#path, { day, number });
      try {
        closeSync(openSync(path, 'wx', 0o600));
        return path;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number === maxNames) throw error;
      }
    }
  }

  /** Whatever can't be deleted stays until it can. */
  #prune(): void {
    const { days } = this.#options;
    if (days === undefined) return;
    const today = dayOf(Date.now());
    const files = filesPutAside(this.#path);
    // None of these days: the clock is ahead, or the gateway was off. The file of today will tell, when it is put aside.
    if (files.every(({ day }) => day < today - days)) return;
    for (const { path, day } of files) if (day < today - days) this.#remove(path, today - days);
  }

  #remove(path: string, firstDay: number): void {
    try {
      const stats = lstatSync(path);
      // A process that keeps all lines for ever, or an earlier build, may still write it.
      if (!stats.isFile() || dayOf(stats.mtimeMs) >= firstDay) return;
      closeSync(this.#options.open(path));
      rmSync(path);
    } catch {}
  }
}

/** The files that hold a file's lines of earlier days, the latest first. */
export function earlierFiles(path: string): readonly string[] {
  return filesPutAside(path)
    .map((file) => file.path)
    .filter((each) => lstatSync(each, { throwIfNoEntry: false })?.isFile() === true); // a pipe would be waited for
}

/** Who may read one day's file may read the next day's; a file that another user has begun keeps its own mode. */
function keepMode(previous: number, next: number): void {
  const { mode } = fstatSync(previous);
  const { size, uid } = fstatSync(next);
  if (size === 0 && uid === process.geteuid?.()) fchmodSync(next, mode & 0o777);
}

/** Tells files apart, whatever their names. */
export function fileId(stats: Pick<Stats, 'dev' | 'ino'> | undefined): string {
  return `${stats?.dev}:${stats?.ino}`;
}

interface PutAside {
  readonly day: number;
  readonly number: number;
}

function filesPutAside(path: string): readonly (PutAside & { readonly path: string })[] {
  let names: readonly string[] = [];
  try {
    names = readdirSync(dirname(path));
  } catch {} // there is no such folder, or nobody may list it
  const pattern = /^\.(\d{4}-\d\d-\d\d)(?:\.(\d{1,3}))?$/;
  const [base, extension] = partsOf(path);
  return names
    .flatMap((name) => {
      if (!name.startsWith(base) || !name.endsWith(extension)) return [];
      const [, date, number = '0'] =
        pattern.exec(name.slice(base.length, name.length - extension.length)) ?? [];
      if (date === undefined) return [];
      const day = dayOf(Date.parse(date));
      return [{ path: join(dirname(path), name), day, number: Number(number) }];
    })
    .toSorted((one, other) => other.day - one.day || other.number - one.number);
}

function pathOf(path: string, { day, number }: PutAside): string {
  const [base, extension] = partsOf(path);
  const date = new Date(day * dayMs).toISOString().slice(0, 10);
  return join(dirname(path), `${base}.${date}${number === 0 ? '' : `.${number}`}${extension}`);
}

function partsOf(path: string): readonly [base: string, extension: string] {
  const extension = extname(path);
  return [basename(path, extension), extension];
}

function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}
