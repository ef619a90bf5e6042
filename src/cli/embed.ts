import type { Command } from 'commander';
import type { GatewayAddress } from '../client/call.ts';
import type { Embeddings } from '../client/embeddings.ts';
import { listModels } from '../client/gateway.ts';
import { GatewayError } from '../errors.ts';
import {
  type CommonOptions,
  commonOptions,
  createCommand,
  outputFormat,
  positiveInteger,
} from './shell/command.ts';
import { decodeUtf8, hasInput, readStandardInput, readTextFile } from './shell/input.ts';
import { deadline, type Io } from './shell/io.ts';
import { print, printValue } from './shell/print/print.ts';
import { csv, rowsText } from './shell/print/table.ts';
import { gatewayTarget } from './shell/running-configuration.ts';
import { withSpinner } from './shell/spinner.ts';

interface EmbedOptions extends CommonOptions {
  readonly model?: string;
  readonly file?: readonly string[];
  readonly lines?: true;
  readonly dimensions?: number;
  readonly csv?: true;
}

export function build(io: Io): Command {
  return createCommand({
    name: 'embed',
    summary: 'compute embeddings, one vector for each input',
    examples: [
      'gateway embed -m text-embedding-3-small "hello"',
      'gateway embed --lines -f questions.txt --csv > questions.csv',
      'git log --format=%s -20 | gateway embed --lines -o ndjson',
    ],
  })
    .argument('[texts...]', 'the inputs; - is standard input, which is also read if there are none')
    .option('-m, --model <name>', 'model (default: GATEWAY_MODEL, else the only one for embeddings)')
    .option(
      '-f, --file <file>',
      'a file as an input; may be repeated',
      (file: string, before: readonly string[] = []) => [...before, file],
    )
    .option('--lines', 'treat each line of files and standard input as an input, except blank ones')
    .option('--dimensions <n>', 'length of the vectors, if the model supports it', positiveInteger)
    .option('--csv', 'print comma-separated values: the input, then its numbers')
    .action(async (texts: readonly string[], _options: unknown, command: Command) => {
      outputFormat(command, ['text', 'json', 'ndjson', 'yaml', 'table']);
      await embedTexts(texts, commonOptions(command) as EmbedOptions, io);
    });
}

async function embedTexts(texts: readonly string[], options: EmbedOptions, io: Io): Promise<void> {
  if (options.csv === true && options.output !== undefined) {
    throw new GatewayError('usage.invalid', '--csv and -o exclude each other', { param: 'csv' });
  }
  const signal = deadline(io.signal, options.timeout);
  const inputs = await readInputs({ texts, files: options.file ?? [], byLine: options.lines === true }, io);
  const address = await gatewayTarget(options, io);
  const model = options.model ?? (io.env.GATEWAY_MODEL || (await onlyModel(address, signal)));
  const { embed } = await import('../client/embeddings.ts');
  const request = { model, inputs: inputs.map(({ text }) => text), dimensions: options.dimensions, signal };
  let done = 0;
  const onProgress = (count: number) => {
    done = count;
  };
  const counts = () => (done === 0 ? '' : `: ${done} of ${inputs.length} inputs`);
  const embeddings = await withSpinner(
    () => `waiting for ${model}${counts()}`,
    options,
    io,
    () => embed(address, { ...request, onProgress }),
  );
  await printResult(inputs, embeddings, options, io);
}

/** The only listed model that says in its name that it embeds. Throws usage.invalid if there is none, or several. */
async function onlyModel(address: GatewayAddress, signal: AbortSignal): Promise<string> {
  const ids = (await listModels(address, signal)).map(({ id }) => String(id));
  const [first, ...others] = ids.filter((id) => /embed/i.test(id));
  if (first !== undefined && others.length === 0) return first;
  const served = first === undefined ? '' : `; served are ${[first, ...others].join(', ')}`;
  throw new GatewayError('usage.invalid', `name an embedding model with -m or GATEWAY_MODEL${served}`);
}

async function printResult(
  inputs: readonly EmbedInput[],
  { model, vectors, inputTokens }: Embeddings,
  { csv: isCsv, ...options }: EmbedOptions,
  io: Io,
): Promise<void> {
  const vectorOf = (i: number) => vectors[i] ?? [];
  if (isCsv === true) return print(csv(inputs.map(({ source }, i) => [source, ...vectorOf(i)])), io);
  const entries = inputs.map(({ source }, index) => ({ index, source, embedding: vectorOf(index) }));
  const whole = { model, embeddings: entries, usage: { input_tokens: inputTokens } };
  // Thousands of numbers are for programs; a person only needs to see that they exist.
  const isForPeople = options.output === 'table' || io.stdout.isTTY === true;
  const rows = entries.map(({ source, embedding: all }) => [source, String(all.length), beginning(all)]);
  const text = isForPeople
    ? rowsText(['INPUT', 'DIMENSIONS', 'BEGINS'], rows, options, io)
    : entries.map(({ embedding }) => `${embedding.join(' ')}\n`).join('');
  await printValue(options.output === 'ndjson' ? entries : whole, text, options, io);
}

function beginning(vector: readonly number[]): string {
  const shown = vector.slice(0, 4).map((value) => value.toFixed(4));
  return `${shown.join(' ')}${vector.length > 4 ? ' …' : ''}`;
}

/** A text to embed and where it came from: `argument 2`, `notes.txt`, `-:17`. */
interface EmbedInput {
  readonly source: string;
  readonly text: string;
}

interface Given {
  readonly texts: readonly string[];
  readonly files: readonly string[];
  /** Whether each line of a file is an input. */
  readonly byLine: boolean;
}

/** Standard input, if it is named or there is nothing else, then the files, then the arguments. Throws usage.invalid if there is nothing, or nothing in one. */
async function readInputs({ texts, files, byLine }: Given, io: Io): Promise<readonly EmbedInput[]> {
  const named = [...files, ...texts].filter((one) => one === '-').length;
  if (named > 1)
    throw new GatewayError('usage.invalid', '- is given twice: standard input can be read only once');
  const inputs: EmbedInput[] = [];
  const add = (source: string, text: string) =>
    inputs.push(...(byLine ? linesOf(source, text) : [{ source, text }]));
  // Beside other inputs it is read only if it is named: whoever started this may never close it.
  const isPiped = named === 0 && texts.length + files.length === 0 && hasInput(io);
  if (named === 1 || isPiped) {
    const text = decodeUtf8(await readStandardInput(io), '');
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
