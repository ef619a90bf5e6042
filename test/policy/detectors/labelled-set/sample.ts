import { createRandom, type Random } from './random.ts';

/** A text with a label: what is planted in it, or nothing. */
export interface Sample {
  readonly text: string;
  /** The value that must be found, whole; absent in a negative. */
  readonly planted?: string;
}

export interface LabelledClass {
  readonly positives: readonly Sample[];
  readonly negatives: readonly Sample[];
}

type Make = (random: Random) => string;

/** Draws `count` samples from makers in turn, so that every kind has its share. */
function draw(seed: number, count: number, makers: readonly Make[]): readonly Sample[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const make = makers[index % makers.length];
    if (make === undefined) throw new Error('no makers');
    return { text: make(random) };
  });
}

const neighbours: readonly string[] = [
  '{}',
  '{}\n',
  'first line #n\n{}',
  '{}\nlast line #n',
  'run #n:\n\n{}\n\ndone',
  '> #n\n{}\n',
  'a #h4\n{}\nb #h4\n',
  '```\n{}\n```\nlines: #n',
];

/**
 * The same samples, each once and until there are `count`: those that were drawn before get other
 * neighbouring lines.
 */
export function drawDistinct(seed: number, count: number, makers: readonly Make[]): readonly Sample[] {
  const random = createRandom(seed + 7);
  const seen = new Set<string>();
  for (const { text } of draw(seed, count, makers)) {
    let candidate = text;
    for (let attempt = 0; seen.has(candidate) && attempt < 1000; attempt += 1) {
      candidate = fill(random, random.pick(neighbours), text);
    }
    seen.add(candidate);
  }
  return Array.from(seen, (text) => ({ text }));
}

/** Stands in a drawn value where the part that must be found ends: the host after a password may stay. */
export const endOfPlanted = '\u241f';

/** Plants values that makers draw into carriers in turn. */
export function plant(
  seed: number,
  count: number,
  makers: readonly Make[],
  carriers: readonly string[],
): readonly Sample[] {
  const random = createRandom(seed);
  return draw(seed + 1, count, makers).map(({ text: value }, index) => {
    const carrier = carriers[(index + Math.floor(index / makers.length)) % carriers.length] ?? '{}';
    const [planted = ''] = value.split(endOfPlanted);
    return { text: fill(random, carrier, value.replace(endOfPlanted, '')), planted };
  });
}

/** Replaces `{}` by the value and `#`-words by drawn ones: `#d4` four digits, `#h8` eight hex digits, `#n` a small number. */
export function fill(random: Random, template: string, value = ''): string {
  return template
    .replace(/#d(\d+)/g, (_, length) => random.digits(Number(length)))
    .replace(/#h(\d+)/g, (_, length) => random.hex(Number(length)))
    .replace(/#n/g, () => String(random.number(1, 60)))
    .replaceAll('{}', () => value);
}

/** Makers that fill one template each. */
export function templates(lines: readonly string[]): readonly Make[] {
  return lines.map((line) => (random: Random) => fill(random, line));
}

/** The entries of a table: ` | ` or the end of a line stands between two. */
export function listed(table: string): readonly string[] {
  return table.trim().split(/ \| |\n {2,}/);
}

/** Carriers in which any value may stand, in several languages and kinds of text. */
export const carriers: readonly string[] = [
  '{}',
  'It is {}.',
  'Please use {} for this, and tell me when you are done.',
  '{"value": "{}", "note": null}',
  '"{\\"data\\":\\"{}\\"}"',
  "const value = '{}';",
  'value: {}\nretries: #n\n',
  'id;value;date\n#d4;{};2024-03-#n\n',
  '| name | value |\n|---|---|\n| mine | {} |',
  '<td>{}</td>',
  '    #n\t{}\n    #n\t}\n',
  'VALUE={}\n',
  '[2025-02-03T10:11:12.#d3Z] WARN got "{}" from the form (pid=#d4)',
  'Bitte benutze {} und sag mir Bescheid.',
  "Utilise {}, s'il te plaît.",
  'Usa {} por favor.',
  '次の値を使ってください：{}。',
  '请使用{}，谢谢。',
  'Используйте {}, пожалуйста.',
  'استخدم {} من فضلك',
  '> on Monday she wrote:\n> {}\n\nCan you check this?',
  '- first\n- {}\n- last',
  '# notes\n\n({})',
  '{} ',
  '\n\n{}\n\n',
];
