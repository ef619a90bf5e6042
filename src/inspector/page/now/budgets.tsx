import type { BreakerState, BudgetState } from '../../contract/now.ts';
import { formatCost, formatCount, formatTime } from '../format.ts';
import { visibleLine } from '../text/visible.ts';

export function Budgets({ budgets }: { readonly budgets: readonly BudgetState[] }) {
  return (
    <section>
      <h2>Budgets and limits</h2>
      {budgets.length === 0 && <p class="note">None are configured.</p>}
      <ul class="budgets">
        {budgets.map((budget) => {
          const name = `${budget.scope} ${budget.name}: ${budget.limit.replaceAll('_', ' ').replace('usd', 'USD')}`;
          const show = budget.limit.startsWith('usd') ? formatCost : formatCount;
          const part = budget.max > 0 ? budget.used / budget.max : 1;
          return (
            <li key={name} class={part >= 1 ? 'over' : part >= 0.8 ? 'near' : ''}>
              <span>
                <bdi>{visibleLine(name)}</bdi>
                {budget.mode !== 'enforce' && <span class="tag">{budget.mode}</span>}
              </span>
              <span class="number">
                {show(budget.used)} of {show(budget.max)}
              </span>
              <meter aria-label={name} min={0} max={1} value={Math.min(1, part)} />
              {budget.resets !== undefined && (
                <small class="note">resets at {formatTime(budget.resets)}</small>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

export function Breakers({ breakers }: { readonly breakers: readonly BreakerState[] }) {
  return (
    <section>
      <h2>Providers</h2>
      {breakers.length === 0 && <p class="note">None has been called yet.</p>}
      <ul class="breakers">
        {breakers.map(({ provider, state, open_models, active, queued }) => (
          <li key={provider} class={state}>
            <bdi>{visibleLine(provider)}</bdi>
            <span class={`breaker ${state}`}>
              {state === 'closed' ? 'available' : 'circuit breaker open'}
            </span>
            <span class="note">
              {`${active} in flight`}
              {queued > 0 && `, ${queued} queued`}
              {open_models > 0 &&
                `, breaker open for ${open_models} ${open_models === 1 ? 'model' : 'models'}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
