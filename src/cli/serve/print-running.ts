import { type RunningGateway, readRunning } from '../../client/address.ts';
import { readHealth } from '../../client/call.ts';
import { refuseForeignState } from '../../client/state.ts';
import { toFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import type { CommonOptions } from '../shell/command.ts';
import { deadline, type Io } from '../shell/io.ts';
import { printValue } from '../shell/print/print.ts';

export interface Running {
  readonly running: RunningGateway;
  /** What it reported to its owner. */
  readonly health: Readonly<Record<string, unknown>>;
}

/** How long a gateway may take to prove that it is there, in seconds. */
const proofSeconds = 10;

/** The running gateway of this user, after it has proved its identity. Throws gateway.unreachable if there is none. */
export async function findRunning(io: Io): Promise<Running> {
  const running = readRunning(io.env);
  if (running === undefined) {
    refuseForeignState(io.env);
    throw new GatewayError('gateway.unreachable', 'no gateway is running; start one with "gateway serve"');
  }
  return { running, health: toFields(await readHealth(running, deadline(io.signal, proofSeconds))) };
}

export async function printRunning(io: Io, options: Pick<CommonOptions, 'output'>): Promise<void> {
  const { running, health } = await findRunning(io);
  const { url, pid, since, config, log, plants_url } = running;
  const { exchanges, streams } = toFields(health.open);
  const value = {
    url,
    pid,
    since: since ?? null,
    config: { path: config?.path ?? null, hash: config?.hash ?? null },
    open: { exchanges: exchanges ?? null, streams: streams ?? null },
    plants_url: plants_url ?? null,
    log: log ?? null,
  };
  const rows = [
    ['url', url],
    ['pid', String(pid)],
    ['since', since ?? ''],
    ['config', `${config?.path ?? 'none: sandbox mode'}  ${config?.hash.slice(0, 12) ?? ''}`],
    ['open', `${exchanges ?? 0} exchanges, ${streams ?? 0} of them streams`],
    ...(plants_url === undefined ? [] : [['plants', plants_url]]),
    ...(log === undefined ? [] : [['log', log]]),
  ];
  const text = rows.map(([name = '', cell]) => `${name.padEnd(8)}${cell}\n`).join('');
  await printValue(value, text, options, io);
}
