import type { Io } from '../shell/io.ts';

/** The last lines on a terminal; when they are replaced, only those that have changed are rewritten. */
export interface LinePainter {
  /** Shows these lines in place of the ones shown before. Every line must fit the width. */
  show(lines: readonly string[]): void;
  /** Leaves what is shown in place, and continues below. */
  settle(): void;
}

const clearBelow = '\u001b[J';
// Synchronized update: terminals that support it show what is written in between at once; the others ignore it.
const beginFrame = '\u001b[?2026h';
const endFrame = '\u001b[?2026l';

export function createLinePainter(stdout: Io['stdout']): LinePainter {
  let shown: readonly string[] = [];
  return {
    show: (lines) => {
      const text = change(shown, lines, (stdout.rows ?? 24) - 1);
      if (text !== '') stdout.write(text);
      shown = lines;
    },
    settle: () => {
      if (shown.length > 0) stdout.write('\n');
      shown = [];
    },
  };
}

/** The output that turns old lines into new ones, with the cursor at the end of the last one. */
function change(from: readonly string[], to: readonly string[], reach: number): string {
  const differing = to.findIndex((line, i) => line !== from[i]);
  const same = differing < 0 ? Math.min(from.length, to.length) : differing;
  if (same === from.length && same === to.length) return '';
  const rest = to.slice(same).join('\n');
  if (from.length === 0) return rest;
  if (same === from.length) return `\n${rest}`;
  const old = from[same] ?? '';
  const isLonger = same === from.length - 1 && to[same]?.startsWith(old) === true;
  if (isLonger) return rest.slice(old.length);
  // What has scrolled off the top can't be changed.
  const first = Math.max(Math.min(same, to.length - 1), from.length - reach, 0);
  const up = from.length - 1 - first;
  const move = up > 0 ? `\u001b[${up}A` : '';
  return `${beginFrame}\r${move}${clearBelow}${to.slice(first).join('\n')}${endFrame}`;
}
