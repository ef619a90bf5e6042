import { type Command, Option } from 'commander';
import { isAlive, type RunningGateway, readRunning, runningFile } from '../client/address.ts';
import { removeState, stateDirectory, writeState } from '../client/state.ts';
import { generateKey } from '../config/build/keys.ts';
import type { Config } from '../config/config.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { watchFile } from '../config/source/watch.ts';
import { toGatewayError } from '../errors.ts';
import type { Recorder } from '../record/recorder.ts';
import { defaultDatabase } from './plants/database.ts';
import { requestLine } from './plants/request-line.ts';
import { banner } from './serve/banner.ts';
import { openRecorder, type Recording } from './serve/server/recording.ts';
import { type PlantsService, type Services, startServices } from './serve/services.ts';
import { describeNews } from './serve/workers/events.ts';
import type { WorkerNews } from './serve/workers/worker.ts';
import {
  type CommonOptions,
  commonOptions,
  createCommand,
  portNumber,
  workerCount,
} from './shell/command.ts';
import { hasColour, type Io, type Paint, painter } from './shell/io.ts';

interface ServeOptions extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
  readonly workers?: number;
  readonly log?: 'pretty' | 'json';
  /** False with --no-watch. */
  readonly watch: boolean;
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
    .option('--workers <n>', 'processes that share the port (default: 1)', workerCount)
    .option('--no-watch', 'reload the configuration on SIGHUP only, not when its file changes')
    .addOption(new Option('--log <format>', 'what stderr gets').choices(['pretty', 'json']))
    .option('--dry-run', 'check the configuration, say what would be started, and stop')
    .action(async (_options: unknown, command: Command) => {
      await serve(commonOptions(command) as ServeOptions, io);
    });
}

/** One run of the command: what it was asked, and what it tells with. */
interface Run {
  readonly options: ServeOptions;
  readonly io: Io;
  readonly isPretty: boolean;
  readonly isColoured: boolean;
  readonly paint: Paint;
  /** The key that was made for this run, in sandbox mode. */
  readonly localKey: string;
}

async function serve(options: ServeOptions, io: Io): Promise<void> {
  const isColoured = hasColour(io.stderr, io.env) && options.color;
  const run: Run = {
    options,
    io,
    isPretty: (options.log ?? (io.stderr.isTTY === true ? 'pretty' : 'json')) === 'pretty',
    isColoured,
    paint: painter(isColoured),
    localKey: generateKey(),
  };
  const loaded = await load(run);
  const { config } = loaded;
  const port = options.port ?? config.server.port;
  const host = options.host ?? config.server.host;
  const count = options.workers ?? config.server.workers;
  if (options.dryRun === true) {
    io.stdout.write(banner({ loaded, url: `http://${host}:${port}`, workers: count, paint: run.paint }));
    return;
  }
  const recording = recordingOf(run, config, count);
  const recorder = openRecorder(recording, io.stderr);
  try {
    const store = {
      defaultDatabase: defaultDatabase(io.env),
      log: storeLog(run, recorder),
      // Its password is shown to a person, and never goes into a log.
      demoUser: config.isSandboxMode && run.isPretty && options.quiet !== true,
    };
    const workers = {
      count,
      recording,
      tell: (news: WorkerNews) => tell(run, recorder, describeNews(news)),
      writeStderr: (text: string) => void io.stderr.write(text),
    };
    const services = await startServices({
      config,
      host,
      port,
      record: recorder.write,
      workers: count > 1 ? workers : undefined,
      store,
    });
    await untilStopped(run, { loaded, recorder, services });
  } finally {
    recorder.close();
  }
}

async function load({
  options,
  io,
  localKey,
}: Pick<Run, 'options' | 'io' | 'localKey'>): Promise<LoadedConfig> {
  const loaded = await loadConfig({ file: options.config, cwd: io.cwd, env: io.env, nowMs: Date.now() });
  if (!loaded.config.needsLocalKey) return loaded;
  return { ...loaded, config: loaded.config.withKey({ id: 'local', project: 'local', value: localKey }) };
}

function recordingOf({ io, isPretty, isColoured, options }: Run, config: Config, workers: number): Recording {
  const exchanges = isPretty ? 'pretty' : 'json';
  return {
    file: config.records.file ?? `${stateDirectory(io.env)}/records.jsonl`,
    shown: options.quiet === true ? 'nothing' : exchanges,
    hasColour: isColoured,
    isShared: workers > 1,
  };
}

function storeLog({ io, isPretty, paint, options }: Run, recorder: Recorder): (record: object) => void {
  if (!isPretty) return (record) => recorder.say('info', 'plants', record);
  return (record) => {
    if (options.quiet !== true) io.stderr.write(requestLine(record, paint));
  };
}

interface Started {
  readonly loaded: LoadedConfig;
  readonly recorder: Recorder;
  readonly services: Services;
}

/** Tells where everything is, follows the configuration's file, and stops everything when the signal comes. */
async function untilStopped(run: Run, { loaded, recorder, services }: Started): Promise<void> {
  const { io, options } = run;
  const reload = () => void reloadConfig(run, recorder, services);
  const { path } = loaded;
  const forget = [
    io.onHangup(reload),
    ...(path !== undefined && options.watch ? [watchFile(path, reload)] : []),
  ];
  const previous = readRunning(io.env);
  try {
    leaveAddress(run, loaded.config, { services, previous });
    announce(run, { loaded, recorder, services });
    await stopped(io.signal);
  } finally {
    for (const end of forget) end();
    if (isLeftHere(io, services)) giveBackAddress(io, previous);
    await services.stop();
  }
}

/** A valid configuration replaces the old one in one step; an invalid one changes nothing and is told loudly. */
async function reloadConfig(run: Run, recorder: Recorder, services: Services): Promise<void> {
  const { io, isPretty, paint } = run;
  try {
    const { config } = await load(run);
    await services.apply(config);
    if (isPretty) io.stderr.write(`${paint('green', 'reloaded')}   the configuration\n`);
    else recorder.say('info', 'configuration reloaded', { config: config.hash });
  } catch (thrown) {
    const { message } = toGatewayError(thrown);
    const told = `the configuration was not reloaded, the old one stays: ${message}`;
    tell(run, recorder, { level: 'error', message: told });
  }
}

function tell(
  { io, isPretty, paint }: Run,
  recorder: Recorder,
  { level, message }: { readonly level: 'info' | 'error'; readonly message: string },
): void {
  if (!isPretty) recorder.say(level, message);
  else io.stderr.write(`${paint(level === 'error' ? 'red' : 'green', message)}\n`);
}

function announce(
  { io, options, isPretty, paint, localKey }: Run,
  { loaded, recorder, services }: Started,
): void {
  const { url, workers, plants } = services;
  if (!isPretty) {
    for (const warning of loaded.warnings) recorder.say('warn', warning.message);
    if (plants !== undefined) recorder.say('problem' in plants ? 'warn' : 'info', 'plants', plants);
    recorder.say('info', 'listening', { url, ...(workers !== undefined && { workers }) });
  } else if (options.quiet !== true) {
    const key = loaded.config.needsLocalKey ? localKey : undefined;
    io.stderr.write(banner({ loaded, url, key, workers: workers?.length, plants, paint }));
  }
}

/** For the other commands of the same user, which therefore just work. */
function leaveAddress(
  { io, localKey }: Run,
  config: Config,
  { services: { url, plants }, previous }: { services: Services; previous: RunningGateway | undefined },
): void {
  const running: RunningGateway = {
    url,
    pid: process.pid,
    ...(config.needsLocalKey ? { key: localKey } : {}),
    ...(config.isSandboxMode ? { default_model: 'sandbox-mini' } : {}),
    ...placeOfPlants(plants, previous),
  };
  writeState(io.env, runningFile, running);
}

/** The store of the gateway that was there first is the same user's; who else has its port nobody knows. */
function placeOfPlants(
  plants: PlantsService | undefined,
  previous: RunningGateway | undefined,
): Pick<RunningGateway, 'plants_url' | 'plants_problem'> {
  if (plants === undefined) return {};
  if ('url' in plants) return { plants_url: plants.url };
  const known = previous !== undefined && isAlive(previous.pid) ? previous.plants_url : undefined;
  return known === undefined ? { plants_problem: plants.problem } : { plants_url: known };
}

function isLeftHere({ env }: Io, { url }: Services): boolean {
  const running = readRunning(env);
  return running?.pid === process.pid && running.url === url;
}

/** A gateway that was there first and still runs is the one that the other commands find again. */
function giveBackAddress({ env }: Io, previous: RunningGateway | undefined): void {
  if (previous !== undefined && isAlive(previous.pid)) writeState(env, runningFile, previous);
  else removeState(env, runningFile);
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
