import type { Command } from 'commander';
import { GatewayError } from '../../errors.ts';
import { commonOptions, type OutputFormat } from './command.ts';

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
