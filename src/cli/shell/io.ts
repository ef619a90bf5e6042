import type { Readable, Writable } from 'node:stream';
import { GatewayError } from '../../errors.ts';

type Input = Readable & { readonly isTTY?: boolean; setRawMode?(mode: boolean): unknown };
type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };

export type CapturedSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Everything of its process that a command may use. Tests pass captured streams and their own environment. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Fires on SIGINT and SIGTERM; its reason is a GatewayError with the exit code of the signal. */
  readonly signal: AbortSignal;
  /** Calls back on every SIGHUP, which otherwise ends the process; returns the function that ends it. */
  readonly onHangup: (listener: () => void) => () => void;
  /** Calls back when a second SIGINT or SIGTERM ends the process at once; returns the function that ends it. */
  readonly onSecondSignal: (listener: () => void) => () => void;
  /**
   * From now on SIGINT, SIGTERM and SIGHUP call the listener and nothing else: for a command that has another
   * program decide what they mean. Returns the function that ends it.
   */
  readonly captureSignals: (listener: (name: CapturedSignal) => void) => () => void;
}

/**
 * Whether a stream shows colours: NO_COLOR overrides FORCE_COLOR, which overrides the check for a terminal
 * (no-color.org).
 */
export function hasColour(stream: Output, env: Io['env']): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  const forced = env.FORCE_COLOR ?? '';
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** Writes and waits until the stream has accepted it, so that no output is lost at exit. Throws output.failed. */
export function write(stream: Output, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(outputFailed(error)) : resolve()));
  });
}

/** Why output could not be written. A closed pipe (EPIPE) is not a failure: that error is returned as it is. */
export function outputFailed(error: Error): Error {
  const { code } = error as NodeJS.ErrnoException; // absent unless it is a system error
  if (code === 'EPIPE' || code === undefined) return error;
  const reason = code === 'ENOSPC' ? 'no space is left (ENOSPC)' : error.message;
  return new GatewayError('output.failed', `the output could not be written: ${reason}`, { cause: error });
}

/** The command's signal with its --timeout, in seconds, added. */
export function deadline(signal: AbortSignal, timeoutS: number | undefined): AbortSignal {
  if (timeoutS === undefined) return signal;
  const late = new AbortController();
  const error = new GatewayError('provider.timeout', `no answer within ${timeoutS} s`);
  setTimeout(() => late.abort(error), timeoutS * 1_000).unref();
  return AbortSignal.any([signal, late.signal]);
}
