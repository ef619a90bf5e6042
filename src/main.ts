import { exitCodes, GatewayError } from './errors.ts';

const argv = process.argv.slice(2);

// Not awaited: the bundle is CommonJS, which starts faster.
void runInProcess().then((code) => {
  process.exitCode = code;
});

async function runInProcess(): Promise<number> {
  const { run } = await import('./cli/program.ts');
  const interrupt = new AbortController();
  const onSignal = (name: 'SIGINT' | 'SIGTERM') => {
    const exit = name === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
    if (interrupt.signal.aborted) process.exit(exit);
    interrupt.abort(new GatewayError(name === 'SIGINT' ? 'interrupted' : 'terminated', `stopped by ${name}`));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  // A reader that left (`| head`) is no failure; nobody is there to be told.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? exitCodes.ok : exitCodes.failure),
  );
  process.stderr.on('error', () => undefined);
  return run(argv, {
    // Opening it takes 2 ms, and few commands read it.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal: interrupt.signal,
    onHangup: (listener) => {
      process.on('SIGHUP', listener);
      return () => process.off('SIGHUP', listener);
    },
  });
}
