import type { Command } from 'commander';
import { GatewayError } from '../errors.ts';
import { painter } from '../lib/paint.ts';
import type { Diagnosis } from './doctor/finding.ts';
import { type CommonOptions, commonOptions, createCommand, outputFormat } from './shell/command.ts';
import { hasColour, type Io, write } from './shell/io.ts';
import { formatted, isForPrograms, print, printable } from './shell/print/print.ts';
import { rowsText } from './shell/print/table.ts';
import { wrapped } from './shell/print/wrapped.ts';
import { withSpinner } from './shell/spinner.ts';

export function build(io: Io): Command {
  return createCommand({
    name: 'doctor',
    summary: 'check configuration, keys, providers, ports, proxies and agents; exit 1 for an error',
    examples: [
      'gateway doctor',
      'gateway doctor -c staging.yaml --timeout 3',
      'gateway doctor -o json | jq \'.findings[] | select(.status != "ok")\'',
    ],
  }).action(async (_options: unknown, command: Command) => {
    const format = outputFormat(command, ['text', 'json', 'ndjson', 'yaml', 'table']);
    const options = commonOptions(command);
    // Loaded on demand: it pulls in everything that is needed to reach a provider.
    const { examine } = await import('./doctor/examine.ts');
    const findings = await withSpinner('checking', options, io, () => examine(options, io));
    const errors = findings.filter(({ status }) => status === 'error').length;
    if (isForPrograms(format)) {
      const whole = { ok: errors === 0, findings };
      await print(await formatted(format === 'ndjson' ? findings : whole, format), io);
    } else await write(io.stdout, await asText(findings, format, options, io));
    if (errors > 0)
      throw new GatewayError(
        'doctor.errors',
        errors === 1 ? 'an error was found' : `${errors} errors were found`,
      );
  });
}

const marks = { ok: '✓', warning: '!', error: '✗' } as const;
const colours = { ok: 'green', warning: 'yellow', error: 'red' } as const;

async function asText(
  findings: readonly Diagnosis[],
  format: 'text' | 'table',
  options: CommonOptions,
  io: Io,
): Promise<string> {
  if (format === 'table' || io.stdout.isTTY !== true) {
    const rows = findings.map(({ status, subject, message, remedy = '' }) => [
      status,
      subject,
      message,
      remedy,
    ]);
    return rowsText(['STATUS', 'SUBJECT', 'FINDING', 'REMEDY'], rows, options, io);
  }
  const paint = painter(options.color && hasColour(io.stdout, io.env));
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const columns = io.stdout.columns || Number.POSITIVE_INFINITY;
  // On a narrow terminal a message starts below its subject.
  const isNarrow = columns < width + minMessageWidth;
  const indentation = ' '.repeat(isNarrow ? 2 : width + 4);
  const below = async (text: string) =>
    (await wrapped(text, { isTTY: true, columns: columns - indentation.length })).replaceAll(
      /^/gm,
      indentation,
    );
  const lines = findings.map(async ({ status, subject, message, remedy }) => {
    const name = printable(subject, {});
    const head = `${paint(colours[status], marks[status])} ${name}`;
    const text = await below(printable(message, {}));
    const first = isNarrow ? `${head}\n${text}` : `${head}${text.slice(name.length + 2)}`;
    return remedy === undefined ? `${first}\n` : `${first}\n${await below(`→ ${printable(remedy, {})}`)}\n`;
  });
  return (await Promise.all(lines)).join('');
}

/** Columns that a message needs next to its subject. */
const minMessageWidth = 34;
