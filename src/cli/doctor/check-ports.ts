import { hash } from 'node:crypto';
import { createServer } from 'node:net';
import { isAlive, type RunningGateway, readRunning } from '../../client/address.ts';
import { readHealth } from '../../client/call.ts';
import type { Config } from '../../config/config.ts';
import { portHolder } from '../../server/port-holder.ts';
import { deadline, type Io } from '../shell/io.ts';
import { otherConfiguration } from '../shell/running-configuration.ts';
import type { CheckedConfiguration } from './check-configuration.ts';
import { about, type Diagnosis } from './finding.ts';

export interface CheckedGateway {
  readonly findings: readonly Diagnosis[];
  /** The running gateway of this user. */
  readonly running?: RunningGateway;
}

const proofSeconds = 5;

/** Checks whether the gateway in the state file is running and has loaded the current configuration. */
export async function checkGateway(
  { path, text }: Pick<CheckedConfiguration, 'path' | 'text'>,
  io: Io,
): Promise<CheckedGateway> {
  const { ok, warning, error } = about('gateway');
  const running = readRunning(io.env);
  if (running === undefined) return { findings: [ok('none is running: gateway serve')] };
  const { url, pid } = running;
  try {
    await readHealth(running, deadline(io.signal, proofSeconds));
  } catch {
    return {
      findings: isAlive(pid)
        ? [error(`process ${pid} does not answer at ${url}`, `look at its log, or end it: kill ${pid}`)]
        : [warning(`the one at ${url} ended unexpectedly`, 'start it again: gateway serve')],
    };
  }
  const state = ok(`runs at ${url} (pid ${pid})`);
  const other = await otherConfiguration({ ...(path !== undefined && { config: path }) }, io);
  if (other !== undefined) {
    const remedy = 'to change that: gateway stop, then gateway serve; doctor -c FILE checks another file';
    return { findings: [state, warning(other, remedy)], running };
  }
  const isFollowed = path === undefined || running.config?.text_hash === hash('sha256', text);
  if (isFollowed) return { findings: [state], running };
  const stale = warning(
    'it has not loaded the current file',
    'its log says why; gateway stop, then gateway serve',
  );
  return { findings: [state, stale], running };
}

/** Checks whether the ports that the gateway would use are free, or its own. */
export async function checkPorts(
  config: Config,
  running: RunningGateway | undefined,
): Promise<readonly Diagnosis[]> {
  const { server, plants } = config;
  const own = [running?.url, running?.plants_url].flatMap((url) =>
    url === undefined ? [] : [Number(new URL(url).port)],
  );
  const wanted = [
    // A gateway that runs elsewhere doesn't need it.
    { ...server, isOptional: running !== undefined, setting: 'server.port, or gateway serve -p' },
    ...(plants.store.enabled
      ? [
          // The gateway starts without its plant store, too.
          { ...plants.store, isOptional: true, setting: 'plants.store.port, or gateway serve --plants-port' },
        ]
      : []),
  ];
  const checks = wanted.filter(({ port }) => port !== 0 && !own.includes(port)).map(checkPort);
  return Promise.all(checks);
}

interface Wanted {
  readonly host: string;
  readonly port: number;
  readonly isOptional: boolean;
  readonly setting: string;
}

async function checkPort({ host, port, isOptional, setting }: Wanted): Promise<Diagnosis> {
  const { ok, ...fault } = about(`port ${port}`);
  const error = isOptional ? fault.warning : fault.error;
  const code = await listenFor(host, port);
  if (code === undefined) return ok(`free on ${host}`);
  if (code === 'EADDRINUSE') {
    const holder = portHolder(port) ?? 'another program';
    return error(`taken by ${holder}`, `stop that, or choose another: ${setting}`);
  }
  if (code === 'EACCES') return error('this user may not listen there', `choose one above 1023: ${setting}`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return error(`${host} is not an address of this machine`, 'check host; 127.0.0.1 always works');
  }
  return error(`can't listen there (${code})`, `choose another: ${setting}`);
}

/** Why listening fails; undefined if it succeeds. */
function listenFor(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
