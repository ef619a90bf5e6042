/** What the keys of one service look like: plain facts, compiled into the search. */
export interface Service {
  readonly name: string;
  /**
   * Each in the notation of `format.ts`: literal characters, `<set:length>`, `<one|other>` and `<uuid>`. Lengths are
   * only as strict as they are known to be stable.
   */
  readonly formats: readonly string[];
  /** The page that documents the key: the vendor's, or `github` for GitHub's list of supported secret-scanning patterns. */
  readonly page: string;
  /** The month in which a page of the vendor was seen to show this prefix; absent if none was found. */
  readonly confirmed?: string;
}

/**
 * Reads a table with one service per line: its name, its formats (separated by single spaces), its page and the month
 * of confirmation ("-" if none), with two or more spaces between columns.
 */
export function readTable(table: string): readonly Service[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', formats = '', page = '', confirmed = '-', ...rest] = line.trim().split(/ {2,}/);
      if (page === '' || rest.length > 0) throw new Error(`expected four columns: ${line}`);
      return { name, formats: formats.split(' '), page, ...(confirmed === '-' ? {} : { confirmed }) };
    });
}
