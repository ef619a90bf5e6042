import type { CommonOptions } from './command.ts';
import { hasColour, type Io } from './io.ts';

// Most answers are there sooner; then neither the spinner is seen nor its loading paid.
const delayMs = 200;

/** Shows that something is being waited for, on a terminal alone, and only if it takes a while. */
export async function withSpinner<Value>(
  text: string,
  { quiet, output, color }: CommonOptions,
  io: Io,
  work: () => Promise<Value>,
): Promise<Value> {
  const isShown = io.stderr.isTTY === true && quiet !== true && output !== 'json' && output !== 'ndjson';
  if (!isShown) return work();
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
  try {
    return await work();
  } finally {
    isDone = true;
    clearTimeout(timer);
    stop();
  }
}
