import type { Body, ExchangeDetail } from '../../contract/exchange-detail.ts';
import type { ExchangeRow } from '../../contract/exchange-list.ts';
import { formatBytes } from '../format.ts';
import type { Live } from '../live.ts';
import { CopyButton } from '../shell/controls.tsx';
import { BodyText } from '../text/body-text.tsx';
import { visibleLine } from '../text/visible.ts';

/** The body as it came and as it left, side by side where they differ. */
export function RequestTab({ detail, live }: { readonly detail: ExchangeDetail; readonly live: Live }) {
  const { bodies, form, dropped } = detail;
  if (bodies?.received === undefined && bodies?.sent === undefined)
    return <NoBodies live={live} row={detail.row} />;
  const { received, sent } = bodies;
  const isSame = received !== undefined && sent !== undefined && form === 'exact';
  return (
    <>
      {dropped.length > 0 && (
        <p class="note">
          Not sent to the provider: <bdi>{visibleLine(dropped.join(', '))}</bdi>
        </p>
      )}
      <div class={isSame ? 'bodies' : 'bodies two'}>
        {received !== undefined && (
          <BodyColumn title={isSame ? 'As received, and exactly as sent' : 'As received'} body={received} />
        )}
        {sent !== undefined && !isSame && (
          <BodyColumn title={form === undefined ? 'As sent' : `As sent: ${form}`} body={sent} />
        )}
        {sent === undefined && <p class="note">Nothing was sent to a provider.</p>}
      </div>
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

export function NoBodies({ live, row }: { readonly live: Live; readonly row: ExchangeRow }) {
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
