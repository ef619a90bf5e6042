import type { ComponentChildren } from 'preact';
import type { ExchangeDetail } from '../../contract/exchange-detail.ts';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { toHash } from '../address.ts';
import { noFilter, toQuery } from '../filter.ts';
import { formatBytes, formatCost, formatCount, formatDuration } from '../format.ts';
import { parts } from '../list/cells.tsx';
import { openExchange } from '../navigate.ts';
import { visibleLine } from '../text/visible.ts';
import { Rules } from './rules.tsx';

/** Who asked for what, where it went, how long each phase took, and what each rule decided. */
export function Overview({ detail }: { readonly detail: ExchangeDetail }) {
  const { row, attempts, form, route, dropped, changed, message, cause } = detail;
  const { tokens, again } = row;
  return (
    <>
      <dl class="members">
        <Fact name="Project">{row.project}</Fact>
        <Fact name="Key">{row.key}</Fact>
        <Fact name="Client">{row.client}</Fact>
        <Fact name="Session">
          {row.session && (
            <>
              {row.key === undefined ? (
                row.session
              ) : (
                <a href={toHash({ name: 'session', key: row.key, id: row.session })}>{row.session}</a>
              )}{' '}
              <a href={location.pathname + toQuery({ ...noFilter, text: row.session })}>its exchanges here</a>
            </>
          )}
        </Fact>
        <Fact name="Model">{row.model}</Fact>
        <Fact name="Route">{route && routeText(route)}</Fact>
        <Fact name="Sent to">
          {attempts.length > 0 && (
            <ol class="attempts">
              {attempts.map(({ provider, model, at_ms }) => (
                <li key={at_ms}>
                  {visibleLine(`${provider} / ${model}`)}{' '}
                  <small class="number">after {formatDuration(at_ms)}</small>
                </li>
              ))}
            </ol>
          )}
        </Fact>
        <Fact name="Body">{form && (formTexts[form] ?? form)}</Fact>
        <Fact name="Left out">{visibleLine(dropped.join(', '))}</Fact>
        <Fact name="Changed by the model list">{changed.join(', ')}</Fact>
        <Fact name="Tokens">
          {tokens &&
            `${formatCount(tokens.input)} in, ${formatCount(tokens.output)} out, ${formatCount(tokens.cached)} cached${tokens.estimated ? ' (estimated)' : ''}`}
        </Fact>
        <Fact name="Cost">{row.cost_usd !== undefined && formatCost(row.cost_usd)}</Fact>
        <Fact name="Bytes">{`${formatBytes(row.bytes_in)} in, ${formatBytes(row.bytes_out)} out`}</Fact>
        <Fact name="Ended">{row.reason && `${row.outcome ?? ''}: ${row.reason}`}</Fact>
        <Fact name="Message">{message}</Fact>
        <Fact name="Cause">{cause}</Fact>
        <Fact name="Sent again from">
          {again && (
            <button type="button" class="link" onClick={() => openExchange(again)}>
              {again}
            </button>
          )}
        </Fact>
      </dl>
      <h3>Time</h3>
      <Waterfall row={row} />
      <h3>Rules</h3>
      {detail.rules.length === 0 && row.state === 'finished' && row.decision === undefined ? (
        <p class="note">It ended before any rule was evaluated.</p>
      ) : (
        <Rules rules={detail.rules} hasAllRules={detail.all_rules} examples={detail.examples} />
      )}
    </>
  );
}

const formTexts: Readonly<Record<string, string>> = {
  exact: 'sent exactly as it came',
  spliced: 'sent as it came except for the model name',
  translated: 'translated to the provider’s dialect',
  masked: 'sent with placeholders, which were restored in the answer',
  redacted: 'sent with redactions',
};

/** Why it took which entry of the model list. */
function routeText({ entry, by }: NonNullable<ExchangeDetail['route']>): string {
  const reasons = by.map(({ matcher, at }) => (at === undefined ? matcher : `${matcher} at ${at}`));
  return `models[${entry}], ${reasons.length === 0 ? 'which has no conditions' : reasons.join(', ')}`;
}

/** Nothing where nothing is known. */
function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  if (children === undefined || children === false || children === '') return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi>{typeof children === 'string' ? visibleLine(children) : children}</bdi>
      </dd>
    </div>
  );
}

function Waterfall({ row }: { readonly row: ExchangeRow }) {
  const { times, total_ms: totalMs } = row;
  if (times === undefined || totalMs === undefined) return <p class="note">Known when it has ended.</p>;
  let startMs = 0;
  const steps = parts.flatMap((part) => {
    const ms = times[part.name];
    if (ms === undefined) return [];
    const step = { ...part, ms, startMs };
    startMs += ms;
    return [step];
  });
  const percent = (ms: number) => `${(ms / Math.max(startMs, 0.001)) * 100}%`;
  return (
    <table class="waterfall">
      <tbody>
        {steps.map(({ name, title, explanation, background, ms, startMs }) => (
          <tr key={name} title={explanation}>
            <th scope="row">{title}</th>
            <td class="track">
              <span
                class="step"
                style={{ background, marginInlineStart: percent(startMs), width: percent(ms) }}
              />
            </td>
            <td class="number">{formatDuration(ms)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">total</th>
          <td />
          <td class="number">{formatDuration(totalMs)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
