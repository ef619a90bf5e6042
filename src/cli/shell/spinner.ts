import type { CommonOptions } from './command.ts';
import { hasColour, type Io } from './io.ts';

// Most answers are there sooner; then neither the spinner is seen nor its loading paid.
const delayMs = 200;

/** Shows that something is being waited for, on a terminal alone, and only if it takes a while. */
export async function withSpinner<Value>(
  text: string,
  options: CommonOptions,
  io: Io,
  work: () => Promise<Value>,
): Promise<Value> {
  const stop = startSpinner(text, options, io);
  try {
    return await work();
  } finally {
    stop();
  }
}

/** The same from now until the returned function is called, which leaves nothing of it on the screen. */
export function startSpinner(text: string, { quiet, output, color }: CommonOptions, io: Io): () => void {
  const isShown = io.stderr.isTTY === true && quiet !== true && output !== 'json' && output !== 'ndjson';
  if (!isShown) return () => undefined;
  let isDone = false;
  let stop = () => {};
  const timer = setTimeout(async () => {
    const { default: ora } = await import('ora');
    if (isDone) return;
    const paint = color && hasColour(io.stderr, io.env);
    const spinner = ora({ text, stream: io.stderr as NodeJS.WriteStream, discardStdin: false }); // a terminal, see above
    if (!paint) spinner.color = 'white';
    spinner.start();
    stop = () => spinner.stop();
  }, delayMs);
  return () => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    stop();
  };
}
