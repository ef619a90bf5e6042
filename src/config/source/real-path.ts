import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const maxLinks = 40;

/** Where a path leads to, through all links, whether or not there is a file yet. */
export function realPathOf(path: string, links = 0): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    if (parent === path || links > maxLinks) return path;
    const here = join(realPathOf(parent, links + 1), basename(path));
    // A link to what isn't there yet: whoever creates it creates that.
    const target = linkAt(here);
    return target === undefined ? here : realPathOf(resolve(dirname(here), target), links + 1);
  }
}

/** Whether a real path lies in a directory, however that is named. */
export function liesIn(path: string, directory: string): boolean {
  const way = relative(realPathOf(directory), path);
  return way !== '' && way !== '..' && !way.startsWith('../') && !way.startsWith('/');
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined; // nothing is there
  }
}
