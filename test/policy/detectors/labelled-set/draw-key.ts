import { base62, base64, base64url, decimal, lower, type Random, upper } from './random.ts';

const alphabets: Readonly<Record<string, string>> = {
  digits: decimal,
  hex: '0123456789abcdef',
  base32: `${upper}234567`,
  lower: lower + decimal,
  upper: upper + decimal,
  alnum: base62,
  word: `${base62}_`,
  key: base64url,
  base64,
  padded: base64url,
  percent: `${base62}%`,
  secret: `${base62}_-~`,
};

/** The formats of a table, in which each follows its service or another of it. */
export function formatsOf(table: string): readonly string[] {
  return table
    .trim()
    .split(/,\s+/)
    .flatMap((row) => row.split(' ').slice(1));
}

/**
 * A key as a format of the table of shapes describes it. Nothing of the search is used here: the notation is read
 * anew. Signs don't stand at the ends of a run, where a text may end a word.
 */
export function drawKey(random: Random, format: string): string {
  const key = format.replaceAll('<uuid>', '<hex:8>-<hex:4>-<hex:4>-<hex:4>-<hex:12>');
  return key.replace(/<([^>]*)>/g, (_, part: string) => {
    const [, set = '', least = '', most = least] = /^([a-z0-9]+):(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (set === '') return random.pick(part.split('|'));
    const length = random.number(Number(least), Number(most));
    const alphabet = alphabets[set];
    if (alphabet === undefined) throw new Error(`unknown set ${set}`);
    const plain = alphabet.replace(/[^A-Za-z0-9]/g, '');
    if (length < 3) return random.text(length, plain);
    return random.text(1, plain) + random.text(length - 2, alphabet) + random.text(1, plain);
  });
}
