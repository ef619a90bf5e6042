import { useState } from 'preact/hooks';
import type { AgentSessionDetail } from '../../contract/agent-sessions.ts';
import { toHash } from '../address.ts';
import { formatClock, formatCost, formatCount, formatDuration, formatTime } from '../format.ts';
import type { Live } from '../live.ts';
import { Chart } from '../now/chart.tsx';
import { visibleLine } from '../text/visible.ts';
import { useLoad } from '../use-call.ts';
import { agentsOf, type ShownTurn, showTurns } from './session-turns.ts';
import { CacheBar, costText } from './sessions-view.tsx';

interface Properties {
  readonly live: Live;
  readonly id: string;
  readonly keyId: string;
}

/** What one session did: its agents, and each turn with what it added and read from a cache. */
export function SessionView({ live, id, keyId }: Properties) {
  const ended = live.traffic.rows.filter(
    ({ session, state }) => session === id && state === 'finished',
  ).length;
  const query = new URLSearchParams({ session: id, key: keyId });
  const call = useLoad(live, String(ended), () =>
    live.session.get<AgentSessionDetail>(`agent-session?${query}`),
  );
  return (
    <main class="sessions-view">
      <h2>
        <a href={toHash({ name: 'sessions' })}>Sessions</a> / <bdi>{visibleLine(id)}</bdi>
      </h2>
      {call.state === 'waiting' && <p class="note">Loading …</p>}
      {call.state === 'failed' && <p class="note">{call.message}</p>}
      {call.state === 'done' && <Detail detail={call.answer} />}
    </main>
  );
}

function Detail({ detail: { session, turns } }: { readonly detail: AgentSessionDetail }) {
  const [only, setOnly] = useState<string | undefined | null>(null);
  const shown = showTurns(turns);
  const some = only === null ? shown : shown.filter(({ subagent }) => subagent === only);
  const missed = some.filter(({ hasMissed }) => hasMissed).length;
  const times = some.map(({ time }) => time);
  return (
    <>
      <p class="note">
        {session.agent ?? 'unknown agent'}, key {visibleLine(session.key)}, since{' '}
        {formatTime(session.started)}: {formatCount(session.requests)} requests,{' '}
        {formatCount(session.tokens.input)} tokens in, {formatCount(session.tokens.output)} out,{' '}
        {costText(session)}
        {missed > 0 && (
          <b class="missed"> {missed === 1 ? 'One turn' : `${missed} turns`} missed the cache.</b>
        )}
      </p>
      <Agents agents={agentsOf(turns)} only={only} onOnly={setOnly} />
      <div class="charts">
        <Chart
          title="Input of each turn"
          summary={`Input of ${some.length} turns; ${missed} missed the cache`}
          times={times}
          series={[
            { name: 'cached', color: '--series-3', values: some.map(({ tokens }) => tokens.cached) },
            {
              name: 'not cached',
              color: '--series-2',
              values: some.map(({ tokens }) => Math.max(0, tokens.input - tokens.cached)),
            },
          ]}
        />
        <Chart
          title="Cost of each turn"
          summary={`Cost of ${some.length} turns`}
          times={times}
          format={formatCost}
          series={[{ name: 'cost', color: '--series-1', values: some.map(({ cost_usd: usd = 0 }) => usd) }]}
        />
      </div>
      <Turns turns={some} />
    </>
  );
}

interface AgentsProperties {
  readonly agents: ReturnType<typeof agentsOf>;
  /** The agent whose turns are shown; null for all. */
  readonly only: string | undefined | null;
  onOnly(subagent: string | undefined | null): void;
}

/** Levels that are shown further to the right than the one above. */
const maxIndent = 8;

function Agents({ agents, only, onOnly }: AgentsProperties) {
  return (
    <ul class="agents" aria-label="Agents">
      {agents.map(({ subagent, parent, depth, requests, input, cached, output, cost_usd }) => (
        <li key={subagent ?? ''} style={{ paddingInlineStart: `${1.5 * Math.min(depth, maxIndent)}rem` }}>
          <button
            type="button"
            class="quiet"
            aria-pressed={only === subagent}
            onClick={() => onOnly(only === subagent ? null : subagent)}
          >
            <bdi>{subagent === undefined ? 'main agent' : visibleLine(subagent)}</bdi>
          </button>
          <CacheBar tokens={{ input, cached, output }} />
          <span class="note">
            {requests === 1 ? '1 request' : `${formatCount(requests)} requests`}, {formatCount(input)} in,{' '}
            {formatCount(output)} out, {formatCost(cost_usd)}
            {subagent === undefined && parent !== undefined && (
              <>
                , started by session <bdi>{visibleLine(parent)}</bdi>
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Turns({ turns }: { readonly turns: readonly ShownTurn[] }) {
  const scale = turns.reduce((most, { tokens }) => Math.max(most, tokens.input), 1);
  return (
    <table class="sessions turns">
      <thead>
        <tr>
          <th>Time</th>
          <th>Agent</th>
          <th>Model</th>
          <th class="number">Added</th>
          <th class="number">In</th>
          <th>Cached</th>
          <th class="number">Out</th>
          <th class="number">Cost</th>
          <th class="number">Total</th>
          <th>Outcome</th>
        </tr>
      </thead>
      <tbody>
        {turns.toReversed().map((turn) => (
          <tr key={turn.id} class={turn.hasMissed ? 'missed' : ''}>
            <td>
              <a href={toHash({ name: 'exchange', id: turn.id, tab: 'overview' })}>
                {formatClock(turn.time)}
              </a>
            </td>
            <td>
              <bdi>{turn.subagent === undefined ? '' : visibleLine(turn.subagent)}</bdi>
            </td>
            <td>
              <bdi>{visibleLine(turn.model)}</bdi>
            </td>
            <td class="number">
              {turn.added < 0 ? `−${formatCount(-turn.added)}` : `+${formatCount(turn.added)}`}
            </td>
            <td class="number">{formatCount(turn.tokens.input)}</td>
            <td>
              <CacheBar tokens={turn.tokens} scale={scale} />
            </td>
            <td class="number">{formatCount(turn.tokens.output)}</td>
            <td class="number">{turn.cost_usd !== undefined && formatCost(turn.cost_usd)}</td>
            <td class="number">{turn.total_ms !== undefined && formatDuration(turn.total_ms)}</td>
            <td>
              {turn.hasMissed
                ? 'missed the cache'
                : turn.outcome === 'answered'
                  ? ''
                  : (turn.reason ?? turn.outcome)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
