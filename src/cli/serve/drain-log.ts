import type { OpenCounts } from '../../record/gauges.ts';
import type { ServeLog } from '../../server/recording.ts';
import type { Services } from '../../server/services.ts';

interface DrainOptions {
  readonly services: Pick<Services, 'countOpen' | 'settleOpen' | 'hasLedger' | 'stop'>;
  readonly drainMs: number;
  readonly log: ServeLog;
  /** Calls back when a second signal is about to end the process; returns the function that ends it. */
  readonly onSecondSignal: (listener: () => void) => () => void;
}

/** How often what is open is counted, so that a second signal can log it without waiting. */
const countMs = 250;
const logMs = 5_000;

/** Stops the services, and logs what that waits for and what it cuts. Throws what `stop` throws. */
export async function drainLogged({ services, drainMs, log, onSecondSignal }: DrainOptions): Promise<void> {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 100) / 10;
  let open: OpenCounts = { exchanges: 0, streams: 0 };
  let loggedAt: number | undefined;
  let hadOpen = false;
  let isOver = false;
  const count = async () => {
    open = await services.countOpen();
    hadOpen ||= open.exchanges > 0;
    const now = performance.now();
    if (open.exchanges === 0 || isOver || (loggedAt !== undefined && now - loggedAt < logMs)) return;
    const waiting =
      loggedAt === undefined ? `waiting up to ${drainMs / 1_000} s` : `after ${seconds()} s still waiting`;
    loggedAt = now;
    log('info', `stopping: ${waiting} for ${describe(open)}`, { open });
  };
  const stopping = services.stop();
  void count(); // it does not reject
  const counting = setInterval(() => void count(), countMs);
  const cutting = setTimeout(() => {
    isOver = true;
    if (open.exchanges > 0) log('warn', `stopping: time is up, cutting ${describe(open)}`, { open });
  }, drainMs);
  const forget = onSecondSignal(() => {
    services.settleOpen();
    const kept = services.hasLedger ? ', which are in the ledger as estimates' : '';
    const cut = `cutting ${describe(open)}${kept}`;
    log('warn', `second signal: ${open.exchanges === 0 ? 'nothing is open' : cut}`, { open });
  });
  try {
    await stopping;
  } finally {
    isOver = true;
    clearInterval(counting);
    clearTimeout(cutting);
    forget();
    log('info', hadOpen ? `stopped after ${seconds()} s` : 'stopped; nothing was open');
  }
}

function describe({ exchanges, streams }: OpenCounts): string {
  return `${exchanges} ${exchanges === 1 ? 'exchange' : 'exchanges'}, ${streams} of them streams`;
}
