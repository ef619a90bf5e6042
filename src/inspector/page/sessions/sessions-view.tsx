import type { AgentSession, AgentSessionList, SessionTokens } from '../../contract/agent-sessions.ts';
import { toHash } from '../address.ts';
import type { Filter } from '../filter.ts';
import { formatCost, formatCount, formatTime } from '../format.ts';
import type { Live } from '../live.ts';
import { visibleLine } from '../text/visible.ts';
import { useLoad } from '../use-call.ts';

interface Properties {
  readonly live: Live;
  readonly filter: Filter;
  onFilter(filter: Filter): void;
}

/** The latest sessions of agents. Asked for again when the traffic has a session that it had not. */
export function SessionsView({ live, filter, onFilter }: Properties) {
  const seen = new Set(live.traffic.rows.map(({ session }) => session)).size;
  const call = useLoad(live, String(seen), () =>
    live.session.get<AgentSessionList>('agent-sessions?since=30d'),
  );
  const part = filter.text.trim().toLowerCase();
  return (
    <main class="sessions-view">
      <div class="filter-bar">
        <input
          type="search"
          class="text"
          aria-label="Filter sessions"
          placeholder="session, agent, key or project"
          value={filter.text}
          onInput={(event) => onFilter({ ...filter, text: event.currentTarget.value })}
        />
      </div>
      {call.state === 'waiting' && <p class="note">Loading …</p>}
      {call.state === 'failed' && <p class="note">{call.message}</p>}
      {call.state === 'done' && (
        <Sessions
          found={call.answer.sessions.filter((session) => textOf(session).includes(part))}
          hasMore={call.answer.has_more}
        />
      )}
    </main>
  );
}

function textOf({ session, agent = '', key, project }: AgentSession): string {
  return `${session}\n${agent}\n${key}\n${project}`.toLowerCase();
}

function Sessions({
  found,
  hasMore,
}: {
  readonly found: readonly AgentSession[];
  readonly hasMore: boolean;
}) {
  if (found.length === 0)
    return (
      <p class="note">
        No session of the last 30 days: agents name theirs by themselves, other programs by x-gateway-session.
      </p>
    );
  return (
    <>
      <table class="sessions">
        <thead>
          <tr>
            <th>Session</th>
            <th>Agent</th>
            <th>Key</th>
            <th>Last</th>
            <th class="number">Requests</th>
            <th class="number">In</th>
            <th>Cached</th>
            <th class="number">Out</th>
            <th class="number">Cost</th>
          </tr>
        </thead>
        <tbody>
          {found.map((each) => (
            <tr key={`${each.key} ${each.session}`}>
              <td>
                <a href={toHash({ name: 'session', key: each.key, id: each.session })}>
                  <bdi>{visibleLine(each.session)}</bdi>
                </a>
              </td>
              <td>{each.agent ?? ''}</td>
              <td>
                <bdi>{visibleLine(each.key)}</bdi>
              </td>
              <td>{formatTime(each.last)}</td>
              <td class="number">{formatCount(each.requests)}</td>
              <td class="number">{formatCount(each.tokens.input)}</td>
              <td>
                <CacheBar tokens={each.tokens} />
              </td>
              <td class="number">{formatCount(each.tokens.output)}</td>
              <td class="number">{costText(each)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasMore && <p class="note">Earlier ones: gateway sessions -n 5000</p>}
    </>
  );
}

export function costText({ cost_usd: usd, unpriced, requests }: AgentSession): string {
  return unpriced === requests ? 'no price' : `${formatCost(usd)}${unpriced > 0 ? ' +' : ''}`;
}

/** How much of the input was read from a cache; `scale` tokens fill the width. */
export function CacheBar({ tokens, scale }: { readonly tokens: SessionTokens; readonly scale?: number }) {
  const { input, cached } = tokens;
  if (input === 0) return <span class="cache-bar" />;
  const percent = Math.floor((100 * Math.min(cached, input)) / input);
  const width = (count: number) => `${(100 * count) / Math.max(scale ?? input, 1)}%`;
  return (
    <span class="cache-bar" title={`${percent} % of ${formatCount(input)} tokens were read from a cache`}>
      <i class="hit" style={{ width: width(Math.min(cached, input)) }} />
      <i class="miss" style={{ width: width(Math.max(0, input - cached)) }} />
      <b class="number">{percent} %</b>
    </span>
  );
}
