import { useState } from 'preact/hooks';
import type { HistoryAnswer } from '../../contract/now.ts';
import { formatCost, formatCount, formatDuration } from '../format.ts';
import type { Live } from '../live.ts';
import { useCall } from '../use-call.ts';
import { Breakers, Budgets } from './budgets.tsx';
import { Chart } from './chart.tsx';
import { byReason, sum, toSeconds } from './series.ts';

const spans = {
  hour: { title: 'Last hour', path: undefined },
  day: { title: '24 hours', path: 'history?by=hour&since=24h' },
  week: { title: '7 days', path: 'history?by=day&since=7d' },
  month: { title: '30 days', path: 'history?by=day&since=30d' },
} as const;
type Span = keyof typeof spans;

/** What is happening now, at a glance. */
export function NowView({ live }: { readonly live: Live }) {
  const [span, setSpan] = useState<Span>('hour');
  return (
    <main class="now-view">
      <div class="toggles" role="group" aria-label="Time shown">
        {(Object.keys(spans) as Span[]).map((one) => (
          <button
            type="button"
            key={one}
            class="toggle"
            aria-pressed={one === span}
            onClick={() => setSpan(one)}
          >
            {spans[one].title}
          </button>
        ))}
      </div>
      {span === 'hour' ? <LastHour live={live} /> : <History live={live} span={span} />}
    </main>
  );
}

function LastHour({ live }: { readonly live: Live }) {
  const { now } = live;
  if (now === undefined) return <p class="note">{live.failure ?? 'Loading …'}</p>;
  const { minutes } = now;
  const times = minutes.map(({ time }) => toSeconds(time));
  const requests = sum(minutes.map((minute) => minute.requests));
  const cost = sum(minutes.map((minute) => minute.cost_usd));
  const blocks = byReason(minutes, 'blocks', ['--block', '--series-4', '--series-5']);
  const errors = byReason(minutes, 'errors', ['--fail', '--series-2', '--series-3']);
  const blocked = sum(blocks.flatMap(({ values }) => values));
  const failed = sum(errors.flatMap(({ values }) => values));
  const latest = minutes.findLast(({ first_byte_ms }) => first_byte_ms !== undefined)?.first_byte_ms;
  return (
    <>
      <dl class="figures">
        <Figure name="requests" value={formatCount(requests)} />
        <Figure name="blocked" value={formatCount(blocked)} kind={blocked > 0 ? 'block' : ''} />
        <Figure name="failed" value={formatCount(failed)} kind={failed > 0 ? 'fail' : ''} />
        <Figure
          name="tokens"
          value={formatCount(sum(minutes.map(({ tokens }) => tokens.input + tokens.output)))}
        />
        <Figure name="cost" value={formatCost(cost)} />
        <Figure name="first byte now, p50" value={latest === undefined ? '–' : formatDuration(latest.p50)} />
        <Figure name="open" value={String(now.open.exchanges)} />
        <Figure name="streams" value={String(now.open.streams)} />
      </dl>
      <div class="charts">
        <Chart
          title="Requests per minute"
          summary={`Requests per minute: ${requests} in the last hour`}
          times={times}
          series={[
            { name: 'requests', color: '--series-1', values: minutes.map((minute) => minute.requests) },
          ]}
        />
        <Chart
          title="Blocked and failed, by reason"
          summary={`${blocked} blocked and ${failed} failed in the last hour: ${[...blocks, ...errors].map(({ name, values }) => `${name} ${sum(values)}`).join(', ') || 'none'}`}
          times={times}
          series={[...blocks, ...errors]}
        />
        <Chart
          title="First byte"
          summary={`Time to the first byte${latest === undefined ? '' : `: half within ${formatDuration(latest.p50)}, 95 % within ${formatDuration(latest.p95)}`}`}
          times={times}
          kind="dashes"
          format={formatDuration}
          series={[
            {
              name: 'p50',
              color: '--series-1',
              values: minutes.map((minute) => minute.first_byte_ms?.p50 ?? null),
            },
            {
              name: 'p95',
              color: '--series-2',
              values: minutes.map((minute) => minute.first_byte_ms?.p95 ?? null),
            },
          ]}
        />
        <TokenChart steps={minutes} title="Tokens per minute" times={times} />
        <Chart
          title="Cost per minute"
          summary={`${formatCost(cost)} in the last hour`}
          times={times}
          format={formatCost}
          series={[{ name: 'cost', color: '--series-3', values: minutes.map((minute) => minute.cost_usd) }]}
        />
      </div>
      <div class="states">
        <Budgets budgets={now.budgets} />
        <Breakers breakers={now.breakers} />
      </div>
    </>
  );
}

function History({ live, span }: { readonly live: Live; readonly span: Exclude<Span, 'hour'> }) {
  const { path, title } = spans[span];
  const history = useCall(live, path, () => live.session.get<HistoryAnswer>(path));
  if (history.state === 'waiting') return <p class="note">Loading …</p>;
  if (history.state === 'failed') return <p class="note">{history.message}</p>;
  const { steps, by } = history.answer;
  const times = steps.map(({ time }) => toSeconds(time));
  const requests = sum(steps.map((step) => step.requests));
  const cost = sum(steps.map((step) => step.cost_usd));
  return (
    <>
      <dl class="figures">
        <Figure name="requests" value={formatCount(requests)} />
        <Figure
          name="tokens"
          value={formatCount(sum(steps.map(({ tokens }) => tokens.input + tokens.output)))}
        />
        <Figure name="cost" value={formatCost(cost)} />
      </dl>
      <p class="note">From the ledger, in which refused requests are not counted.</p>
      <div class="charts">
        <Chart
          title={`Requests per ${by}`}
          summary={`${requests} requests, ${title}`}
          times={times}
          series={[{ name: 'requests', color: '--series-1', values: steps.map((step) => step.requests) }]}
        />
        <TokenChart steps={steps} title={`Tokens per ${by}`} times={times} />
        <Chart
          title={`Cost per ${by}`}
          summary={`${formatCost(cost)}, ${title}`}
          times={times}
          format={formatCost}
          series={[{ name: 'cost', color: '--series-3', values: steps.map((step) => step.cost_usd) }]}
        />
      </div>
    </>
  );
}

interface TokenProperties {
  readonly steps: readonly {
    readonly tokens: { readonly input: number; readonly output: number; readonly cached: number };
  }[];
  readonly title: string;
  readonly times: readonly number[];
}

function TokenChart({ steps, title, times }: TokenProperties) {
  const input = steps.map(({ tokens }) => Math.max(0, tokens.input - tokens.cached));
  const cached = steps.map(({ tokens }) => tokens.cached);
  const output = steps.map(({ tokens }) => tokens.output);
  return (
    <Chart
      title={title}
      summary={`Tokens: ${sum(input) + sum(cached)} in, of these ${sum(cached)} cached, ${sum(output)} out`}
      times={times}
      series={[
        { name: 'in', color: '--series-1', values: input },
        { name: 'cached', color: '--series-4', values: cached },
        { name: 'out', color: '--series-2', values: output },
      ]}
    />
  );
}

function Figure({
  name,
  value,
  kind = '',
}: {
  readonly name: string;
  readonly value: string;
  readonly kind?: string;
}) {
  return (
    <div class={kind}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
