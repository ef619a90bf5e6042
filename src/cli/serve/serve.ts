import { randomBytes } from 'node:crypto';
import { isAlive, readRunning } from '../../client/address.ts';
import { stateDirectory } from '../../client/state.ts';
import { generateKey } from '../../config/build/keys.ts';
import { servesInspector } from '../../config/build/sections.ts';
import type { Config } from '../../config/config.ts';
import type { LoadedConfig, LoadOptions } from '../../config/load.ts';
import { userFiles } from '../../config/source/find.ts';
import type { WantedLogin } from '../../config/source/logins.ts';
import { describeProblem } from '../../config/source/problems.ts';
import { watchFile } from '../../config/source/watch.ts';
import type { Consent } from '../../config/trust/wants.ts';
import { GatewayError } from '../../errors.ts';
import { urlOf } from '../../http/bind.ts';
import { parserProblem } from '../../http/strict-head.ts';
import type { OwnerProof } from '../../lib/owner-proof.ts';
import { type Paint, painter } from '../../lib/paint.ts';
import type { Recorder } from '../../record/recorder.ts';
import { claimLedger } from '../../server/ledger-path.ts';
import { fittingWorkers } from '../../server/memory-share.ts';
import { createServeLog, openRecorder, type Recording, type ServeLog } from '../../server/recording.ts';
import { createReloader } from '../../server/reload.ts';
import { type Services, startServices } from '../../server/services.ts';
import { tracingProblem, tracingSettings } from '../../server/telemetry.ts';
import { defaultDatabase, requestLine } from '../plants/store.ts';
import { type CommonOptions, programName } from '../shell/command.ts';
import { hasColour, type Io } from '../shell/io.ts';
import { loadUserConfig, storedConsent } from '../shell/load-config.ts';
import { wrapping } from '../shell/print/wrapped.ts';
import { type AddressFile, noAddressFile, openAddressFile } from './address-file.ts';
import { banner, madeUp, toOwnPolicies } from './banner.ts';
import { serveDetached } from './detach.ts';
import { drainLogged } from './drain-log.ts';
import { acceptedLocalKey, localKey, localKeyFile, withMaskSecret } from './kept-secrets.ts';

export interface ServeOptions extends CommonOptions {
  readonly port?: number;
  readonly host?: string;
  readonly workers?: number;
  readonly plantsPort?: number;
  readonly log?: 'pretty' | 'json';
  /** False with --no-watch. */
  readonly watch: boolean;
  readonly dryRun?: true;
  readonly detach?: true;
  /** Detectors whose findings are masked in addition to the file's rules. */
  readonly mask?: LoadOptions['mask'];
}

/** One run of the command: its options, and where its output goes. */
interface ServeRun {
  readonly options: ServeOptions;
  readonly io: Io;
  readonly isPretty: boolean;
  /** Standard error; of a terminal, with lines that end between words. */
  readonly stderr: { write(text: string): unknown };
  readonly isColoured: boolean;
  readonly paint: Paint;
  /** For the project `local`, where no projects are configured. */
  readonly localKey: string;
  /** Proves to the other commands of this user that this is their gateway. */
  readonly ownerProof: OwnerProof;
  /** The key of this user's own commands, if the configuration accepts one. */
  readonly ownKey: (config: Config) => string | undefined;
  readonly onReady: ServeHooks['onReady'];
  readonly login: ServeHooks['login'];
}

export interface Ready {
  readonly url: string;
  /** The key of this user's own commands, if the configuration accepts one. */
  readonly ownKey: string | undefined;
  /** With it look-ups of this process are not recorded. */
  readonly ownerProof: OwnerProof;
  readonly loaded: LoadedConfig;
}

/** For a gateway that serves one other command of the same process and must not be found by any other. */
interface ServeHooks {
  /** The login of the command's agent, to use where no key is configured. */
  readonly login?: WantedLogin | undefined;
  /** Who allows what a configuration wants that was found; by default whoever is at this command's terminal. */
  readonly consent?: Consent | undefined;
  readonly onReady?: ((ready: Ready) => void) | undefined;
}

/** Serves until the signal comes. */
export async function serve(
  options: ServeOptions,
  io: Io,
  { onReady, login, consent }: ServeHooks = {},
): Promise<void> {
  if (options.detach === true && options.dryRun !== true) return serveDetached(options, io);
  const isColoured = hasColour(io.stderr, io.env) && options.color;
  // An agent with a login of its own also sends its headers, with the key, to its vendor: that key must end with it.
  const made = login === undefined ? localKey.readOrMake(io.env) : generateKey();
  const isPretty = (options.log ?? (io.stderr.isTTY === true ? 'pretty' : 'json')) === 'pretty';
  const run: ServeRun = {
    options,
    io,
    isPretty,
    stderr: isPretty ? await wrapping(io.stderr) : io.stderr,
    isColoured,
    paint: painter(isColoured),
    localKey: made,
    ownKey: (config) => {
      if (config.needsLocalKey) return made;
      return login === undefined ? acceptedLocalKey(config, io.env) : undefined;
    },
    ownerProof: { challenge: randomBytes(32).toString('hex'), answer: randomBytes(32).toString('hex') },
    onReady,
    login,
  };
  const loaded = await load(run, consent && { consent });
  const { config } = loaded;
  if (options.plantsPort !== undefined && !config.plants.store.enabled) {
    throw new GatewayError('usage.invalid', '--plants-port: the plant store is off (plants.store.enabled)');
  }
  const port = options.port ?? config.server.port;
  const host = options.host ?? config.server.host;
  const wanted = options.workers ?? config.server.workers;
  const count = fittingWorkers(wanted);
  if (options.dryRun === true) {
    const parts = { loaded, url: urlOf({ host, port }), host, workers: count, paint: run.paint };
    const hasPage = servesInspector(config.inspector, host) && count === 1;
    const hasKey = canSend(run, config);
    io.stdout.write(banner({ ...parts, hasPage, hasKey, program: programName(io.env) }));
    return;
  }
  const unused = onReady === undefined ? unusedCredentials(loaded, options, io) : undefined;
  const recording = recordingOf(run, config, count);
  const recorder = openRecorder(recording, run.stderr);
  const log = createServeLog({ ...run, recorder, isQuiet: options.quiet === true });
  for (const problem of [tracingProblem(io.env), parserProblem(), memoryProblem(wanted, count)]) {
    if (problem !== undefined) log('warn', problem);
  }
  try {
    const store = {
      port: options.plantsPort,
      defaultDatabase: defaultDatabase(io.env),
      log: storeLog(run, recorder),
      env: io.env,
      // Its password is shown to a person, and never goes into a log.
      demoUser: config.isSandboxMode && run.isPretty && options.quiet !== true,
    };
    const workers = {
      count,
      recording,
      writeStderr: (text: string) => void run.stderr.write(text),
      env: io.env,
    };
    const services = await startServices({
      config,
      host,
      port,
      record: recorder.write,
      ledger: claimLedger(loaded, io),
      tracing: tracingSettings(io.env),
      log,
      workers: count > 1 ? workers : undefined,
      store: onReady === undefined ? store : undefined,
      ownerProof: run.ownerProof,
      // Nobody could open the page of a gateway that the other commands don't find.
      inspector:
        onReady === undefined
          ? { configPath: loaded.path, userPath: loaded.user?.path, recordsFile: recording.file }
          : undefined,
    }).catch((error: unknown) => {
      throw alreadyRunning(error, port, io);
    });
    await untilStopped(run, { loaded, recorder, log, services, unused: await unused });
  } finally {
    recorder.close();
  }
}

/** The error, in other words if the port is taken by another gateway of this user. */
function alreadyRunning(error: unknown, port: number, { env }: Io): unknown {
  const running = readRunning(env);
  const isBusy = error instanceof GatewayError && error.code === 'port.busy';
  if (!isBusy || running === undefined || Number(new URL(running.url).port) !== port) return error;
  if (!isAlive(running.pid)) return error;
  const message = `a gateway is already running at ${running.url}; "gateway stop" ends it, -p starts another`;
  return new GatewayError('port.busy', message, { cause: error });
}

async function load(
  { io, options, localKey, login }: ServeRun,
  more: Partial<LoadOptions> | undefined,
): Promise<LoadedConfig> {
  const { mask } = options;
  const loaded = await loadUserConfig(options, io, { ...more, login, mask });
  const config = withMaskSecret(loaded.config, io.env);
  if (!config.needsLocalKey) return { ...loaded, config };
  return { ...loaded, config: config.withKey({ id: 'local', project: 'local', value: localKey }) };
}

/** Undefined if all wanted workers have room. */
function memoryProblem(wanted: number, count: number): string | undefined {
  if (count === wanted) return undefined;
  const [few, many] = [
    count === 1 ? '1 process serves' : `${count} workers serve`,
    `server.workers: ${wanted}`,
  ];
  return `${few} in place of ${many}, for which there is too little memory`;
}

function recordingOf(
  { io, isPretty, isColoured, options }: ServeRun,
  config: Config,
  workers: number,
): Recording {
  const exchanges = isPretty ? 'pretty' : 'json';
  return {
    file: config.records.file ?? `${stateDirectory(io.env)}/records.jsonl`,
    days: config.records.days,
    shown: options.quiet === true ? 'nothing' : exchanges,
    hasColour: isColoured,
    isShared: workers > 1,
  };
}

function storeLog(
  { stderr, isPretty, paint, options }: ServeRun,
  recorder: Recorder,
): (record: object) => void {
  if (!isPretty) return (record) => recorder.log('cause' in record ? 'error' : 'info', 'plants', record);
  return (record) => {
    if (options.quiet !== true) stderr.write(requestLine(record, paint));
  };
}

interface Started {
  readonly loaded: LoadedConfig;
  readonly recorder: Recorder;
  readonly log: ServeLog;
  readonly services: Services;
  /** What a file would use, which the sandbox doesn't. */
  readonly unused: string | undefined;
}

/** Prints where everything is, follows the configuration's file, and stops everything when the signal comes. */
async function untilStopped(run: ServeRun, started: Started): Promise<void> {
  const { io } = run;
  const { loaded, log, services } = started;
  const isFound = run.onReady === undefined;
  const addressFile = isFound ? openAddressFile(io, { ...run, services, since: new Date() }) : noAddressFile;
  const stopFollowing = follow(run, started, addressFile);
  try {
    addressFile.write(loaded);
    services.announce();
    announce(run, started);
    const { ownerProof } = run;
    run.onReady?.({ url: services.url, ownKey: run.ownKey(loaded.config), ownerProof, loaded });
    await stopped(io.signal);
  } finally {
    stopFollowing();
    try {
      addressFile.remove();
    } finally {
      const { drainMs } = loaded.config.server.limits;
      await drainLogged({ services, drainMs, log, onSecondSignal: io.onSecondSignal });
    }
  }
}

/** Reloads when the file changes and on SIGHUP. Returns the function that ends it. */
function follow(run: ServeRun, { loaded, log, services }: Started, addressFile: AddressFile): () => void {
  const { io, options } = run;
  const { path } = loaded;
  // The user's own file may be made, or made again, while the gateway runs.
  const followed = path === undefined ? [] : [...new Set([path, ...userFiles(io.env)])];
  let hadKey = run.ownKey(loaded.config) !== undefined;
  const reloader = createReloader({
    started: loaded,
    // Nobody waits for a question: what the file wants in addition must be allowed beforehand.
    load: () => load(run, { found: loaded.found, mustBeFile: true, consent: storedConsent(io) }),
    prepare: services.prepare,
    onReloaded: (next) => {
      addressFile.write(next);
      const hasKey = run.ownKey(next.config) !== undefined;
      if (hadKey && !hasKey && !canSend(run, next.config)) log('warn', lockedOut(programName(io.env)));
      hadKey = hasKey;
    },
    onRefused: addressFile.noteRefused,
    log,
    overridden: (['host', 'port', 'workers'] as const)
      .filter((name) => options[name] !== undefined)
      .map((name) => `server.${name}`),
  });
  const ends = [
    reloader.stop,
    io.onHangup(reloader.reload),
    ...(options.watch ? followed.map((file) => watchFile(file, reloader.reload)) : []),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** The local key was valid while no projects were configured, and is so no longer. */
function lockedOut(program: string): string {
  return `the local key is in no project, so it is no longer valid: this user's commands need GATEWAY_KEY, or "${program} key new --local --write"`;
}

/** Whether `send` finds a key that is valid. */
function canSend({ io, ownKey }: ServeRun, config: Config): boolean {
  const { GATEWAY_KEY: given } = io.env;
  return given ? config.keys.find(given) !== undefined : ownKey(config) !== undefined;
}

/** What would answer if there were a file: looked up meanwhile, so that the start does not wait for it. */
async function unusedCredentials(
  { config, path }: LoadedConfig,
  { quiet }: ServeOptions,
  io: Io,
): Promise<string | undefined> {
  if (path !== undefined || !config.isSandboxMode || quiet === true) return undefined;
  const { credentialsAtHand } = await import('../init/at-hand.ts');
  return credentialsAtHand(io.env);
}

function announce(run: ServeRun, started: Started): void {
  const { io, stderr, options, isPretty, paint, localKey } = run;
  const { loaded, recorder, services, unused } = started;
  const { url, host, workers, plants, metricsUrl } = services;
  if (!isPretty) {
    for (const warning of loaded.warnings) recorder.log('warn', describeProblem(warning));
    if (plants !== undefined) recorder.log('problem' in plants ? 'warn' : 'info', 'plants', plants);
    if (unused !== undefined) recorder.log('warn', madeUp(unused, programName(io.env)));
    if (loaded.config.needsLocalKey) recorder.log('info', 'local key', { file: localKeyFile(io.env) });
    recorder.log('info', 'listening', {
      url,
      host,
      config: loaded.path ?? null,
      ...(loaded.user !== undefined && { own_policies: toOwnPolicies(loaded.user) }),
      ...(workers !== undefined && { workers }),
      ...(metricsUrl !== undefined && { metrics: `${metricsUrl}/metrics` }),
    });
  } else if (options.quiet !== true) {
    const key = loaded.config.needsLocalKey ? localKey : undefined;
    const hasPage = servesInspector(loaded.config.inspector, host) && (workers?.length ?? 1) === 1;
    const parts = { loaded, url, host, key, workers: workers?.length, plants, metricsUrl, paint };
    const hasKey = canSend(run, loaded.config);
    stderr.write(banner({ ...parts, hasPage, hasKey, unused, program: programName(io.env) }));
  }
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
