import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gatewayAddress, type NamedModels, readRunning } from '../../client/address.ts';
import { readHealth } from '../../client/call.ts';
import { ensureStateDirectory } from '../../client/state.ts';
import type { LoadedConfig, LoadOptions } from '../../config/load.ts';
import { namedPath } from '../../config/source/find.ts';
import type { WantedLogin } from '../../config/source/logins.ts';
import { GatewayError } from '../../errors.ts';
import type { OwnerProof } from '../../lib/owner-proof.ts';
import type { Ready } from '../serve/serve.ts';
import type { CommonOptions } from '../shell/command.ts';
import { deadline, type Io } from '../shell/io.ts';
import { askedConsent } from '../shell/load-config.ts';
import { noteOtherConfiguration } from '../shell/running-configuration.ts';

export interface AgentGateway {
  readonly url: string;
  readonly key: string;
  /** Shows that look-ups are this user's, so that they are not recorded; absent for another one's gateway. */
  readonly proof: OwnerProof | undefined;
  /** Its log file and its configuration, if it was started for the agent. */
  readonly started?: { readonly log: string; readonly loaded: LoadedConfig };
  /** Of its configuration, as far as that is known. */
  readonly models: NamedModels;
  /** Stops it, if it was started for the agent. */
  stop(): Promise<void>;
}

/** Detectors whose findings are masked, which takes a gateway of the agent's own. */
interface AgentGatewayOptions extends CommonOptions {
  readonly mask?: LoadOptions['mask'];
}

const proofSeconds = 10;

/**
 * The gateway that GATEWAY_URL names, or the one running for this user with this configuration, else one of the
 * agent's own, which no other command finds and which may use its login. Throws key.missing if there is no key for it.
 */
export async function agentGateway(
  options: AgentGatewayOptions,
  io: Io,
  login: WantedLogin | undefined,
): Promise<AgentGateway> {
  if (options.mask !== undefined) {
    if (io.env.GATEWAY_URL === undefined || io.env.GATEWAY_URL === '') return startOwn(options, io, login);
    const problem = '--mask starts a gateway for the agent, but GATEWAY_URL names another one';
    throw new GatewayError(
      'usage.invalid',
      `${problem}: unset it, or write the rule into that one's policies`,
    );
  }
  if (options.config === undefined && io.env.GATEWAY_URL) return findGateway(io.env, options, io.signal);
  const file = options.config ?? (io.env.GATEWAY_CONFIG || undefined);
  const running = readRunning(io.env);
  const isAsked = file === undefined || running?.config?.path === namedPath(file, io);
  if (running === undefined || !isAsked) return startOwn(options, io, login);
  try {
    const found = await findGateway({ ...io.env, GATEWAY_URL: undefined }, options, io.signal);
    await noteOtherConfiguration(options, 'gateway -c FILE run starts one with another', io);
    return found;
  } catch (error) {
    // The gateway was killed, and left its state file behind.
    if (error instanceof GatewayError && error.code === 'gateway.unreachable')
      return startOwn(options, io, login);
    throw error;
  }
}

async function findGateway(
  env: Io['env'],
  { timeout = proofSeconds }: CommonOptions,
  signal: AbortSignal,
): Promise<AgentGateway> {
  const address = gatewayAddress(env);
  if (address.proof !== undefined) await readHealth(address, deadline(signal, timeout));
  const { url, key, proof } = address;
  return { url, key, proof, models: address, stop: async () => undefined };
}

/** Runs in this process, so that it always ends with it; it logs to a file, since the agent has the terminal. */
async function startOwn(
  options: AgentGatewayOptions,
  io: Io,
  login: WantedLogin | undefined,
): Promise<AgentGateway> {
  const { serve } = await import('../serve/serve.ts');
  const log = join(ensureStateDirectory(io.env), 'run.log');
  const stderr = createWriteStream(log, { flags: 'a', mode: 0o600 }).on('error', () => undefined);
  const ending = new AbortController();
  let serving: Promise<void> = Promise.resolve();
  const stop = async () => {
    ending.abort(new GatewayError('terminated', 'the agent has ended'));
    await serving.catch(() => undefined); // the agent's exit code counts
    await new Promise<void>((resolve) => stderr.end(resolve));
  };
  try {
    const ready = await new Promise<Ready>((resolve, reject) => {
      io.signal.addEventListener('abort', () => reject(io.signal.reason), { once: true });
      const serveOptions = { ...options, port: 0, host: '127.0.0.1', workers: 1, watch: true };
      serving = serve(serveOptions, withoutTerminal(io, stderr, ending.signal), {
        onReady: resolve,
        login,
        consent: askedConsent(options, io),
      });
      serving.catch(reject);
    });
    const given = io.env.GATEWAY_KEY || undefined;
    const key = ready.loaded.config.needsLocalKey ? ready.ownKey : (given ?? ready.ownKey);
    if (key === undefined) {
      throw new GatewayError(
        'key.missing',
        'the configuration has projects: set GATEWAY_KEY to the key of one, or enter your own: gateway key new --local --write',
      );
    }
    const { url, loaded, ownerProof: proof } = ready;
    return { url, key, proof, started: { log, loaded }, models: loaded.config, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a gateway may use while an agent has the terminal, standard input and the signals. */
function withoutTerminal({ stdout, env, cwd }: Io, stderr: Io['stderr'], signal: AbortSignal): Io {
  const ignore = () => () => undefined;
  const stdin = Readable.from([]);
  return {
    stdin,
    stdout,
    stderr,
    env,
    cwd,
    signal,
    onHangup: ignore,
    onSecondSignal: ignore,
    captureSignals: ignore,
  };
}
