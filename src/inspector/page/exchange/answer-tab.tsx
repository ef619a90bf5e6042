import { useState } from 'preact/hooks';
import type { AnswerPart, ExchangeDetail, StreamEvent } from '../../contract/exchange-detail.ts';
import { formatDuration } from '../format.ts';
import type { Live } from '../live.ts';
import { Toggles } from '../shell/controls.tsx';
import { BodyText, MarkedLine } from '../text/body-text.tsx';
import { visibleLine } from '../text/visible.ts';
import { BodyColumn, NoBodies } from './request-tab.tsx';

const ways = { text: 'Assembled', events: 'Event by event', raw: 'As it came' } as const;

/** The answer; for a stream its assembled text, its events, or its raw bytes. */
export function AnswerTab({ detail, live }: { readonly detail: ExchangeDetail; readonly live: Live }) {
  const [wanted, setWanted] = useState<keyof typeof ways>('text');
  const { answer, answer_parts: parts, events } = detail.bodies ?? {};
  if (answer === undefined && !detail.row.bodies) return <NoBodies live={live} row={detail.row} />;
  if (answer === undefined)
    return (
      <p class="note">
        {detail.row.state === 'open'
          ? 'No answer yet.'
          : 'Nothing came from a provider: the client got one of the gateway’s own errors.'}
      </p>
    );
  if (parts === undefined && events === undefined)
    return <BodyColumn title="As the client got it" body={answer} />;
  return (
    <>
      <Toggles label="How the answer is shown" titles={ways} value={wanted} onChange={setWanted} />
      {wanted === 'text' && (
        <div class="prose">
          {parts?.map((part, index) => (
            <Part key={index} part={part} />
          ))}
          {(parts ?? []).length === 0 && <p class="note">The events carry neither text nor tool calls.</p>}
        </div>
      )}
      {wanted === 'events' && <EventList events={events ?? []} />}
      {wanted === 'raw' && <BodyColumn title="As the client got it" body={answer} />}
    </>
  );
}

const partTitles = { thinking: 'Thinking', refusal: 'Refusal', call: 'Tool call', error: 'Error' } as const;

function Part({ part: { kind, name, text, marks = [] } }: { readonly part: AnswerPart }) {
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

function EventList({ events }: { readonly events: readonly StreamEvent[] }) {
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
              <td>
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
