/** One metric with all its values, as plain data: workers send these to the parent, and prom-client merges them. */
export interface MetricData {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How the values of several processes are merged. */
  readonly aggregator: 'sum' | 'min' | 'max';
  readonly values: readonly MetricValue[];
}

interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Set if it differs from the metric's name: for the parts of a histogram. */
  readonly metricName?: string;
}

interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

// These replace prom-client's metrics on the hot path: it creates, validates and hashes an object of labels for every
// update, and an exchange makes ten (docs/decisions/metrics.md).

class Family<Series> {
  protected readonly options: FamilyOptions;
  readonly #create: () => Series;
  readonly #series = new Map<string, { readonly labels: readonly string[]; readonly series: Series }>();

  constructor(options: FamilyOptions, create: () => Series) {
    this.options = options;
    this.#create = create;
  }

  /** The series with these values of the labels, in their order. */
  protected seriesOf(labels: readonly string[]): Series {
    const key = labels.join('\n');
    const known = this.#series.get(key);
    if (known !== undefined) return known.series;
    const series = this.#create();
    this.#series.set(key, { labels, series });
    return series;
  }

  protected *entries(): Iterable<readonly [labels: Record<string, string>, series: Series]> {
    for (const { labels, series } of this.#series.values()) {
      yield [Object.fromEntries(this.options.labels.map((name, i) => [name, labels[i] ?? ''])), series];
    }
  }
}

/** Numbers that only grow. */
export class CounterFamily extends Family<{ value: number }> {
  constructor(options: FamilyOptions) {
    super(options, () => ({ value: 0 }));
  }

  add(amount: number, ...labels: readonly string[]): void {
    this.seriesOf(labels).value += amount;
  }

  read(): MetricData {
    const { name, help } = this.options;
    const values = [...this.entries()].map(([labels, { value }]) => ({ labels, value }));
    return { name, help, type: 'counter', aggregator: 'sum', values };
  }
}

interface Histogram {
  /** How many values are in each bucket, not cumulative; the last one has no upper bound. */
  readonly counts: number[];
  sum: number;
}

export class HistogramFamily extends Family<Histogram> {
  readonly #bounds: readonly number[];

  constructor({ bounds, ...options }: FamilyOptions & { readonly bounds: readonly number[] }) {
    super(options, () => ({ counts: new Array(bounds.length + 1).fill(0), sum: 0 }));
    this.#bounds = bounds;
  }

  observe(value: number, ...labels: readonly string[]): void {
    const histogram = this.seriesOf(labels);
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = found < 0 ? this.#bounds.length : found;
    (histogram.counts[bucket] as number) += 1;
    histogram.sum += value;
  }

  read(): MetricData {
    const { name, help } = this.options;
    const values = [...this.entries()].flatMap(([labels, { counts, sum }]) => {
      let count = 0;
      const buckets = counts.map((inBucket, i) => {
        count += inBucket;
        return {
          labels: { ...labels, le: this.#bounds[i] ?? '+Inf' },
          value: count,
          metricName: `${name}_bucket`,
        };
      });
      return [
        ...buckets,
        { labels, value: sum, metricName: `${name}_sum` },
        { labels, value: count, metricName: `${name}_count` },
      ];
    });
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }
}
