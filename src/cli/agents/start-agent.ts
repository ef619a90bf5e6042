import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { GatewayError } from '../../errors.ts';
import type { CapturedSignal, Io } from '../shell/io.ts';

interface AgentStart {
  readonly name: string;
  readonly arguments: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How to install it. */
  readonly install: string;
}

/**
 * Starts an agent on this process's own streams and waits for it to exit. Returns its exit code, or 128 plus the number
 * of the signal, as a shell does. Throws agent.missing (127) and agent.failed (126).
 */
export async function startAgent(agent: AgentStart, io: Io): Promise<number> {
  io.signal.throwIfAborted();
  let child: ChildProcess | undefined;
  // Before the start, so that no signal in between can end this process and orphan the agent.
  const release = io.captureSignals((name) => {
    if (!isFromTerminal(name)) child?.kill(name);
  });
  try {
    return await new Promise((resolve, reject) => {
      child = spawn(agent.name, agent.arguments, { stdio: 'inherit', env: agent.env, cwd: io.cwd });
      child.once('error', (cause) => reject(failedStart(agent, cause)));
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
    });
  } finally {
    release();
  }
}

/**
 * The terminal sends Ctrl-C to the agent itself; many programs take a second one as "stop at once". Does not use
 * io.stdin, because opening it would make a pipe non-blocking for the agent.
 */
function isFromTerminal(name: CapturedSignal): boolean {
  return name === 'SIGINT' && isatty(0);
}

function failedStart({ name, install }: AgentStart, cause: Error): GatewayError {
  const { code } = cause as NodeJS.ErrnoException; // what spawn emits
  if (code !== 'ENOENT')
    return new GatewayError('agent.failed', `${name} can't be started: ${cause.message}`, { cause });
  return new GatewayError(
    'agent.missing',
    `${name} is not installed, or not on PATH; to get it: ${install}`,
    {
      cause,
    },
  );
}
