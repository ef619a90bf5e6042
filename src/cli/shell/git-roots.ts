import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** A folder by its real path too, if that is another one. */
export function withRealPath(directory: string): readonly string[] {
  try {
    return [...new Set([directory, realpathSync(directory)])];
  } catch {
    return [directory];
  }
}

/** The root of the repository that a folder is in, and the main checkout that a worktree belongs to; none outside one. */
export function gitRoots(directory: string): readonly string[] {
  for (let root = directory; ; root = dirname(root)) {
    const entry = gitEntry(root);
    if (entry !== undefined) return entry.isFile() ? [root, ...mainCheckout(root)] : [root];
    if (dirname(root) === root) return [];
  }
}

function gitEntry(directory: string): Stats | undefined {
  try {
    return statSync(join(directory, '.git'), { throwIfNoEntry: false });
  } catch {
    return undefined; // git can't look at it either
  }
}

/** Of a worktree, whose `.git` is a file that leads to its part of the main checkout's folder. */
function mainCheckout(root: string): readonly string[] {
  try {
    const [, own = ''] = /^gitdir:\s*(.+?)\s*$/m.exec(readFileSync(join(root, '.git'), 'utf8')) ?? [];
    const part = resolve(root, own);
    const common = resolve(part, readFileSync(join(part, 'commondir'), 'utf8').trim());
    return [basename(common) === '.git' ? dirname(common) : common];
  } catch {
    return []; // a submodule's, or git can't read it either
  }
}
