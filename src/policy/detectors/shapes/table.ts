/** What the keys of one service look like: facts, from which the search is built. */
export interface Service {
  readonly name: string;
  /**
   * Each in the notation of `format.ts`: literal characters, `<set:length>`, `<one|other>` and `<uuid>`.
   * Lengths are as strict as they are known to be stable.
   */
  readonly formats: readonly string[];
  /** The page that documents the key: the vendor's, or `github` for GitHub's list of supported secret-scanning patterns. */
  readonly page: string;
  /** The month in which that page, or another of the vendor's, was seen to show this prefix; absent if none was found. */
  readonly confirmed?: string;
}

/**
 * Reads a table: a service a line, with its name, its formats (a blank between two), its page and the month of
 * confirmation ("-" if there is none), two blanks or more between the columns.
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
