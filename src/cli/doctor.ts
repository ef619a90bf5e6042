import type { Command } from 'commander';
import { GatewayError } from '../errors.ts';
import type { Finding } from './doctor/finding.ts';
import { type CommonOptions, commonOptions, createCommand } from './shell/command.ts';
import { hasColour, type Io, painter, write } from './shell/io.ts';
import { printValue } from './shell/output.ts';
import { outputFormat } from './shell/output-format.ts';
import { withSpinner } from './shell/spinner.ts';
import { table } from './shell/table.ts';

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
    if (format === 'ndjson') await printValue(findings, format, io);
    else if (format === 'json' || format === 'yaml')
      await printValue({ ok: errors === 0, findings }, format, io);
    else await write(io.stdout, asText(findings, format, options, io));
    if (errors > 0)
      throw new GatewayError(
        'doctor.errors',
        errors === 1 ? 'an error was found' : `${errors} errors were found`,
      );
  });
}

const marks = { ok: '✓', warning: '!', error: '✗' } as const;
const colours = { ok: 'green', warning: 'yellow', error: 'red' } as const;

function asText(
  findings: readonly Finding[],
  format: 'text' | 'table',
  { color }: CommonOptions,
  io: Io,
): string {
  if (format === 'table' || io.stdout.isTTY !== true) {
    const rows = findings.map(({ status, subject, message, remedy = '' }) => [
      status,
      subject,
      message,
      remedy,
    ]);
    return table(['STATUS', 'SUBJECT', 'FINDING', 'REMEDY'], rows, format === 'table', {
      columns: io.stdout.columns,
    });
  }
  const paint = painter(color && hasColour(io.stdout, io.env));
  const width = Math.max(...findings.map(({ subject }) => subject.length));
  const lines = findings.flatMap(({ status, subject, message, remedy }) => [
    `${paint(colours[status], marks[status])} ${subject.padEnd(width)}  ${message}`,
    ...(remedy === undefined ? [] : [`  ${' '.repeat(width)}  → ${remedy}`]),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}
