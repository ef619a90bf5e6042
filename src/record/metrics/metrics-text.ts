import { AggregatorRegistry, Registry } from 'prom-client';
import type { MetricData } from './families.ts';

export const contentType = Registry.PROMETHEUS_CONTENT_TYPE;

/** The metrics of several processes as one text in Prometheus's format. Metrics without values are left out. */
export function metricsText(processes: readonly (readonly MetricData[])[]): Promise<string> {
  const withValues = processes.map((metrics) => metrics.filter(({ values }) => values.length > 0));
  return AggregatorRegistry.aggregate(withValues.map((metrics) => [...metrics])).metrics();
}

/** What is kept of processes that ended: counters, which must never go down, but not gauges. */
export async function mergeCounts(
  processes: readonly (readonly MetricData[])[],
): Promise<readonly MetricData[]> {
  const counts = processes.map((metrics) => metrics.filter(({ type }) => type !== 'gauge'));
  const merged = await AggregatorRegistry.aggregate(counts.map((metrics) => [...metrics])).getMetricsAsJSON();
  return merged as unknown as readonly MetricData[]; // the aggregate of what it was handed, in the same form
}
