// Not string-width, which gives the same widths but takes 80 ms to load, nor cli-table3, which cuts words.
import textWidth from 'fast-string-width';

export interface TableWidth {
  /** Of the terminal; absent, or 0 from a terminal that does not know: as wide as it takes. */
  readonly columns?: number | undefined;
  /** Titles of the columns that give way first, the very first in front. Otherwise the last column does. */
  readonly leastFirst?: readonly string[];
}

const gap = 2;
const ellipsis = '…';

/**
 * Rows for a person (aligned columns with a header, on a terminal) or for a script (tab-separated, no header).
 * Controls inside a cell become spaces: a row stays a row, and a name that a provider chose can't move the terminal.
 * Where the terminal is too narrow, the least important columns lose words, then go; no word is ever cut.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  isForPeople: boolean,
  width: TableWidth = {},
): string {
  const cells = rows.map((row) => row.map(oneLine));
  if (!isForPeople) return cells.map((row) => `${row.join('\t')}\n`).join('');
  const shown = fitColumns(header, cells, width);
  const lines = [header, ...cells].map((row, i) => {
    const texts = shown.map(({ index, width: most }) => padded(row[index] ?? '', most));
    const isCut = i === 0 && shown.length < header.length;
    return `${texts.join(' '.repeat(gap)).trimEnd()}${isCut ? `${' '.repeat(gap)}${ellipsis}` : ''}\n`;
  });
  return lines.join('');
}

function oneLine(cell: string): string {
  return cell.replace(/[\u0000-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2066-\u2069]+/g, ' ');
}

interface ShownColumn {
  readonly index: number;
  readonly width: number;
}

/** The columns there is room for, in their order: one loses words, then goes, before a more important one loses any. */
function fitColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, leastFirst = [] }: TableWidth,
): readonly ShownColumn[] {
  const cellsOf = (i: number) => rows.map((row) => row[i] ?? '');
  const shown = header.map((title, index) => ({
    index,
    width: maximum([title, ...cellsOf(index)].map((text) => textWidth(text))),
  }));
  let kept: readonly ShownColumn[] = shown;
  for (const index of givingWay(header, leastFirst)) {
    const needed = total(kept) + (kept.length < header.length ? gap + 1 : 0);
    const excess = needed - (columns || Number.POSITIVE_INFINITY);
    // The most important column stays, whatever the terminal.
    if (excess <= 0 || kept.length === 1) return kept;
    const natural = shown[index]?.width ?? 0;
    const least = maximum([textWidth(header[index] ?? ''), ...cellsOf(index).map(leastWidth)]);
    if (natural - excess >= least) {
      return kept.map((column) => (column.index === index ? { index, width: natural - excess } : column));
    }
    kept = kept.filter((column) => column.index !== index);
  }
  return kept;
}

/** Indexes of columns, those that give way first in front. */
function givingWay(header: readonly string[], leastFirst: readonly string[]): readonly number[] {
  const named = leastFirst.map((title) => header.indexOf(title)).filter((index) => index >= 0);
  const rest = [...header.keys()].reverse().filter((index) => !named.includes(index));
  return [...named, ...rest];
}

function total(columns: readonly ShownColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width, gap * (columns.length - 1));
}

function maximum(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0);
}

/** Words with what separates them: at blanks, and behind the commas of a list. */
function words(text: string): readonly string[] {
  return text.match(/[^\s,]*,|[^\s,]+\s*|\s+/g) ?? [];
}

/** As short as a cell gets: its first word, and a sign that there was more. */
function leastWidth(text: string): number {
  const [first = '', ...rest] = words(text);
  return rest.length === 0 ? textWidth(text) : textWidth(first.trimEnd()) + 1;
}

/** The words that fit, padded to the width. */
function padded(text: string, width: number): string {
  const whole = textWidth(text);
  if (whole <= width) return text + ' '.repeat(width - whole);
  let kept = '';
  for (const word of words(text)) {
    if (textWidth((kept + word).trimEnd()) + 1 > width) break;
    kept += word;
  }
  // A single word that is wider than its column: the most important one on a terminal that is too narrow for it.
  if (kept === '') return text;
  const shown = `${kept.trimEnd()}${ellipsis}`;
  return shown + ' '.repeat(Math.max(0, width - textWidth(shown)));
}
