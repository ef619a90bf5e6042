import { getHeapStatistics } from 'node:v8';
import type { Counters } from '../limits/counters.ts';
import type { Provider } from '../providers/provider.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { ExchangeObserver, OpenCounts, ProviderGauges } from '../record/observer.ts';
import type { RepeatFolder } from '../record/repeats.ts';
import type { Exchange } from './exchange.ts';
import type { Dependencies } from './local-endpoints/health.ts';

// Above this share of the heap limit new work is refused: better a refused request than a dead process.
const heapShare = 0.85;
const heapCheckMs = 1_000;

export interface HeapWatch {
  readonly isScarce: () => boolean;
  readonly stop: () => void;
}

export function watchHeap(): HeapWatch {
  let isScarce = false;
  const check = () => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    isScarce = used > limit * heapShare;
  };
  const timer = setInterval(check, heapCheckMs).unref();
  return { isScarce: () => isScarce, stop: () => clearInterval(timer) };
}

/** Observers see every exchange; only the records collapse repeated refusals. */
export function observe(
  write: RepeatFolder['write'],
  observers: readonly ExchangeObserver[],
): RepeatFolder['write'] {
  if (observers.length === 0) return write;
  return (record, repeatKey) => {
    for (const observer of observers) observer.finished(record);
    write(record, repeatKey);
  };
}

export function gaugesOf({ options, admission, health }: Provider): ProviderGauges {
  const { active, queued } = admission;
  return { name: options.name, active, queued, isOpen: health.isHostOpen, openModels: health.openModels };
}

/** Leaves out the health checks of the owner's own commands. */
export function countExchanges(open: readonly Exchange[]): OpenCounts {
  const others = open.filter(({ isRecorded }) => isRecorded);
  return { exchanges: others.length, streams: others.filter(({ draft }) => draft.isStream).length };
}

export function dependenciesOf({ isConnected }: Counters, ledger: Ledger | undefined): Dependencies {
  const state = isConnected ? 'ok' : 'redis away';
  if (ledger === undefined) return { state, ledger: 'off' };
  const { isWritable, isMoving } = ledger.gauges;
  return { state, ledger: isWritable && isMoving ? 'ok' : 'failing' };
}
