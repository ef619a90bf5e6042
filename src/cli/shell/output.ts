import { GatewayError } from '../../errors.ts';
import type { OutputFormat } from './command.ts';
import type { Io } from './io.ts';
import { print } from './print/print.ts';

/** Prints a value in a format for programs. A list is one line per entry in ndjson, otherwise one document. */
export async function printValue(value: unknown, format: OutputFormat | undefined, io: Io): Promise<void> {
  switch (format) {
    case 'json':
      return print(`${JSON.stringify(value)}\n`, io);
    case 'ndjson': {
      const lines = Array.isArray(value) ? value : [value];
      return print(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), io);
    }
    case 'yaml': {
      const { stringify } = await import('yaml');
      return print(stringify(value), io);
    }
    default:
      throw new GatewayError(
        'usage.invalid',
        `-o ${format} is not supported by this command; use text, json, ndjson or yaml`,
      );
  }
}

/** The command's signal with its --timeout, in seconds, added. */
export function deadline(signal: AbortSignal, timeoutS: number | undefined): AbortSignal {
  if (timeoutS === undefined) return signal;
  const late = new AbortController();
  const error = new GatewayError('provider.timeout', `no answer within ${timeoutS} s`);
  setTimeout(() => late.abort(error), timeoutS * 1_000).unref();
  return AbortSignal.any([signal, late.signal]);
}
