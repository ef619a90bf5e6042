import { isAlive, readRunning } from '../../client/address.ts';
import { findConfig } from '../../config/source/find.ts';
import { askYes, canAsk } from '../shell/ask.ts';
import { type CommonOptions, programName } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { note } from '../shell/print/print.ts';

/**
 * Before an agent talks to the sandbox although something on this machine could answer: says it, and at a terminal offers to
 * write the file that uses it.
 */
export async function offerConfiguration(options: CommonOptions, io: Io): Promise<void> {
  const { env, cwd } = io;
  if (options.config !== undefined || env.GATEWAY_CONFIG || env.GATEWAY_URL) return;
  const running = readRunning(env);
  const isRunning = running !== undefined && isAlive(running.pid);
  if (isRunning ? running.config?.path !== null : (await findConfig({ cwd, env })) !== undefined) return;
  const { credentialsAtHand } = await import('../init/at-hand.ts');
  const unused = await credentialsAtHand(env);
  if (unused === undefined) return;
  const program = programName(env);
  if (isRunning || !canAsk(options, io)) {
    const restart = isRunning ? `, and ${program} serve again takes it up` : '';
    const text = `gateway: answers are made up: "${program} init" uses ${unused}${restart}\n`;
    if (options.quiet !== true) await note(text, io);
    return;
  }
  const question = `Without a gateway.yaml answers are made up. Write one that uses ${unused}?`;
  if (!(await askYes(question, io))) return;
  const { init } = await import('../init.ts');
  // Its standard output is the agent's, and the next step is that agent.
  await init({ ...options, policy: true, quiet: true }, 'text', { ...io, stdout: io.stderr });
}
