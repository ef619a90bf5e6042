import { dialects } from '../../dialects/registry.ts';
import type { ExchangeRecord } from '../record.ts';
import { CounterFamily, HistogramFamily, type MetricData } from './families.ts';

// Names, labels and buckets of `gen_ai_*` are those of OpenTelemetry's semantic conventions for generative AI, as
// Prometheus spells them.
const modelLabels = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'];

const histograms = {
  gen_ai_server_request_duration_seconds: {
    help: 'Time from the head of a request to the end of its answer.',
    labels: [...modelLabels, 'error_type'],
    bounds: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
  gen_ai_server_time_to_first_token_seconds: {
    help: 'Time from the head of a request to the first byte of its stream.',
    labels: modelLabels,
    bounds: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  },
  gen_ai_server_time_per_output_token_seconds: {
    help: 'Time per token of a stream after its first one.',
    labels: modelLabels,
    bounds: [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
  },
  gen_ai_client_token_usage: {
    help: 'Tokens of a request, by type; input counts cached ones too.',
    labels: [...modelLabels, 'gen_ai_token_type'],
    bounds: Array.from({ length: 14 }, (_, i) => 4 ** i),
  },
};

const counters = {
  gateway_requests_total: {
    help: 'Exchanges that are over.',
    labels: ['project', 'endpoint', 'outcome', 'status'],
  },
  gateway_refusals_total: {
    help: 'Exchanges that the gateway refused, by reason.',
    labels: ['project', 'reason'],
  },
  gateway_failures_total: {
    help: 'Exchanges without an answer or with a truncated one, by reason.',
    labels: ['provider', 'reason'],
  },
  gateway_policy_decisions_total: {
    help: 'Decisions of the policies on requests.',
    labels: ['project', 'decision'],
  },
  gateway_policy_rule_matches_total: {
    help: 'Rules that matched, in a request, in what was to leave or in an answer.',
    labels: ['rule', 'action', 'mode'],
  },
  gateway_monitored_limit_hits_total: {
    help: 'Requests that a limit in monitor mode would have refused.',
    labels: ['limit'],
  },
  gateway_tokens_total: {
    help: 'Tokens used; cache_read and cache_write are part of input, reasoning is part of output.',
    labels: ['project', 'provider', 'model', 'type'],
  },
  gateway_cost_usd_total: {
    help: 'What providers charge, where the price is known.',
    labels: ['project', 'provider', 'model'],
  },
  gateway_provider_requests_total: {
    help: 'Requests sent to providers, including retries and fallbacks.',
    labels: ['provider'],
  },
};

export const operations: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(dialects).map(({ name, operation }) => [name, operation])),
  count_tokens: 'count_tokens',
};
const tokenTypes = [
  ['input', 'input_tokens'],
  ['output', 'output_tokens'],
  ['cache_read', 'cache_read_tokens'],
  ['cache_write', 'cache_write_tokens'],
  ['reasoning', 'reasoning_tokens'],
] as const;
/** For requests without a valid key or with an unknown path. */
const otherEndpoint = 'other';

/** Counts exchanges. No label has a value that clients choose: see `modelLabel`. */
export class ExchangeMetrics {
  readonly #histograms = familiesOf(histograms, (options) => new HistogramFamily(options));
  readonly #counters = familiesOf(counters, (options) => new CounterFamily(options));
  readonly #modelLabel: (model: string) => string;

  /** `modelLabel` turns a name that a client chose into one of a bounded set. */
  constructor(modelLabel: (model: string) => string) {
    this.#modelLabel = modelLabel;
  }

  ended({ record }: { readonly record: ExchangeRecord }): void {
    const { project = '', endpoint = otherEndpoint, outcome, status, reason = '', decision } = record;
    const counts = this.#counters;
    counts.gateway_requests_total.add(1, project, endpoint, outcome, String(status));
    if (outcome === 'refused') counts.gateway_refusals_total.add(1, project, reason);
    if (outcome === 'failed') counts.gateway_failures_total.add(1, record.provider ?? '', reason);
    if (decision !== undefined) counts.gateway_policy_decisions_total.add(1, project, decision);
    for (const { id, action, mode } of record.rules ?? [])
      counts.gateway_policy_rule_matches_total.add(1, id, action, mode);
    for (const limit of record.would_limit ?? []) counts.gateway_monitored_limit_hits_total.add(1, limit);
    if (record.provider !== undefined) this.#countProvider(record, record.provider);
  }

  read(): MetricData[] {
    const families = [...Object.values(this.#histograms), ...Object.values(this.#counters)];
    return families.map((family) => family.read());
  }

  #countProvider(record: ExchangeRecord, provider: string): void {
    const { endpoint = '', model = '', project = '', usage, first_byte_ms: firstMs } = record;
    const name = this.#modelLabel(model);
    const labels = [operations[endpoint] ?? otherEndpoint, provider, name];
    const [counts, times] = [this.#counters, this.#histograms];
    times.gen_ai_server_request_duration_seconds.observe(
      record.total_ms / 1_000,
      ...labels,
      errorType(record),
    );
    counts.gateway_provider_requests_total.add(record.attempts ?? 0, provider);
    if (usage === undefined) return;
    times.gen_ai_client_token_usage.observe(usage.input_tokens, ...labels, 'input');
    times.gen_ai_client_token_usage.observe(usage.output_tokens, ...labels, 'output');
    for (const [type, tokens] of tokenTypes)
      counts.gateway_tokens_total.add(usage[tokens], project, provider, name, type);
    counts.gateway_cost_usd_total.add(record.cost_usd ?? 0, project, provider, name);
    if (record.outcome !== 'answered' || record.stream !== true || firstMs === undefined) return;
    times.gen_ai_server_time_to_first_token_seconds.observe(firstMs / 1_000, ...labels);
    const following = usage.output_tokens - 1;
    if (following <= 0) return;
    const perToken = (record.total_ms - firstMs) / 1_000 / following;
    times.gen_ai_server_time_per_output_token_seconds.observe(perToken, ...labels);
  }
}

/** Empty if nothing went wrong, so that the label is absent for Prometheus. */
function errorType({ reason, status, outcome }: ExchangeRecord): string {
  if (reason !== undefined) return reason;
  return status >= 400 || outcome !== 'answered' ? String(status) : '';
}

/** A family for each row of a table, by its name. */
function familiesOf<Name extends string, Row extends object, Family>(
  table: Readonly<Record<Name, Row>>,
  create: (options: Row & { readonly name: string }) => Family,
): Readonly<Record<Name, Family>> {
  const families = Object.entries<Row>(table).map(([name, row]) => [name, create({ ...row, name })]);
  return Object.fromEntries(families); // of the same names
}
