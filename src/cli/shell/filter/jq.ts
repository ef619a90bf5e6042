import { Worker } from 'node:worker_threads';
import { GatewayError } from '../../../errors.ts';
import type { JqQuestion, JqResult } from './jq-thread.ts';

const entry = import.meta.url.endsWith('.ts') ? '../../../../dist/jq-thread.js' : './jq-thread.js';
/** jq's own exit code for an expression that it does not understand. */
const notUnderstood = 3;

/**
 * jq itself, in WebAssembly. In a separate thread, because an expression may run forever and Ctrl-C must end it.
 * Throws usage.invalid for an expression that is wrong.
 */
export async function jqTransform(expression: string, signal: AbortSignal) {
  const thread = new Worker(new URL(entry, import.meta.url));
  const ask = (question: JqQuestion) => answerOf(thread, question, signal);
  const transform = {
    apply: async (json: string) => {
      const output = await ask({ json, expression });
      return output === '' ? '' : `${output}\n`;
    },
    close: async () => {
      await thread.terminate();
    },
  };
  try {
    // Compiles without running; the line end terminates a trailing comment.
    await ask({ json: 'null', expression: `empty | (${expression}\n)` });
    return transform;
  } catch (error) {
    await transform.close();
    throw error;
  }
}

function answerOf(thread: Worker, question: JqQuestion, signal: AbortSignal): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    thread.once('error', reject);
    thread.once('message', ({ output, failure, exitCode }: JqResult) => {
      signal.removeEventListener('abort', stop);
      thread.off('error', reject);
      if (failure === undefined) return resolve(output);
      const code = exitCode === notUnderstood ? 'usage.invalid' : 'output.failed';
      reject(new GatewayError(code, `--jq: ${reasonOf(failure)}`, { param: 'jq' }));
    });
    thread.postMessage(question);
  });
}

/** jq's first message, without the expression that it repeats. */
function reasonOf(failure: string): string {
  const [line = ''] = failure.split('\n');
  return line
    .replace(/^jq: error(?: \(at [^)]*\))?: /, '')
    .replace(/ \(Unix shell quoting issues\?\)/, '')
    .replace(/ at <top-level>, line \d+:?$/, '');
}
