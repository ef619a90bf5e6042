import { parentPort } from 'node:worker_threads';
import jq from 'jq-web';

/** JSON, and what to do with it. */
export interface JqQuestion {
  readonly json: string;
  readonly expression: string;
}

export interface JqResult {
  readonly output: string;
  /** What jq wrote on its standard error. */
  readonly failure?: string;
  readonly exitCode?: number;
}

parentPort?.on('message', async ({ json, expression }: JqQuestion) => {
  const { raw } = await jq;
  let result: JqResult;
  try {
    // Prints nothing if the expression yields nothing.
    result = { output: raw(json, expression, ['-r', '-c']) ?? '' };
  } catch (error) {
    const { stderr, message, exitCode } = error as { stderr?: string; message: string; exitCode?: number };
    result = { output: '', failure: stderr ?? message, ...(exitCode !== undefined && { exitCode }) };
  }
  parentPort?.postMessage(result);
});
