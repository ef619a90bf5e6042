import type { Config } from '../../config/config.ts';
import type { Meter } from './meter.ts';

/** Measures this process; undefined, and not even loaded, if no metrics are configured. */
export async function openMeter(config: Config): Promise<Meter | undefined> {
  if (config.metrics === undefined) return undefined;
  const { Meter: Opened } = await import('./meter.ts');
  return new Opened(config);
}
