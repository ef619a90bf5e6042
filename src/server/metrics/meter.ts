import type { ModelEntry } from '../../config/build/models.ts';
import type { Config } from '../../config/config.ts';
import type { GatewayServer } from '../../gateway/serve.ts';
import { memoize } from '../../lib/memoize.ts';
import type { Counters } from '../../limits/counters.ts';
import { knownModelName } from '../../limits/known-models.ts';
import { limitTable } from '../../limits/limit-table.ts';
import { type LimitState, planBudgets, readLimits } from '../../limits/limiter.ts';
import { nanoUsdPerUsd } from '../../limits/price.ts';
import { ExchangeMetrics } from '../../record/metrics/exchange-metrics.ts';
import type { MetricData } from '../../record/metrics/families.ts';
import { type BudgetGauge, ProcessMetrics } from '../../record/metrics/process-metrics.ts';
import { sandboxModels } from '../../sandbox/models.ts';

/** For names that only the client knows. */
const otherModel = 'other';

/**
 * Maps the model name that a client sent to one of a bounded set, for metric labels: a configured name, or that of a
 * well-known model without its date; everything else is `other`.
 */
export function createModelLabel(
  models: readonly Pick<ModelEntry, 'match' | 'isPattern'>[],
): (model: string) => string {
  const configured = models.flatMap(({ match, isPattern }) => (isPattern ? [] : [match]));
  const names = new Set([...configured, ...sandboxModels.map(({ id }) => id)]);
  return memoize((model) => (names.has(model) ? model : (knownModelName(model) ?? otherModel)));
}

type MeteredConfig = Pick<Config, 'models' | 'limits'>;

/** Measures what this process does, from one configuration to the next. */
export class Meter {
  /** Subscribes to every exchange. */
  readonly exchanges: ExchangeMetrics;
  readonly #process = new ProcessMetrics();
  #config: MeteredConfig;
  #modelLabel: (model: string) => string;

  constructor(config: MeteredConfig) {
    this.#config = config;
    this.#modelLabel = createModelLabel(config.models);
    this.exchanges = new ExchangeMetrics((model) => this.#modelLabel(model));
  }

  /** Uses another configuration from now on; counts are kept. */
  follow(config: MeteredConfig): void {
    this.#config = config;
    this.#modelLabel = createModelLabel(config.models);
  }

  async read(server: GatewayServer, counters: Counters): Promise<readonly MetricData[]> {
    const budgets = await readLimits(counters, planBudgets(this.#config.limits), Date.now());
    return [...this.exchanges.read(), ...this.#process.read(server.gauges(), budgets.map(toGauge))];
  }

  close(): void {
    this.#process.close();
  }
}

function toGauge({ scope, limit, max, remaining }: LimitState): BudgetGauge {
  const isMoney = limitTable[limit].unit === 'nanoUsd';
  const perUnit = isMoney ? nanoUsdPerUsd : 1;
  return {
    scope: scope.kind,
    name: scope.name,
    limit,
    unit: isMoney ? 'usd' : 'tokens',
    max: max / perUnit,
    remaining: remaining / perUnit,
  };
}
