import { dialects } from '../../dialects/registry.ts';
import type { ExchangeObserver } from '../observer.ts';
import type { ExchangeRecord } from '../record.ts';
import { type Counter, CounterFamily, type Histogram, HistogramFamily, type MetricData } from './families.ts';

// Names, labels and buckets of `gen_ai_*` are those of OpenTelemetry's semantic conventions for generative AI, as
// Prometheus spells them.
const modelLabels = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'];
const durationBounds = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const firstTokenBounds = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
const perTokenBounds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const tokenBounds = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];

const operations: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(dialects).map(({ name, operation }) => [name, operation])),
  count_tokens: 'count_tokens',
};
/** For requests without a valid key or with an unknown path. */
const otherEndpoint = 'other';
/** Most series that are cached under one joined key; beyond that they are looked up label by label. */
const maxShapes = 10_000;

/** Everything that is counted for exchanges with the same labels. */
interface Shape {
  readonly requests: Counter;
  readonly ended: Counter | undefined;
  readonly decision: Counter | undefined;
  readonly model: ModelShape | undefined;
}

interface ModelShape {
  readonly duration: Histogram;
  readonly attempts: Counter;
  /** Created with the first usage, like the others: a series of zeros says nothing. */
  used: UsageShape | undefined;
}

interface UsageShape {
  readonly firstToken: Histogram;
  readonly perToken: Histogram;
  readonly input: Histogram;
  readonly output: Histogram;
  readonly tokens: readonly [
    input: Counter,
    output: Counter,
    read: Counter,
    write: Counter,
    reasoning: Counter,
  ];
  readonly cost: Counter;
}

/** Counts exchanges. No label has a value that clients choose: see `modelLabel`. */
export class ExchangeMetrics implements ExchangeObserver {
  readonly #duration = new HistogramFamily(
    {
      name: 'gen_ai_server_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer.',
      labels: [...modelLabels, 'error_type'],
    },
    durationBounds,
  );
  readonly #firstToken = new HistogramFamily(
    {
      name: 'gen_ai_server_time_to_first_token_seconds',
      help: 'Time from the head of a request to the first byte of its stream.',
      labels: modelLabels,
    },
    firstTokenBounds,
  );
  readonly #perToken = new HistogramFamily(
    {
      name: 'gen_ai_server_time_per_output_token_seconds',
      help: 'Time per token of a stream after its first one.',
      labels: modelLabels,
    },
    perTokenBounds,
  );
  readonly #usage = new HistogramFamily(
    {
      name: 'gen_ai_client_token_usage',
      help: 'Tokens of a request, by type; input counts cached ones too.',
      labels: [...modelLabels, 'gen_ai_token_type'],
    },
    tokenBounds,
  );
  readonly #requests = new CounterFamily({
    name: 'gateway_requests_total',
    help: 'Exchanges that are over.',
    labels: ['project', 'endpoint', 'outcome', 'status'],
  });
  readonly #refusals = new CounterFamily({
    name: 'gateway_refusals_total',
    help: 'Exchanges that the gateway refused, by reason.',
    labels: ['project', 'reason'],
  });
  readonly #failures = new CounterFamily({
    name: 'gateway_failures_total',
    help: 'Exchanges without an answer or with a truncated one, by reason.',
    labels: ['provider', 'reason'],
  });
  readonly #decisions = new CounterFamily({
    name: 'gateway_policy_decisions_total',
    help: 'Decisions of the policies on requests.',
    labels: ['project', 'decision'],
  });
  readonly #matches = new CounterFamily({
    name: 'gateway_policy_rule_matches_total',
    help: 'Rules that matched, in a request, in what was to leave or in an answer.',
    labels: ['rule', 'action', 'mode'],
  });
  readonly #wouldLimit = new CounterFamily({
    name: 'gateway_monitored_limit_hits_total',
    help: 'Requests that a limit in monitor mode would have refused.',
    labels: ['limit'],
  });
  readonly #tokens = new CounterFamily({
    name: 'gateway_tokens_total',
    help: 'Tokens used; cache_read and cache_write are part of input, reasoning is part of output.',
    labels: ['project', 'provider', 'model', 'type'],
  });
  readonly #cost = new CounterFamily({
    name: 'gateway_cost_usd_total',
    help: 'What providers charge, where the price is known.',
    labels: ['project', 'provider', 'model'],
  });
  readonly #attempts = new CounterFamily({
    name: 'gateway_provider_requests_total',
    help: 'Requests sent to providers, including retries and fallbacks.',
    labels: ['provider'],
  });
  readonly #modelLabel: (model: string) => string;
  readonly #shapes = new Map<string, Shape>();

  /** `modelLabel` turns a name that a client chose into one of a bounded set. */
  constructor(modelLabel: (model: string) => string) {
    this.#modelLabel = modelLabel;
  }

  finished(record: ExchangeRecord): void {
    const { rules, would_limit: wouldLimit } = record;
    const { requests, ended, decision, model } = this.#shapeOf(record);
    requests.value += 1;
    if (ended !== undefined) ended.value += 1;
    if (decision !== undefined) decision.value += 1;
    if (rules !== undefined)
      for (const { id, action, mode } of rules) this.#matches.with(id, action, mode).value += 1;
    if (wouldLimit !== undefined) for (const limit of wouldLimit) this.#wouldLimit.with(limit).value += 1;
    if (model === undefined) return;
    model.duration.observe(record.total_ms / 1_000);
    model.attempts.value += record.attempts ?? 0;
    if (record.usage !== undefined) this.#countUsage(record, record.usage, model);
  }

  read(): MetricData[] {
    return [
      this.#duration,
      this.#firstToken,
      this.#perToken,
      this.#usage,
      this.#requests,
      this.#refusals,
      this.#failures,
      this.#decisions,
      this.#matches,
      this.#wouldLimit,
      this.#tokens,
      this.#cost,
      this.#attempts,
    ].map((family) => family.read());
  }

  #countUsage(record: ExchangeRecord, usage: NonNullable<ExchangeRecord['usage']>, shape: ModelShape): void {
    shape.used ??= this.#usageShapeOf(record);
    const { firstToken, perToken, input, output, tokens, cost } = shape.used;
    const [inputs, outputs, reads, writes, reasonings] = tokens;
    input.observe(usage.input_tokens);
    output.observe(usage.output_tokens);
    inputs.value += usage.input_tokens;
    outputs.value += usage.output_tokens;
    reads.value += usage.cache_read_tokens;
    writes.value += usage.cache_write_tokens;
    reasonings.value += usage.reasoning_tokens;
    cost.value += record.cost_usd ?? 0;
    const { first_byte_ms: firstMs, total_ms: totalMs } = record;
    if (record.outcome !== 'answered' || record.stream !== true || firstMs === undefined) return;
    firstToken.observe(firstMs / 1_000);
    if (usage.output_tokens > 1) perToken.observe((totalMs - firstMs) / 1_000 / (usage.output_tokens - 1));
  }

  #shapeOf(record: ExchangeRecord): Shape {
    const { project, endpoint, outcome, status, reason, decision, provider, model } = record;
    const label = model === undefined ? '' : this.#modelLabel(model);
    const key = `${project} ${endpoint} ${outcome} ${status} ${reason} ${decision} ${provider} ${label}`;
    const known = this.#shapes.get(key);
    if (known !== undefined) return known;
    const shape = {
      requests: this.#requests.with(project ?? '', endpoint ?? otherEndpoint, outcome, String(status)),
      ended: this.#endOf(record),
      decision: decision === undefined ? undefined : this.#decisions.with(project ?? '', decision),
      model: provider === undefined ? undefined : this.#modelShapeOf(record),
    };
    if (this.#shapes.size >= maxShapes) this.#shapes.clear();
    this.#shapes.set(key, shape);
    return shape;
  }

  #endOf({ outcome, project, provider, reason }: ExchangeRecord): Counter | undefined {
    if (outcome === 'refused') return this.#refusals.with(project ?? '', reason ?? '');
    return outcome === 'failed' ? this.#failures.with(provider ?? '', reason ?? '') : undefined;
  }

  #modelShapeOf(record: ExchangeRecord): ModelShape {
    return {
      duration: this.#duration.with(...this.#modelLabels(record), errorType(record)),
      attempts: this.#attempts.with(record.provider ?? ''),
      used: undefined,
    };
  }

  #usageShapeOf(record: ExchangeRecord): UsageShape {
    const labels = this.#modelLabels(record);
    const [, provider, model] = labels;
    const whose = [record.project ?? '', provider, model] as const;
    const tokens = (type: string) => this.#tokens.with(...whose, type);
    return {
      firstToken: this.#firstToken.with(...labels),
      perToken: this.#perToken.with(...labels),
      input: this.#usage.with(...labels, 'input'),
      output: this.#usage.with(...labels, 'output'),
      tokens: [
        tokens('input'),
        tokens('output'),
        tokens('cache_read'),
        tokens('cache_write'),
        tokens('reasoning'),
      ],
      cost: this.#cost.with(...whose),
    };
  }

  #modelLabels(record: ExchangeRecord): readonly [operation: string, provider: string, model: string] {
    const { endpoint = '', provider = '', model = '' } = record;
    return [operations[endpoint] ?? otherEndpoint, provider, this.#modelLabel(model)];
  }
}

/** Empty if nothing went wrong, so that the label is absent for Prometheus. */
function errorType({ reason, status, outcome }: ExchangeRecord): string {
  if (reason !== undefined) return reason;
  return status >= 400 || outcome !== 'answered' ? String(status) : '';
}
