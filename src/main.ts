import { closeSync, constants, openSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isatty } from 'node:tty';
import type { Io } from './cli/shell/io.ts';
import { exitCodes, GatewayError } from './errors.ts';
import { extendAddressAttemptTimeout } from './lib/address-attempts.ts';

const argv = process.argv.slice(2);
/** How long pending output may take after the command ends. */
const flushTimeoutMs = 5_000;
/** How long standard input may stay empty before a notice is printed. */
const stdinNoticeMs = 2_000;

extendAddressAttemptTimeout();
process.env.HOME ||= homeOfUser();

// No top-level await: the bundle is CommonJS, which starts faster.
void runInProcess().then((code) => {
  process.exitCode = process.exitCode || code;
});

async function runInProcess(): Promise<number> {
  const [{ run }, { printError, wantsJson }, { outputFailed }] = await Promise.all([
    import('./cli/program.ts'),
    import('./cli/shell/terminal.ts'),
    import('./cli/shell/io.ts'),
  ]);
  const interrupt = new AbortController();
  const secondSignalListeners = new Set<() => void>();
  const onSignal = (name: 'SIGINT' | 'SIGTERM') => {
    const exit = name === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    if (interrupt.signal.aborted) {
      for (const listener of secondSignalListeners) listener();
      process.exit(exit);
    }
    interrupt.abort(new GatewayError(name === 'SIGINT' ? 'interrupted' : 'terminated', `stopped by ${name}`));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  let isOver = false;
  let isReading = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that closed the pipe (`| head`) is not a failure.
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    const failure = outputFailed(error);
    if (!isOver) return interrupt.abort(failure); // without output, continuing would only incur cost
    void printError(failure, argv, io).then((code) => {
      process.exitCode = code;
    });
  });
  /** Lets the process end, even if the command left something open: a pipe that never ends, a connection to another host. */
  const releaseProcess = (code: number) => {
    if (isReading) process.stdin.destroy();
    // On exit Node would try to restore the mode of the closed terminal, and abort.
    if (isHungUp) process.removeAllListeners('SIGHUP').kill(process.pid, 'SIGHUP');
    setTimeout(() => process.exit(process.exitCode || code), flushTimeoutMs).unref();
  };
  process.stderr.on('error', () => undefined);
  const terminals = [process.stdout, process.stderr].filter(({ isTTY }) => isTTY);
  if (terminals.length > 0) {
    const { fitEncoding } = await import('./cli/shell/print/print.ts');
    for (const terminal of terminals) fitEncoding(terminal, process.env);
  }
  /** Ends reads of standard input that wait for its end; prompts at a terminal handle the abort themselves. */
  const stopReading = () => {
    if (process.stdin.isTTY === true) return;
    process.stdin.on('error', () => undefined).destroy(interrupt.signal.reason);
  };
  let isHungUp = false;
  const io: Io = {
    // Opened on first use: this takes 2 ms, and few commands read it.
    get stdin() {
      if (!isReading) {
        if (!argv.includes('-q') && !argv.includes('--quiet') && !wantsJson(argv)) warnIfStdinIdle();
        interrupt.signal.addEventListener('abort', stopReading);
      }
      isReading = true;
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal: interrupt.signal,
    onHangup: (listener) => {
      const hadTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor)) && hasTerminal();
      const onHangup = () => {
        if (!hadTerminal || hasTerminal()) return listener();
        isHungUp = true;
        interrupt.abort(new GatewayError('terminated', 'the terminal was closed'));
      };
      process.on('SIGHUP', onHangup);
      return () => process.off('SIGHUP', onHangup);
    },
    onSecondSignal: (listener) => {
      secondSignalListeners.add(listener);
      return () => secondSignalListeners.delete(listener);
    },
    captureSignals: (listener) => {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
      const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
      for (const name of names) process.on(name, listener);
      return () => {
        for (const name of names) process.off(name, listener);
        process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
      };
    },
  };
  const code = await run(argv, io);
  isOver = true;
  releaseProcess(code);
  return code;
}

/** Prints a notice if a command waits for input: editors, agents, ssh and git hooks leave standard input open and empty. */
function warnIfStdinIdle(): void {
  const { stdin } = process;
  const timer = setInterval(() => {
    const isRead = stdin.readableFlowing === true || stdin.listenerCount('readable') > 0;
    const needsNoNotice =
      stdin.isTTY === true || stdin.bytesRead > 0 || stdin.readableEnded || stdin.destroyed;
    if (needsNoNotice) return clearInterval(timer);
    if (!isRead) return;
    clearInterval(timer);
    process.stderr.write('gateway: waiting for standard input; if there is none, add < /dev/null\n');
  }, stdinNoticeMs).unref();
}

/** Whether the process has a controlling terminal; SIGHUP may also come from `kill`. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

/**
 * Without HOME and without an entry in /etc/passwd, as in containers with a numeric user, os.homedir() throws, and
 * libraries call it while they load. In that case the home is the root directory, as in Docker.
 */
function homeOfUser(): string {
  try {
    return userInfo().homedir || '/';
  } catch {
    return '/';
  }
}
