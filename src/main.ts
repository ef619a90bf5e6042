import { closeSync, constants, openSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isatty } from 'node:tty';
import type { Io } from './cli/shell/io.ts';
import { exitCodes, GatewayError } from './errors.ts';
import { tryAddressesLonger } from './lib/address-attempts.ts';

const argv = process.argv.slice(2);
/** For output that is still on its way when a command is over. */
const patienceMs = 5_000;
/** How long standard input may hold nothing before that is said. */
const inputMs = 2_000;

tryAddressesLonger();
process.env.HOME ||= homeOfUser();

// Not awaited: the bundle is CommonJS, which starts faster.
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
  const beforeExit = new Set<() => void>();
  const onSignal = (name: 'SIGINT' | 'SIGTERM') => {
    const exit = name === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    if (interrupt.signal.aborted) {
      for (const listener of beforeExit) listener();
      process.exit(exit);
    }
    interrupt.abort(new GatewayError(name === 'SIGINT' ? 'interrupted' : 'terminated', `stopped by ${name}`));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  let isOver = false;
  let isReading = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that left (`| head`) is not a failure.
    if (error.code === 'EPIPE') process.exit(exitCodes.ok);
    const failure = outputFailed(error);
    if (!isOver) return interrupt.abort(failure); // without output, going on would only cost
    void printError(failure, argv, io).then((code) => {
      process.exitCode = code;
    });
  });
  /** Lets the process end, even if the command left something open: a pipe that never ends, a connection to another host. */
  const releaseProcess = (code: number) => {
    if (isReading) process.stdin.destroy();
    // At its exit Node would set a terminal back that is gone, and abort.
    if (isHungUp) process.removeAllListeners('SIGHUP').kill(process.pid, 'SIGHUP');
    setTimeout(() => process.exit(process.exitCode || code), patienceMs).unref();
  };
  process.stderr.on('error', () => undefined);
  const terminals = [process.stdout, process.stderr].filter(({ isTTY }) => isTTY);
  if (terminals.length > 0) {
    const { fitEncoding } = await import('./cli/shell/print/print.ts');
    for (const terminal of terminals) fitEncoding(terminal, process.env);
  }
  /** Whatever reads to an end that doesn't come stops with the command; a prompt at a terminal does so by itself. */
  const stopReading = () => {
    if (process.stdin.isTTY === true) return;
    process.stdin.on('error', () => undefined).destroy(interrupt.signal.reason);
  };
  let isHungUp = false;
  const io: Io = {
    // Opening it takes 2 ms, and few commands read it.
    get stdin() {
      if (!isReading) {
        if (!argv.includes('-q') && !argv.includes('--quiet') && !wantsJson(argv)) noteWaiting();
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
      beforeExit.add(listener);
      return () => beforeExit.delete(listener);
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

/** Says what a command waits for: editors, agents, ssh and git hooks leave standard input open, with nothing in it. */
function noteWaiting(): void {
  const { stdin } = process;
  const timer = setInterval(() => {
    const isRead = stdin.readableFlowing === true || stdin.listenerCount('readable') > 0;
    const isOver = stdin.isTTY === true || stdin.bytesRead > 0 || stdin.readableEnded || stdin.destroyed;
    if (isOver) return clearInterval(timer);
    if (!isRead) return;
    clearInterval(timer);
    process.stderr.write('gateway: waiting for standard input; if there is none, add < /dev/null\n');
  }, inputMs).unref();
}

/** Whether the process has a terminal of its own; SIGHUP may also come from `kill`. */
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
 * libraries call it while they load. Then it is the root directory, as Docker has it.
 */
function homeOfUser(): string {
  try {
    return userInfo().homedir || '/';
  } catch {
    return '/';
  }
}
