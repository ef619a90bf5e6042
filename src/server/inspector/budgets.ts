import type { KeyLimits } from '../../config/build/keys.ts';
import type { BudgetState } from '../../inspector/contract/now.ts';
import type { Counters } from '../../limits/counters.ts';
import { limitTable } from '../../limits/limit-table.ts';
import type { LimitState } from '../../limits/limiter.ts';
import { peekLimits } from '../../limits/peek.ts';
import { nanoUsdPerUsd } from '../../limits/price.ts';

const maxScopes = 100;
/** Milliseconds that readings are cached: counters may be in Redis, which must not be asked for every page every second. */
const freshMs = 2_000;

/** The state of every limit, read at most every two seconds. */
export class Budgets {
  readonly #counters: Counters;
  #last: { readonly atMs: number; readonly states: Promise<readonly BudgetState[]> } | undefined;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  read(limits: readonly KeyLimits[]): Promise<readonly BudgetState[]> {
    const nowMs = Date.now();
    if (this.#last === undefined || nowMs - this.#last.atMs >= freshMs) {
      this.#last = { atMs: nowMs, states: this.#readAll(limits, nowMs) };
    }
    return this.#last.states;
  }

  async #readAll(limits: readonly KeyLimits[], nowMs: number): Promise<readonly BudgetState[]> {
    try {
      const scopes = limits.slice(0, maxScopes);
      const states = await Promise.all(scopes.map((scope) => peekLimits(this.#counters, scope, nowMs)));
      return scopes.flatMap((scope, i) =>
        (states[i] ?? []).map((state) => toState(state, scope.settings.mode, nowMs)),
      );
    } catch {
      return []; // the counters are unreachable, which the gateway logs
    }
  }
}

function toState({ limit, scope, max, used, resetMs }: LimitState, mode: string, nowMs: number): BudgetState {
  const { unit, kind } = limitTable[limit];
  const inUnit = (value: number) => (unit === 'nanoUsd' ? value / nanoUsdPerUsd : value);
  return {
    scope: scope.kind,
    name: scope.name,
    limit,
    max: inUnit(max),
    used: inUnit(used),
    ...(kind === 'period' ? { resets: new Date(nowMs + resetMs).toISOString() } : {}),
    mode,
  };
}
