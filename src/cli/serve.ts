import { type Command, InvalidArgumentError, Option } from 'commander';
import { type RunningGateway, readRunning, runningFile } from '../client/address.ts';
import { removeState, stateDirectory, writeState } from '../client/state.ts';
import type { Config } from '../config/config.ts';
import { generateKey } from '../config/keys.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { prettyLine } from '../record/pretty.ts';
import { createRecorder, type Recorder } from '../record/recorder.ts';
import { banner } from './banner.ts';
import { type CommonOptions, commonOptions, createCommand } from './command.ts';
import { hasColour, type Io, painter } from './io.ts';
import { startServices } from './services.ts';

interface ServeOptions extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
  readonly log?: 'pretty' | 'json';
  readonly dryRun?: true;
}

export function build(io: Io): Command {
  return createCommand({
    name: 'serve',
    summary: 'start the gateway',
    examples: [
      'gateway serve',
      'gateway serve -c team.yaml -p 8080',
      'gateway serve --log json 2>> gateway.log',
    ],
  })
    .option('-p, --port <port>', 'port to listen on (default: 4100)', portNumber)
    .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
    .addOption(new Option('--log <format>', 'what stderr gets').choices(['pretty', 'json']))
    .option('--dry-run', 'check the configuration, say what would be started, and stop')
    .action(async (_options: unknown, command: Command) => {
      await serve(commonOptions(command) as ServeOptions, io);
    });
}

async function serve(options: ServeOptions, io: Io): Promise<void> {
  const loaded = await load(options, io);
  const localKey = loaded.config.needsLocalKey ? generateKey() : undefined;
  const config =
    localKey === undefined
      ? loaded.config
      : loaded.config.withKey({ id: 'local', project: 'local', value: localKey });
  const port = options.port ?? config.server.port;
  const host = options.host ?? config.server.host;
  const paint = painter(hasColour(io.stderr, io.env) && options.color);
  if (options.dryRun === true) {
    io.stdout.write(banner({ loaded, config, url: `http://${host}:${port}`, paint }));
    return;
  }
  const isPretty = (options.log ?? (io.stderr.isTTY === true ? 'pretty' : 'json')) === 'pretty';
  const recorder = createRecorder({
    file: config.records.file ?? `${stateDirectory(io.env)}/records.jsonl`,
    stderr: io.stderr,
    show:
      isPretty && options.quiet !== true
        ? (record) => void io.stderr.write(prettyLine(record, paint))
        : undefined,
  });
  try {
    await run({ loaded, config, host, port, localKey, isPretty, recorder, options }, io);
  } finally {
    recorder.close();
  }
}

async function load(options: ServeOptions, io: Io): Promise<LoadedConfig> {
  return loadConfig({
    ...(options.config === undefined ? {} : { file: options.config }),
    cwd: io.cwd,
    env: io.env,
    nowMs: Date.now(),
  });
}

interface Running {
  readonly loaded: LoadedConfig;
  readonly config: Config;
  readonly host: string;
  readonly port: number;
  readonly localKey: string | undefined;
  readonly isPretty: boolean;
  readonly recorder: Recorder;
  readonly options: ServeOptions;
}

/** Starts everything, tells where it is, and stops everything when the signal comes. */
async function run(running: Running, io: Io): Promise<void> {
  const { config, host, port, localKey, recorder } = running;
  const services = await startServices({ config, host, port, record: recorder.write });
  try {
    leaveAddress(services.url, config, localKey, io);
    announce(running, services.url, io);
    await stopped(io.signal);
  } finally {
    if (readRunning(io.env)?.pid === process.pid) removeState(io.env, runningFile);
    await services.stop();
  }
}

function announce({ loaded, config, localKey, isPretty, recorder, options }: Running, url: string, io: Io) {
  if (!isPretty) {
    for (const warning of loaded.warnings) recorder.say('warn', warning.message);
    recorder.say('info', 'listening', { url });
  } else if (options.quiet !== true) {
    const paint = painter(hasColour(io.stderr, io.env) && options.color);
    io.stderr.write(banner({ loaded, config, url, key: localKey, paint }));
  }
}

/** For the other commands of the same user, which therefore just work. */
function leaveAddress(url: string, config: Config, localKey: string | undefined, io: Io): void {
  const defaultModel = config.isSandboxMode ? 'sandbox-mini' : undefined;
  const running: RunningGateway = {
    url,
    pid: process.pid,
    ...(localKey === undefined ? {} : { key: localKey }),
    ...(defaultModel === undefined ? {} : { default_model: defaultModel }),
  };
  writeState(io.env, runningFile, running);
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('expected a port from 0 to 65535');
  return port;
}
