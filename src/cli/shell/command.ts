import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes, GatewayError } from '../../errors.ts';
import { type DetectorName, detectorNames } from '../../policy/detectors/names.ts';
import type { Io } from './io.ts';

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds of 90m, 24h, 7d or 4w. */
export function durationArgument(text: string): number {
  const [, amount, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined) {
    throw new InvalidArgumentError('expected a duration such as 90m, 24h, 7d or 4w');
  }
  return Number(amount) * unitMs[unit as keyof typeof unitMs]; // the pattern admits no other
}

/** What every command's module exports. */
export interface CommandModule {
  build(io: Io): Command;
}

const outputFormats = ['text', 'json', 'ndjson', 'yaml', 'table'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Options that every command takes, before or after its name. */
export interface CommonOptions {
  readonly config?: string;
  readonly output?: OutputFormat;
  /** A jq expression to apply to the printed JSON. */
  readonly jq?: string;
  /** A Liquid template for it. */
  readonly outputTemplate?: string;
  readonly quiet?: true;
  readonly verbose?: true;
  /** False with --no-color. */
  readonly color: boolean;
  /** False with --no-input: never prompt. */
  readonly input: boolean;
  /** Seconds. */
  readonly timeout?: number;
}

interface Description {
  readonly name: string;
  readonly summary: string;
  /** Three commands that work as shown. */
  readonly examples: readonly [string, string, string];
}

/** A command with the common options and the help's closing part. */
export function createCommand({ name, summary, examples }: Description): Command {
  const command = withCommonOptions(new Command(name).description(summary).summary(summary));
  return withClosingHelp(command, examples);
}

export function withCommonOptions(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (default: gateway.yaml, searched for upwards)')
    .addOption(new Option('-o, --output <format>', 'how to print the result').choices(outputFormats))
    .option('--jq <expression>', 'filter the JSON with jq')
    .option(
      '--output-template <text>',
      'print this Liquid template, filled with the JSON; for a list, each entry',
    )
    .option('-q, --quiet', 'print only the result')
    .option('-v, --verbose', 'show the causes of an error')
    .option('--no-color', 'no colours (also: NO_COLOR)')
    .option('--no-input', 'never prompt; fail instead')
    .option('--timeout <seconds>', 'give up after this long', positiveNumber);
}

/** The common options wherever they were given: before or after the command's name. */
export function commonOptions(command: Command): CommonOptions {
  const chain: Command[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) chain.unshift(at);
  const merged: Record<string, unknown> = {};
  for (const at of chain) {
    for (const [name, value] of Object.entries(at.opts())) {
      const isDefault = at.getOptionValueSource(name) === 'default';
      if (!isDefault || !(name in merged)) merged[name] = value;
    }
  }
  return merged as unknown as CommonOptions; // shaped by withCommonOptions above
}

function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0) || !Number.isFinite(value)) {
    throw new InvalidArgumentError('expected a number above 0');
  }
  return value;
}

export function positiveInteger(text: string): number {
  const value = positiveNumber(text);
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('expected a whole number above 0');
  return value;
}

export function usdArgument(text: string): number {
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected an amount such as 20 or 0.5');
}

export function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('expected a port from 0 to 65535');
  return port;
}

export function workerCount(text: string): number {
  const count = positiveInteger(text);
  if (count > 256) throw new InvalidArgumentError('expected a number from 1 to 256');
  return count;
}

/** Ends a command's help with examples, the options of every command in short, and where the exit codes are. */
export function withClosingHelp(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => `  ${example}`).join('\n');
  return command.addHelpText('after', () => {
    const width = Math.min(command.configureOutput().getOutHelpWidth?.() ?? widestHelp, widestHelp);
    const common =
      command.parent === null ? '' : `\n\nCommon options (gateway --help):\n${commonFlags(width)}`;
    return `\nExamples:\n${lines}${common}\n\nExit codes: gateway help exit-codes`;
  });
}

const widestHelp = 100;

/** Whether every command has the option. */
export function isCommon(option: Option): boolean {
  return commonNames.has(option.attributeName());
}

const common = withCommonOptions(new Command()).options;
const commonNames: ReadonlySet<string> = new Set(common.map((option) => option.attributeName()));

function commonFlags(width: number): string {
  return fill(
    common.map(({ short, long }) => short ?? long ?? ''),
    { separator: ' ', width },
  );
}

/** What every exit code means, as lines of at most this many columns. */
export function exitCodeLines(width: number): string {
  const entries = Object.entries(exitMeanings).map(
    ([name, meaning]) => `${exitCodes[name as keyof typeof exitCodes]} ${meaning}`,
  );
  return fill(entries, { separator: ' · ', width: Math.min(width, widestHelp) });
}

interface Filling {
  readonly separator: string;
  readonly width: number;
}

/** As many on a line as fit, each unbroken. */
function fill(entries: readonly string[], { separator, width }: Filling): string {
  const lines: string[] = [];
  let line = '';
  for (const entry of entries) {
    const longer = line === '' ? `  ${entry}` : `${line}${separator}${entry}`;
    if (line !== '' && longer.length > width) lines.push(line);
    line = line !== '' && longer.length > width ? `  ${entry}` : longer;
  }
  return [...lines, line].join('\n');
}

const exitMeanings = {
  ok: 'success',
  failure: 'failure',
  usage: 'usage or invalid configuration',
  blocked: 'blocked by policy',
  login: 'login or key needed',
  notFound: 'not found',
  limit: 'rate or budget limit',
  provider: 'provider error or time-out',
  unreachable: 'gateway or store unreachable',
  interrupted: 'interrupted',
  terminated: 'terminated',
} as const satisfies Partial<Record<keyof typeof exitCodes, string>>;

/** How this program was started, as a command to type again: npx sets it in the environment. */
export function programName({ npm_command }: Io['env']): string {
  return npm_command === 'exec' ? 'npx gateway' : 'gateway';
}

/** The requested format, by default the command's first. Throws usage.invalid for an unsupported one. */
export function outputFormat<Format extends OutputFormat>(
  command: Command,
  formats: readonly [Format, ...Format[]],
): Format {
  const { output } = commonOptions(command);
  if (output === undefined) return formats[0];
  const format = formats.find((one) => one === output);
  if (format !== undefined) return format;
  const others = formats.slice(0, -1).join(', ');
  const known = others === '' ? formats[0] : `${others} or ${formats.at(-1)}`;
  throw new GatewayError('usage.invalid', `${command.name()} prints ${known}, not ${output}`, {
    param: 'output',
  });
}

/** The value of `--mask`, which may be repeated. */
export function detectorList(text: string, before: readonly DetectorName[] = []): readonly DetectorName[] {
  const names = text.split(',').map((name) => detectorNames.find((known) => known === name.trim()));
  if (!names.includes(undefined)) return [...new Set([...before, ...names.flatMap((name) => name ?? [])])];
  throw new GatewayError(
    'usage.invalid',
    `--mask: expected detectors such as secrets,email; there are ${detectorNames.join(', ')}`,
    { param: 'mask' },
  );
}
