import type { Body, ExchangeDetail } from '../../contract/exchange-detail.ts';
import { formatBytes } from '../format.ts';
import type { Live } from '../live.ts';
import { CopyButton } from '../shell/copy-button.tsx';
import { BodyText } from '../text/body-text.tsx';
import { visibleLine } from '../text/visible.ts';
import { NoBodies } from './no-bodies.tsx';

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
