import { type Io, write } from '../io.ts';
import { printable } from './printable.ts';

/**
 * Writes text without any styling of ours to stdout: data, which may come from a provider, a store or a file. On a
 * terminal its control characters are made visible; a pipe gets it as it is.
 */
export function print(text: string, { stdout }: Pick<Io, 'stdout'>): Promise<void> {
  return write(stdout, shownOn(stdout, text));
}

/** The same on stderr: for the person who watches. */
export function note(text: string, { stderr }: Pick<Io, 'stderr'>): Promise<void> {
  return write(stderr, shownOn(stderr, text));
}

/** Without the locale: terminals with another encoding are fitted where their stream is opened. */
function shownOn({ isTTY }: Io['stdout'], text: string): string {
  return isTTY === true ? printable(text, {}) : text;
}
