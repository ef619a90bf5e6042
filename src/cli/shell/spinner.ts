import type { CommonOptions } from './command.ts';
import { hasColour, type Io } from './io.ts';

// Most answers arrive sooner, and then the spinner is neither shown nor loaded.
const delayMs = 200;

/** Shows a spinner, only on a terminal, and only if it takes a while. A text that is a function is asked for counts. */
export async function withSpinner<Value>(
  text: string | (() => string),
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

/** Shows a spinner until the returned function is called, which also removes it from the screen. */
export function startSpinner(
  text: string | (() => string),
  { quiet, output, color }: CommonOptions,
  io: Io,
): () => void {
  // A terminal of width 0 (`script` and CI systems make some) has ora clear endlessly many lines.
  const isTerminal = io.stderr.isTTY === true && io.stderr.columns !== 0;
  const isShown = isTerminal && quiet !== true && output !== 'json' && output !== 'ndjson';
  if (!isShown) return () => undefined;
  let isDone = false;
  let stop = () => {};
  const timer = setTimeout(async () => {
    const { default: ora } = await import('ora');
    if (isDone) return;
    const paint = color && hasColour(io.stderr, io.env);
    const shown = typeof text === 'string' ? () => text : text;
    const spinner = ora({ text: shown(), stream: io.stderr as NodeJS.WriteStream, discardStdin: false }); // a terminal, see above
    if (!paint) spinner.color = false;
    spinner.start();
    const counting = setInterval(() => {
      spinner.text = shown();
    }, delayMs);
    stop = () => {
      clearInterval(counting);
      spinner.stop();
    };
  }, delayMs);
  return () => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    stop();
  };
}
