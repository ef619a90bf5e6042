import type { Provider } from '../providers/provider.ts';
import type { ExchangeObserver, ProviderGauges } from '../record/observer.ts';
import type { RepeatFolder } from '../record/repeats.ts';

/** Observers see every exchange: a repeated refusal is folded for the records alone. */
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
