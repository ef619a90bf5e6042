import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isAlive, readRunning } from '../../client/address.ts';
import { ensureStateDirectory } from '../../client/state.ts';
import { namedPath } from '../../config/source/find.ts';
import { GatewayError } from '../../errors.ts';
import { heapFlags } from '../../server/workers/spawn-worker.ts';
import { canAsk } from '../shell/ask.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { loadUserConfig } from '../shell/load-config.ts';
import { detachedLog } from './address-file.ts';
import { printRunning } from './running.ts';

interface DetachOptions extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
  readonly plantsPort?: number;
  readonly workers?: number;
  readonly log?: 'pretty' | 'json';
  readonly watch: boolean;
}

const entry = import.meta.url.endsWith('.ts') ? '../../../bin/gateway.js' : '../bin/gateway.js';
const pollMs = 30;
const startSeconds = 60;

/** Starts a gateway in the background and returns when it is ready. Throws what keeps it from starting. */
export async function serveDetached(options: DetachOptions, io: Io): Promise<void> {
  try {
    await startDetached(options, io);
  } catch (error) {
    const isUntrusted = error instanceof GatewayError && error.code === 'config.untrusted';
    if (!isUntrusted || !canAsk(options, io)) throw error;
    // The gateway has no terminal of its own to ask at.
    await loadUserConfig(options, io);
    await startDetached(options, io);
  }
}

async function startDetached(options: DetachOptions, io: Io): Promise<void> {
  const log = join(ensureStateDirectory(io.env), 'serve.log');
  const descriptor = openSync(log, 'a', 0o600);
  const begin = fstatSync(descriptor).size;
  const child = spawn(
    process.execPath,
    [...heapFlags(io.env), fileURLToPath(new URL(entry, import.meta.url)), ...argumentsOf(options, io)],
    {
      cwd: io.cwd,
      env: { ...io.env, [detachedLog]: log },
      detached: true,
      stdio: ['ignore', 'ignore', descriptor],
    },
  );
  closeSync(descriptor);
  child.on('error', () => undefined); // then it has no pid
  const { pid } = child;
  if (pid === undefined) throw new GatewayError('gateway.internal', 'the gateway could not be started');
  let hasEnded = false;
  child.once('exit', () => {
    hasEnded = true;
  });
  const deadlineMs = performance.now() + (options.timeout ?? startSeconds) * 1_000;
  while (readRunning(io.env)?.pid !== pid) {
    if (hasEnded || !isAlive(pid)) throw failedStart(log, begin);
    if (io.signal.aborted || performance.now() > deadlineMs) {
      child.kill('SIGKILL');
      io.signal.throwIfAborted();
      throw new GatewayError('gateway.unreachable', `the gateway was not ready in time; its log is ${log}`);
    }
    await setTimeout(pollMs);
  }
  try {
    await printRunning(io, options);
  } catch (error) {
    child.kill(); // one that can't be called is not left behind
    throw error;
  }
  child.unref();
}

function argumentsOf(options: DetachOptions, io: Io): string[] {
  const { config, port, plantsPort, host, workers, log = 'json', watch, quiet } = options;
  return [
    ...['serve', '--log', log],
    ...(config === undefined ? [] : ['-c', namedPath(config, io)]),
    ...(port === undefined ? [] : ['-p', String(port)]),
    ...(plantsPort === undefined ? [] : ['--plants-port', String(plantsPort)]),
    ...(host === undefined ? [] : ['--host', host]),
    ...(workers === undefined ? [] : ['--workers', String(workers)]),
    ...(watch ? [] : ['--no-watch']),
    ...(quiet === true ? ['-q'] : []),
  ];
}

/** What the gateway printed before it ended, without the records around it; its output begins there in the log. */
function failedStart(log: string, begin: number): GatewayError {
  const output = readFileSync(log)
    .subarray(begin)
    .toString()
    .split('\n')
    .filter((line) => !line.startsWith('{'))
    .join('\n')
    .trim()
    .replace(/^gateway: /gm, '');
  const message = `${output === '' ? 'the gateway ended while starting' : output}\nits log is ${log}`;
  if (/wants what nobody has allowed/.test(output)) return new GatewayError('config.untrusted', message);
  if (/ problems? in /.test(output)) return new GatewayError('config.invalid', message);
  if (/^a gateway is already running/m.test(output)) return new GatewayError('port.busy', output);
  if (/^port \d+ .*is taken/m.test(output)) return new GatewayError('port.busy', message);
  return new GatewayError('gateway.internal', message, { cause: 'the log may say more' });
}
