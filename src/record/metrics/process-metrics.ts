import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Gauges, ProviderGauges } from '../gauges.ts';
import type { MetricData } from './families.ts';

/** The state of a budget. */
export interface BudgetGauge {
  readonly scope: string;
  readonly name: string;
  readonly limit: string;
  readonly unit: 'usd' | 'tokens';
  readonly max: number;
  readonly remaining: number;
}

const nanoseconds = 1_000_000_000;
const resolutionMs = 20;

/** Measures a process: its event loop, memory and time, and what the gateway in it is doing. */
export class ProcessMetrics {
  readonly #delay = monitorEventLoopDelay({ resolution: resolutionMs });
  readonly #startedS = Date.now() / 1_000 - process.uptime();

  constructor() {
    this.#delay.enable();
  }

  close(): void {
    this.#delay.disable();
  }

  read({ open, providers, ledger, isStateShared }: Gauges, budgets: readonly BudgetGauge[]): MetricData[] {
    return [
      gauge('gateway_open_exchanges', 'Exchanges under way.', 'sum', open.exchanges),
      gauge('gateway_open_streams', 'Exchanges under way that asked for a stream.', 'sum', open.streams),
      ...ofProviders(providers),
      gauge(
        'gateway_state_connected',
        'Whether limits are counted where all who share them count; 0 while Redis is away.',
        'min',
        isStateShared ? 1 : 0,
      ),
      ...(ledger === undefined
        ? []
        : [
            gauge(
              'gateway_ledger_writable',
              'Whether usage can be written.',
              'min',
              ledger.isWritable && ledger.isMoving ? 1 : 0,
            ),
            gauge(
              'gateway_ledger_pending_changes',
              'Changes not in the database yet.',
              'sum',
              ledger.pending,
            ),
            gauge(
              'gateway_ledger_lag_seconds',
              'How long the oldest change has been waiting for the database.',
              'max',
              ledger.lagMs / 1_000,
            ),
          ]),
      ...ofBudgets(budgets),
      ...this.#eventLoop(),
      ...this.#process(),
    ];
  }

  /** Event loop delay since the last reading. */
  #eventLoop(): MetricData[] {
    // Milliseconds that the timer itself adds to each measurement.
    const seconds = (value: number) => Math.max(0, value / nanoseconds - resolutionMs / 1_000);
    const [p50, p99, max] = [this.#delay.percentile(50), this.#delay.percentile(99), this.#delay.max];
    this.#delay.reset();
    const help = (which: string) => `How late the event loop was since the last scrape: ${which}.`;
    return [
      gauge('gateway_event_loop_delay_p50_seconds', help('median'), 'max', seconds(p50)),
      gauge('gateway_event_loop_delay_p99_seconds', help('99th percentile'), 'max', seconds(p99)),
      gauge('gateway_event_loop_delay_max_seconds', help('longest'), 'max', seconds(max)),
    ];
  }

  #process(): MetricData[] {
    const { user, system } = process.cpuUsage();
    const cpu = 'CPU time of all processes that answer requests.';
    return [
      gauge('gateway_processes', 'Processes that answer requests.', 'sum', 1),
      {
        ...gauge('process_cpu_seconds_total', cpu, 'sum', (user + system) / 1_000_000),
        type: 'counter',
      },
      gauge('process_resident_memory_bytes', 'Memory in use.', 'sum', process.memoryUsage.rss()),
      gauge('process_start_time_seconds', 'When the first process began.', 'min', this.#startedS),
    ];
  }
}

function ofProviders(providers: readonly ProviderGauges[]): MetricData[] {
  const of = (
    name: string,
    help: string,
    aggregator: MetricData['aggregator'],
    value: (provider: ProviderGauges) => number,
  ): MetricData => ({
    name: `gateway_provider_${name}`,
    help,
    type: 'gauge',
    aggregator,
    values: providers.map((each) => ({ labels: { provider: each.name }, value: value(each) })),
  });
  return [
    of('active_requests', 'Exchanges that have a place at the provider.', 'sum', ({ active }) => active),
    of('queued_requests', 'Exchanges that wait for a place at the provider.', 'sum', ({ queued }) => queued),
    of('breaker_open', 'Whether the breaker keeps all requests away from the provider.', 'max', (each) =>
      each.isOpen ? 1 : 0,
    ),
    of(
      'open_model_breakers',
      'Models of the provider that a breaker keeps requests away from.',
      'max',
      ({ openModels }) => openModels,
    ),
  ];
}

function ofBudgets(budgets: readonly BudgetGauge[]): MetricData[] {
  const of = (unit: BudgetGauge['unit'], which: 'max' | 'remaining', help: string): MetricData => ({
    name: `gateway_budget_${which === 'max' ? 'limit' : which}_${unit}`,
    help,
    type: 'gauge',
    aggregator: 'min',
    values: budgets
      .filter((budget) => budget.unit === unit)
      .map(({ scope, name, limit, [which]: value }) => ({ labels: { scope, name, limit }, value })),
  });
  return [
    of('usd', 'remaining', 'US$ left of a budget, open requests counted with the most they can cost.'),
    of('usd', 'max', 'US$ that a budget allows in its period.'),
    of('tokens', 'remaining', 'Tokens left of a budget, open requests counted with the most they can use.'),
    of('tokens', 'max', 'Tokens that a budget allows in its period.'),
  ];
}

function gauge(name: string, help: string, aggregator: MetricData['aggregator'], value: number): MetricData {
  return { name, help, type: 'gauge', aggregator, values: [{ labels: {}, value }] };
}
