import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type {
  BreakerState,
  BudgetState,
  HistoryResponse,
  HistoryStep,
  Minute,
} from '../../contract/events.ts';
import { formatCost, formatCount, formatDuration, formatTime } from '../format.ts';
import type { Live } from '../live.ts';
import { Toggles } from '../shell/controls.tsx';
import { visibleLine } from '../text/visible.ts';
import { useLoad } from '../use-call.ts';
import { Chart, type Series } from './chart.tsx';

const spans = { hour: 'Last hour', day: '24 hours', week: '7 days', month: '30 days' } as const;
type Span = keyof typeof spans;
const paths = {
  day: 'history?by=hour&since=24h',
  week: 'history?by=day&since=7d',
  month: 'history?by=day&since=30d',
} as const;

/** What is happening now, at a glance. */
export function NowView({ live }: { readonly live: Live }) {
  const [span, setSpan] = useState<Span>('hour');
  return (
    <main class="now-view">
      <Toggles label="Time shown" titles={spans} value={span} onChange={setSpan} />
      {span === 'hour' ? <LastHour live={live} /> : <History live={live} span={span} />}
    </main>
  );
}

function LastHour({ live }: { readonly live: Live }) {
  const { now } = live;
  if (now === undefined) return <p class="note">{live.failure ?? 'Loading …'}</p>;
  const { minutes } = now;
  const times = minutes.map(({ time }) => time);
  const [requests, ...usage] = figuresOf(minutes);
  const blocks = byReason(minutes, 'blocks', ['--block', '--series-4', '--series-5']);
  const errors = byReason(minutes, 'errors', ['--fail', '--series-2', '--series-3']);
  const blocked = sum(blocks.flatMap(({ values }) => values));
  const failed = sum(errors.flatMap(({ values }) => values));
  const latest = minutes.findLast(({ first_byte_ms }) => first_byte_ms !== undefined)?.first_byte_ms;
  const reasons = [...blocks, ...errors].map(({ name, values }) => `${name} ${sum(values)}`).join(', ');
  return (
    <>
      <Figures
        figures={[
          requests,
          ['blocked', formatCount(blocked), blocked > 0 ? 'block' : ''],
          ['failed', formatCount(failed), failed > 0 ? 'fail' : ''],
          ...usage,
          ['first byte now, p50', latest === undefined ? '–' : formatDuration(latest.p50)],
          ['open', String(now.open.exchanges)],
          ['streams', String(now.open.streams)],
        ]}
      />
      <UsageCharts steps={minutes} step="minute" span="the last hour">
        <Chart
          title="Blocked and failed, by reason"
          summary={`${blocked} blocked and ${failed} failed in the last hour: ${reasons || 'none'}`}
          times={times}
          series={[...blocks, ...errors]}
        />
        <Chart
          title="First byte"
          summary={`Time to the first byte${latest === undefined ? '' : `: half within ${formatDuration(latest.p50)}, 95 % within ${formatDuration(latest.p95)}`}`}
          times={times}
          format={formatDuration}
          series={[
            {
              name: 'p50',
              color: '--series-1',
              values: minutes.map(({ first_byte_ms: ms }) => ms?.p50 ?? 0),
            },
            {
              name: 'up to p95',
              color: '--series-2',
              values: minutes.map(({ first_byte_ms: ms }) => (ms === undefined ? 0 : ms.p95 - ms.p50)),
            },
          ]}
        />
      </UsageCharts>
      <div class="states">
        <Budgets budgets={now.budgets} />
        <Breakers breakers={now.breakers} />
      </div>
    </>
  );
}

function History({ live, span }: { readonly live: Live; readonly span: Exclude<Span, 'hour'> }) {
  const history = useLoad(live, span, () => live.session.get<HistoryResponse>(paths[span]));
  if (history.state === 'waiting') return <p class="note">Loading …</p>;
  if (history.state === 'failed') return <p class="note">{history.message}</p>;
  const { steps, by } = history.answer;
  return (
    <>
      <Figures figures={figuresOf(steps)} />
      <p class="note">From the ledger, in which refused requests are not counted.</p>
      <UsageCharts steps={steps} step={by} span={spans[span]} />
    </>
  );
}

type Figure = readonly [name: string, value: string, kind?: string];

function figuresOf(steps: readonly HistoryStep[]): readonly [Figure, Figure, Figure] {
  return [
    ['requests', formatCount(sum(steps.map((step) => step.requests)))],
    ['tokens', formatCount(sum(steps.map(({ tokens }) => tokens.input + tokens.output)))],
    ['cost', formatCost(sum(steps.map((step) => step.cost_usd)))],
  ];
}

function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(([name, value, kind = '']) => (
        <div key={name} class={kind}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ChartsProperties {
  readonly steps: readonly HistoryStep[];
  readonly step: string;
  /** All of them together. */
  readonly span: string;
  readonly children?: ComponentChildren;
}

function UsageCharts({ steps, children, step, span }: ChartsProperties) {
  const times = steps.map(({ time }) => time);
  const requests = steps.map((each) => each.requests);
  const costs = steps.map((each) => each.cost_usd);
  const input = steps.map(({ tokens }) => Math.max(0, tokens.input - tokens.cached));
  const cached = steps.map(({ tokens }) => tokens.cached);
  const output = steps.map(({ tokens }) => tokens.output);
  return (
    <div class="charts">
      <Chart
        title={`Requests per ${step}`}
        summary={`Requests per ${step}: ${sum(requests)} in ${span}`}
        times={times}
        series={[{ name: 'requests', color: '--series-1', values: requests }]}
      />
      {children}
      <Chart
        title={`Tokens per ${step}`}
        summary={`Tokens: ${sum(input) + sum(cached)} in, of these ${sum(cached)} cached, ${sum(output)} out`}
        times={times}
        series={[
          { name: 'in', color: '--series-1', values: input },
          { name: 'cached', color: '--series-4', values: cached },
          { name: 'out', color: '--series-2', values: output },
        ]}
      />
      <Chart
        title={`Cost per ${step}`}
        summary={`${formatCost(sum(costs))} in ${span}`}
        times={times}
        format={formatCost}
        series={[{ name: 'cost', color: '--series-3', values: costs }]}
      />
    </div>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** One series for each of the most frequent reasons, as many as there are colours; one for all others together. */
function byReason(
  minutes: readonly Minute[],
  what: 'blocks' | 'errors',
  colors: readonly string[],
): Series[] {
  const totals = new Map<string, number>();
  for (const minute of minutes) {
    for (const [reason, count] of Object.entries(minute[what]))
      totals.set(reason, (totals.get(reason) ?? 0) + count);
  }
  const reasons = [...totals].sort((a, b) => b[1] - a[1]).map(([reason]) => reason);
  const named = reasons.length > colors.length ? colors.length - 1 : colors.length;
  const groups = reasons.slice(0, named).map((reason) => ({ name: visibleLine(reason), reasons: [reason] }));
  const rest = reasons.slice(named);
  if (rest.length > 0) groups.push({ name: `${rest.length} other reasons`, reasons: rest });
  return groups.map(({ name, reasons }, index) => ({
    name,
    color: colors[index] ?? '',
    values: minutes.map((minute) => sum(reasons.map((reason) => minute[what][reason] ?? 0))),
  }));
}

function Budgets({ budgets }: { readonly budgets: readonly BudgetState[] }) {
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
            <li key={name}>
              <span>
                <bdi>{visibleLine(name)}</bdi>
                {budget.mode !== 'enforce' && <span class="tag">{budget.mode}</span>}
              </span>
              <span class="number">
                {show(budget.used)} of {show(budget.max)}
              </span>
              <meter aria-label={name} low={0.8} high={0.999} optimum={0} value={part} />
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

function Breakers({ breakers }: { readonly breakers: readonly BreakerState[] }) {
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
