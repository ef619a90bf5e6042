import { useState } from 'preact/hooks';
import type { ExchangeDetail, HeaderLine } from '../../contract/exchange-detail.ts';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { type Tab, tabs } from '../address.ts';
import { formatTime } from '../format.ts';
import { DecisionCell, StatusCell } from '../list/cells.tsx';
import type { Live } from '../live.ts';
import { go } from '../navigate.ts';
import { BodyText } from '../text/body-text.tsx';
import { visibleLine } from '../text/visible.ts';
import { useLoad } from '../use-call.ts';
import { Actions } from './actions.tsx';
import { AnswerTab, RequestTab } from './body-tabs.tsx';
import { Overview } from './overview.tsx';

interface Properties {
  readonly live: Live;
  readonly id: string;
  readonly tab: Tab;
  /** The exchange's current row; missing if the list no longer has it. */
  readonly row: ExchangeRow | undefined;
}

export function ExchangePane({ live, id, tab, row }: Properties) {
  const [refreshes, setRefreshes] = useState(0);
  // Loaded again when the exchange has ended.
  const detail = useLoad(live, `${id} ${row?.state} ${refreshes}`, () =>
    live.session.get<ExchangeDetail>(`exchanges/${encodeURIComponent(id)}`),
  );
  const known = detail.state === 'done' && detail.answer.row.id === id ? detail.answer : undefined;
  const shownRow = row ?? known?.row;
  return (
    <section class="exchange-pane" aria-label={`Exchange ${id}`}>
      <header class="pane-head">
        <div class="pane-title">
          {shownRow !== undefined && <StatusCell row={shownRow} />}
          <h2>
            <bdi>{shownRow === undefined ? id : visibleLine(`${shownRow.method} ${shownRow.path}`)}</bdi>
          </h2>
          <button
            type="button"
            class="quiet close"
            aria-label="Close the exchange"
            aria-keyshortcuts="Escape"
            onClick={() => go({ name: 'traffic' })}
          >
            ✕
          </button>
        </div>
        {shownRow !== undefined && (
          <p class="pane-summary">
            <DecisionCell row={shownRow} />
            <span>{formatTime(shownRow.time)}</span>
            <code>{shownRow.id}</code>
          </p>
        )}
        {known !== undefined && <Actions live={live} detail={known} />}
        <Tabs id={id} tab={tab} />
      </header>
      <div class="pane-body" role="tabpanel" id="exchange-panel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {known === undefined ? (
          <p class="note">{detail.state === 'failed' ? detail.message : 'Loading …'}</p>
        ) : (
          <>
            {/* Not refreshed by itself: every rule is evaluated again for it. */}
            {known.row.state === 'open' && (
              <p class="note">
                Still in progress.{' '}
                <button type="button" onClick={() => setRefreshes(refreshes + 1)}>
                  Refresh
                </button>
              </p>
            )}
            {tab === 'overview' && <Overview detail={known} />}
            {tab === 'headers' && <HeadersTab detail={known} />}
            {tab === 'request' && <RequestTab detail={known} live={live} />}
            {tab === 'answer' && <AnswerTab detail={known} live={live} />}
            {tab === 'record' && <RecordTab detail={known} />}
          </>
        )}
      </div>
    </section>
  );
}

function Tabs({ id, tab }: Pick<Properties, 'id' | 'tab'>) {
  const show = (next: Tab) => go({ name: 'exchange', id, tab: next }, { isStep: true });
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length] ?? tab;
    document.getElementById(`tab-${next}`)?.focus();
    show(next);
  };
  return (
    <div class="tabs" role="tablist" aria-label="Parts of the exchange" onKeyDown={move}>
      {tabs.map((one) => (
        <button
          type="button"
          role="tab"
          id={`tab-${one}`}
          key={one}
          aria-selected={one === tab}
          aria-controls="exchange-panel"
          tabIndex={one === tab ? 0 : -1}
          onClick={() => show(one)}
        >
          {one.charAt(0).toUpperCase() + one.slice(1)}
        </button>
      ))}
    </div>
  );
}

function RecordTab({ detail }: { readonly detail: ExchangeDetail }) {
  if (detail.record === undefined)
    return <p class="note">The record is written when the exchange has ended.</p>;
  const text = JSON.stringify(detail.record);
  return <BodyText label="The record" body={{ bytes: text.length, text, truncated: false, marks: [] }} />;
}

function HeadersTab({ detail }: { readonly detail: ExchangeDetail }) {
  // Every request that came here has some.
  if (detail.headers.length === 0)
    return (
      <p class="note">
        Records hold no headers, and this exchange is known from its record: the gateway was restarted since.
      </p>
    );
  return (
    <>
      <h3>Request headers</h3>
      <Headers lines={detail.headers} sent="As sent to the provider" />
      <h3>Answer headers</h3>
      <Headers lines={detail.answer_headers} sent="As sent to the client" />
      <p class="note">Secret values are shortened to their first characters.</p>
    </>
  );
}

function Headers({ lines, sent }: { readonly lines: readonly HeaderLine[]; readonly sent: string }) {
  if (lines.length === 0) return <p class="note">None.</p>;
  const hasReceived = lines.some((line) => line.received !== undefined);
  const hasSent = lines.some((line) => line.sent !== undefined);
  return (
    <table class="headers">
      <thead>
        <tr>
          <th scope="col">Name</th>
          {hasReceived && <th scope="col">As received</th>}
          {hasSent && <th scope="col">{sent}</th>}
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <tr key={line.name} class={changeOf(line, hasReceived && hasSent)}>
            <th scope="row">
              <bdi>{visibleLine(line.name)}</bdi>
            </th>
            {hasReceived && <Value value={line.received} missing="added" />}
            {hasSent && <Value value={line.sent} missing="left out" />}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ value, missing }: { readonly value: string | undefined; readonly missing: string }) {
  return <td>{value === undefined ? <i class="note">{missing}</i> : <bdi>{visibleLine(value)}</bdi>}</td>;
}

function changeOf({ received, sent }: HeaderLine, isCompared: boolean): string {
  if (!isCompared || received === sent) return '';
  if (received === undefined) return 'added';
  return sent === undefined ? 'left-out' : 'changed';
}
