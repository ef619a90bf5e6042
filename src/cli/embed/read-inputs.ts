import { GatewayError } from '../../errors.ts';
import { hasInput, readStandardInput, readTextFile, toText } from '../shell/input.ts';
import type { Io } from '../shell/io.ts';

/** A text to embed and where it came from: `argument 2`, `notes.txt`, `-:17`. */
export interface EmbedInput {
  readonly source: string;
  readonly text: string;
}

interface Given {
  readonly texts: readonly string[];
  readonly files: readonly string[];
  /** Whether each line of a file is an input. */
  readonly byLine: boolean;
}

/** Standard input, then the files, then the arguments. Throws usage.invalid if there is nothing, or nothing in one. */
export async function readInputs({ texts, files, byLine }: Given, io: Io): Promise<readonly EmbedInput[]> {
  const named = [...files, ...texts].filter((one) => one === '-').length;
  if (named > 1)
    throw new GatewayError('usage.invalid', '- is given twice: standard input can be read only once');
  const inputs: EmbedInput[] = [];
  const add = (source: string, text: string) =>
    inputs.push(...(byLine ? linesOf(source, text) : [{ source, text }]));
  const isPiped = named === 0 && hasInput(io);
  if (named === 1 || isPiped) {
    const text = toText(await readStandardInput(io), '');
    // In a loop or under cron, standard input may be empty.
    if (named === 1 || text.trim() !== '') add('-', text);
  }
  for (const file of files) if (file !== '-') add(file, await readTextFile(file, io.cwd));
  const typed = texts.filter((text) => text !== '-');
  for (const [i, text] of typed.entries()) inputs.push({ source: `argument ${i + 1}`, text });
  if (inputs.length === 0) {
    throw new GatewayError(
      'usage.invalid',
      'there is nothing to embed: give texts, files with -f, or pipe text in',
    );
  }
  const empty = inputs.find(({ text }) => text.trim() === '');
  if (empty !== undefined) throw new GatewayError('usage.invalid', `${empty.source} is empty`);
  return inputs;
}

function linesOf(source: string, text: string): EmbedInput[] {
  return text
    .split(/\r?\n/)
    .flatMap((line, i) => (line.trim() === '' ? [] : [{ source: `${source}:${i + 1}`, text: line }]));
}
