import type { Config } from '../config/config.ts';
import type { Tracer } from '../record/tracing/otel-tracer.ts';
import { version } from '../version.ts';
import type { Meter } from './metrics/meter.ts';

/** The environment's tracing settings; OpenTelemetry reads the other OTEL_* variables itself. Plain data. */
export interface TracingSettings {
  readonly timeoutMs: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Log = (level: 'info' | 'error', message: string) => void;

/** Milliseconds: an unreachable collector must not fill the memory or delay shutdown for long. */
const defaultTimeoutMs = 3_000;

/** Undefined if tracing is off. */
export function tracingSettings(env: Environment): TracingSettings | undefined {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isOff = env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none';
  if (!endpoint || isOff) return undefined;
  const timeout = env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT || env.OTEL_EXPORTER_OTLP_TIMEOUT;
  return { timeoutMs: timeout ? undefined : defaultTimeoutMs };
}

/** A warning about an unsupported tracing setting. */
export function tracingProblem(env: Environment): string | undefined {
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol === undefined || protocol === '' || protocol.startsWith('http/')) return undefined;
  return `OTEL_EXPORTER_OTLP_PROTOCOL=${protocol}: traces are sent by HTTP in JSON, to the collector's port for that (4318)`;
}

export async function openTracer(
  settings: TracingSettings | undefined,
  log: Log,
): Promise<Tracer | undefined> {
  if (settings === undefined) return undefined;
  const { createOtelTracer } = await import('../record/tracing/otel-tracer.ts');
  return createOtelTracer({
    version,
    timeoutMs: settings.timeoutMs,
    onState: (cause) => {
      if (cause === undefined) log('info', 'traces are sent again');
      else log('error', `traces cannot be sent: ${cause}`);
    },
  });
}

/** Measures this process; undefined, and not even loaded, if no metrics are configured. */
export async function openMeter(config: Config): Promise<Meter | undefined> {
  if (config.metrics === undefined) return undefined;
  const { Meter: Opened } = await import('./metrics/meter.ts');
  return new Opened(config);
}
