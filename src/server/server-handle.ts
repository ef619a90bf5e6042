import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { servesInspector } from '../config/build/sections.ts';
import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import type { PreparedConfig } from '../gateway/active-config.ts';
import type { Exchange, Follow } from '../gateway/exchange.ts';
import type { GatewayConfig } from '../gateway/gateway.ts';
import { type GatewayServer, serveGateway } from '../gateway/serve.ts';
import type { AcceptedSockets } from '../http/listen.ts';
import type { OwnerProof } from '../lib/owner-proof.ts';
import { TickQueue } from '../lib/tick-queue.ts';
import type { Counters } from '../limits/counters.ts';
import { refusedKeyMs } from '../providers/provider.ts';
import type { OpenCounts } from '../record/gauges.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { MetricData } from '../record/metrics/families.ts';
import type { WriteRecord } from '../record/record.ts';
import type { LogLevel } from '../record/recorder.ts';
import { gatewayConfig, shareForWorker } from './gateway-config.ts';
import { type LedgerSettings, openLedgerFor } from './ledger.ts';
import { memoryShare } from './memory-share.ts';
import { type InspectorSettings, openInspector } from './open-inspector.ts';
import { exchangeWithItself } from './own-exchange.ts';
import { type OpenBreakerChannel, openBreakers, openCounters, rereadAdded } from './shared-state.ts';
import { openMeter, openTracer, type TracingSettings } from './telemetry.ts';

/** The server at the gateway's address: this process, or several workers that share the port. */
export interface ServerHandle {
  readonly url: string;
  /** Process ids of the workers, if there are any. */
  readonly workers?: readonly number[];
  /** Prepares a configuration in every process. Throws, and changes nothing, if it can't be applied. */
  prepare(config: Config, sandboxUrl: string | undefined): Promise<PreparedConfig>;
  /** Reports ready from now on: until then those who wait for that might not find it. */
  announce(): void;
  /** How much is open in all processes. */
  countOpen(): Promise<OpenCounts>;
  /** Enters what is open in the ledger, before the process ends at once. */
  settleOpen(): void;
  /** What every process has counted; empty if no metrics are configured. */
  readMetrics(): Promise<readonly (readonly MetricData[])[]>;
  /** Throws drain.incomplete if not all of the ledger could be written; everything has ended all the same. */
  drain(): Promise<void>;
}

/** What a gateway is served with, in one process or in several. */
export interface ServerOptions {
  readonly config: Config;
  /** Where the sandbox listens, if it was started. */
  readonly sandboxUrl: string | undefined;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly record: WriteRecord;
  /** Undefined if no ledger is kept. */
  readonly ledger?: LedgerSettings | undefined;
  /** Logs failures outside of exchanges. */
  readonly log: (level: LogLevel, message: string) => void;
  /** Undefined if tracing is off. */
  readonly tracing?: TracingSettings | undefined;
  /** The proof in this gateway's state file. */
  readonly ownerProof?: OwnerProof | undefined;
  /** Without it no live page is served, even if the configuration enables it. */
  readonly inspector?: InspectorSettings | undefined;
}

interface HereOptions extends ServerOptions {
  /** Without it this process serves alone. */
  readonly worker?: WorkerParts;
}

/** What one of several processes gets from the parent of all, or shares with the others by it. */
interface WorkerParts {
  /** How many processes there are. */
  readonly count: number;
  readonly startedMs: number;
  readonly accepted: AcceptedSockets;
  /** What counts without Redis: the parent, which has read what budgets have used. */
  readonly counters: Counters;
  /** Passes breakers on without Redis. */
  readonly breakers: OpenBreakerChannel;
  /** How much is open in all processes. */
  readonly countOpen: () => Promise<OpenCounts>;
  /** The ledger was closed with `unwritten` changes that are not on the disk. */
  readonly onLedgerClosed: (unwritten: number) => void;
}

/** Ends what was opened, the last first. */
type Closing = (() => void | Promise<void>)[];

/** Serves from this process. Throws port.busy and what an unusable address throws. */
export async function serveHere(options: HereOptions): Promise<ServerHandle> {
  const closing: Closing = [];
  try {
    return await open(options, closing);
  } catch (error) {
    await close(closing).catch(() => undefined); // it is logged; why it could not start matters more
    throw error;
  }
}

async function close(closing: Closing): Promise<void> {
  for (const end of closing.toReversed()) await end();
}

async function open(options: HereOptions, closing: Closing): Promise<ServerHandle> {
  const { config, sandboxUrl, host, port, record, ownerProof, log, worker } = options;
  const { count = 1, startedMs, accepted, countOpen } = worker ?? {};
  if (!memoryShare(count).isSmall) void letHeapGrow();
  // The first streams must not wait for it. In sandbox mode the first request does, so that agents start at once.
  if (!config.isSandboxMode) compilePolicies(config);
  const ticks = new TickQueue();
  const remote = config.state.url === undefined ? worker?.counters : undefined;
  const budgets = remote === undefined ? config : { ...config, limits: [] };
  const opened = options.ledger && (await openLedgerFor(options.ledger, budgets, log));
  if (opened !== undefined) closing.push(() => closeLedger(opened.ledger, options));
  const counters = remote ?? (await openCounters(config, log, opened));
  closing.push(() => counters.close());
  const breakers = (await openBreakers(config)) ?? worker?.breakers;
  closing.push(() => breakers?.close());
  const meter = await openMeter(config);
  closing.push(() => meter?.close());
  const tracer = await openTracer(options.tracing, log);
  closing.push(() => tracer?.close());
  const page = await openInspector(options, {
    counters,
    url: () => server.url,
    gauges: () => server.gauges(),
  });
  closing.push(() => page?.close());
  let current = config;
  let isAnnounced = false;
  let isDraining = false;
  const toGatewayConfig = (next: Config, url: string | undefined) =>
    gatewayConfig(next, url, { host, keys: page?.passes.over(next.keys), workers: count });
  const { limits } = config.server;
  const server: GatewayServer = await serveGateway({
    host,
    port,
    limits: { ...limits, connections: shareForWorker(limits.connections, count) },
    accepted,
    startedMs,
    countOpen,
    config: toGatewayConfig(config, sandboxUrl),
    record,
    counters,
    ledger: opened?.ledger,
    ticks,
    breakers,
    onRefusedKey: ({ label }) =>
      log(
        'error',
        `provider ${label}: its host refuses the key (401); requests go to the others, and it is tried again in ${refusedKeyMs / 60_000} minutes`,
      ),
    ownerProof,
    isAnnounced: () => isAnnounced,
    followers: followersOf({ tracer, meter, page }),
    inspector: page,
  });
  return {
    url: server.url,
    prepare: async (next, url) => {
      const { commit, discard } = await server.prepare(toGatewayConfig(next, url));
      return {
        commit: () => {
          commit();
          opened?.follow(next);
          rereadAdded(counters, current, next);
          current = next;
          meter?.follow(next);
          page?.follow(next);
          if (
            page === undefined &&
            options.inspector !== undefined &&
            servesInspector(next.inspector, host)
          ) {
            log('info', 'inspector.enabled: the live page is served after a restart');
          }
        },
        discard,
      };
    },
    announce: () => {
      isAnnounced = true;
      // Not before: whoever starts a gateway waits for this, and compiling policies is one long slice.
      void warmUp(server, toGatewayConfig(current, sandboxUrl), () => isDraining);
    },
    countOpen: async () => server.gauges().open,
    settleOpen: () => server.settleOpen(),
    readMetrics: async () => (meter === undefined ? [] : [await meter.read(server, counters)]),
    drain: async () => {
      isDraining = true;
      page?.close(); // its streams would not end
      await server.drain();
      await close(closing);
    },
  };
}

interface Followed {
  readonly tracer: Awaited<ReturnType<typeof openTracer>>;
  readonly meter: Awaited<ReturnType<typeof openMeter>>;
  readonly page: { readonly followers: readonly Follow[] } | undefined;
}

/** Who follows each exchange: spans, counters, live page. */
function followersOf({ tracer, meter, page }: Followed): readonly Follow[] {
  return [
    ...(tracer === undefined ? [] : [(exchange: Exchange) => tracer.follow(exchange)]),
    ...(page?.followers ?? []),
    ...(meter === undefined ? [] : [() => meter.exchanges]),
  ];
}

/** Throws drain.incomplete if not all of it could be written; a worker tells its parent instead. */
async function closeLedger(ledger: Ledger, { log, worker }: HereOptions): Promise<void> {
  await ledger.close();
  const { unwritten, pending } = ledger.gauges;
  if (worker !== undefined) return worker.onLedgerClosed(unwritten);
  if (unwritten === 0) {
    return log('info', pending === 0 ? 'the ledger is flushed' : 'the ledger is flushed to its journal');
  }
  log('error', `${unwritten} changes of the ledger are not on the disk`);
  throw new GatewayError('drain.incomplete', 'not all of the ledger could be written');
}

/** Whoever waited for the start sends a request at once, which comes before all warming. */
const firstRequestMs = 50;

/**
 * Makes the first exchange as quick as the tenth, while none is open. Never rejects. The policies come last: whatever else
 * runs first with objects of another kind takes back what V8 has optimized for theirs.
 */
async function warmUp(
  server: GatewayServer,
  config: GatewayConfig,
  isDraining: () => boolean,
): Promise<void> {
  await setTimeout(firstRequestMs, undefined, { ref: false });
  await exchangeWithItself(config, () => isDraining() || server.gauges().open.exchanges > 0);
  await server.warmUp();
}

/** Compiles what the first request would otherwise wait for; if that fails, each request is refused with the reason. */
function compilePolicies({ keys }: Config): void {
  try {
    for (const { policies } of keys.records()) policies.compile();
  } catch {}
}

/** How far, in percent, the heap may grow beyond live objects before a full collection. */
const growthPercent = 300;
/** Files that are loaded under other flags than those that the program was compiled with at its build are compiled anew. */
const loadingMs = 1_000;

/**
 * Makes full garbage collections rarer. V8 counts the memory of bodies against a heap that is hardly larger than the
 * program, and so marks the whole heap after every 24 MB of bodies: with bodies of 360 KB that took a third of the CPU
 * time. V8 reads the flag at each collection, so it can be set at run time, once the first exchanges have loaded what they
 * need.
 */
async function letHeapGrow(): Promise<void> {
  await setTimeout(loadingMs, undefined, { ref: false });
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}
