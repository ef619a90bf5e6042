import { useState } from 'preact/hooks';
import type { Body, ExchangeDetail, ShownEvent, ShownPart } from '../../contract/exchange-detail.ts';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { formatBytes, formatDuration } from '../format.ts';
import type { Live } from '../live.ts';
import { CopyButton, Toggles } from '../shell/controls.tsx';
import { BodyText, MarkedLine } from '../text/body-text.tsx';
import { visibleLine } from '../text/visible.ts';

interface Properties {
  readonly detail: ExchangeDetail;
  readonly live: Live;
}

/** The body as it came and as it left, side by side where they differ. */
export function RequestTab({ detail, live }: Properties) {
  const { bodies, form, dropped } = detail;
  if (bodies === undefined) return <NoBodies live={live} row={detail.row} />;
  const { received, sent } = bodies;
  const isSame = sent !== undefined && form === 'exact';
  return (
    <>
      {dropped.length > 0 && (
        <p class="note">
          Not sent to the provider: <bdi>{visibleLine(dropped.join(', '))}</bdi>
        </p>
      )}
      <div class={isSame ? 'bodies' : 'bodies two'}>
        <BodyColumn title={isSame ? 'As received, and exactly as sent' : 'As received'} body={received} />
        {sent !== undefined && !isSame && (
          <BodyColumn title={form === undefined ? 'As sent' : `As sent: ${form}`} body={sent} />
        )}
        {sent === undefined && <p class="note">Nothing was sent to a provider.</p>}
      </div>
    </>
  );
}

const ways = { text: 'Assembled', events: 'Event by event', raw: 'As it came' } as const;

/** The answer; for a stream its assembled text, its events, or its raw bytes. */
export function AnswerTab({ detail, live }: Properties) {
  const [wanted, setWanted] = useState<keyof typeof ways>('text');
  if (detail.bodies === undefined) return <NoBodies live={live} row={detail.row} />;
  const { answer, answer_parts: parts = [], events } = detail.bodies;
  if (answer === undefined)
    return (
      <p class="note">
        {detail.row.state === 'open'
          ? 'No answer yet.'
          : 'Nothing came from a provider: the client got one of the gateway’s own errors.'}
      </p>
    );
  if (events === undefined) return <BodyColumn title="As the client got it" body={answer} />;
  return (
    <>
      <Toggles label="How the answer is shown" titles={ways} value={wanted} onChange={setWanted} />
      {wanted === 'text' && (
        <div class="prose">
          {parts.map((part, index) => (
            <BodyTab key={index} part={part} />
          ))}
          {parts.length === 0 && <p class="note">The events carry neither text nor tool calls.</p>}
        </div>
      )}
      {wanted === 'events' && <EventList events={events} />}
      {wanted === 'raw' && <BodyColumn title="As the client got it" body={answer} />}
    </>
  );
}

const partTitles = { thinking: 'Thinking', refusal: 'Refusal', call: 'Tool call', error: 'Error' } as const;

function BodyTab({ part: { kind, name, text, marks = [] } }: { readonly part: ShownPart }) {
  if (kind === 'more') return <p class="note">There is more: see the events.</p>;
  const title = kind === 'text' ? undefined : partTitles[kind];
  return (
    <section class={`part ${kind}`}>
      {title !== undefined && (
        <h3>
          {title} {name !== undefined && <bdi>{visibleLine(name)}</bdi>}
        </h3>
      )}
      <BodyText
        label={title ?? "The answer's text"}
        body={{ bytes: text.length, text, truncated: false, marks }}
      />
    </section>
  );
}

function EventList({ events }: { readonly events: readonly ShownEvent[] }) {
  const [most, setMost] = useState(200);
  return (
    <>
      <table class="events">
        <thead>
          <tr>
            <th scope="col">After</th>
            <th scope="col">Event</th>
            <th scope="col">Data</th>
          </tr>
        </thead>
        <tbody>
          {events.slice(0, most).map(({ at_ms, name, data, marks = [] }, index) => (
            <tr key={index}>
              <td class="number">{formatDuration(at_ms)}</td>
              <td>
                <bdi>{visibleLine(name ?? '')}</bdi>
              </td>
              <td class="data">
                <MarkedLine text={data} marks={marks} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {events.length > most && (
        <button type="button" class="more" onClick={() => setMost(most * 5)}>
          Show more of {events.length}
        </button>
      )}
    </>
  );
}

export function BodyColumn({ title, body }: { readonly title: string; readonly body: Body }) {
  return (
    <section class="body-column">
      <header>
        <h3>{title}</h3>
        <span class="note">{formatBytes(body.bytes)}</span>
        <CopyButton text={body.text} label={body.truncated ? 'Copy what is shown' : 'Copy'} />
      </header>
      <BodyText body={body} label={title} />
    </section>
  );
}

function NoBodies({ live, row }: { readonly live: Live; readonly row: ExchangeRow }) {
  if (row.state === 'finished' && row.bytes_in === 0)
    return <p class="note">It had no body, or was refused before its body was read.</p>;
  const isKeeping = live.now?.keeps_bodies !== undefined;
  return (
    <div class="no-bodies">
      <p>
        The bodies of this exchange were not kept. They are kept in memory only, and only while you ask for
        it.
      </p>
      {isKeeping ? (
        <p>They are kept now: the next exchange has them.</p>
      ) : (
        <button type="button" onClick={() => void live.keepBodies(10)}>
          Keep bodies for the next ten minutes
        </button>
      )}
    </div>
  );
}
