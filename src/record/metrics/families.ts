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

export interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** A number that only grows. */
export interface Counter {
  value: number;
}

// These replace prom-client's metrics on the hot path: it creates and hashes an object of labels for every update, and an
// exchange makes ten. Here a series is looked up once and kept.

class Family<Series> {
  protected readonly options: FamilyOptions;
  readonly #create: () => Series;
  readonly #series = new Map<string, { readonly labels: readonly string[]; readonly series: Series }>();

  constructor(options: FamilyOptions, create: () => Series) {
    this.options = options;
    this.#create = create;
  }

  /** The series with these values of the labels, in their order. */
  with(...labels: readonly string[]): Series {
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

export class CounterFamily extends Family<Counter> {
  constructor(options: FamilyOptions) {
    super(options, () => ({ value: 0 }));
  }

  read(): MetricData {
    const { name, help } = this.options;
    const values = [...this.entries()].map(([labels, { value }]) => ({ labels, value }));
    return { name, help, type: 'counter', aggregator: 'sum', values };
  }
}

export class Histogram {
  readonly bounds: readonly number[];
  /** How many values are in each bucket, not cumulative; the last one has no upper bound. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > (this.bounds[bucket] as number)) bucket += 1;
    (this.counts[bucket] as number) += 1;
    this.sum += value;
  }
}

export class HistogramFamily extends Family<Histogram> {
  constructor(options: FamilyOptions, bounds: readonly number[]) {
    super(options, () => new Histogram(bounds));
  }

  read(): MetricData {
    const { name, help } = this.options;
    const values = [...this.entries()].flatMap(([labels, { bounds, counts, sum }]) => {
      let count = 0;
      const buckets = counts.map((inBucket, i) => {
        count += inBucket;
        return { labels: { ...labels, le: bounds[i] ?? '+Inf' }, value: count, metricName: `${name}_bucket` };
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
