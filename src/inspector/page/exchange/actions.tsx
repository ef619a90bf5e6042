import { useState } from 'preact/hooks';
import type { ExchangeDetail, TextAnswer } from '../../contract/exchange-detail.ts';
import type { Live } from '../live.ts';
import { messageOf } from '../session.ts';
import { CopyButton, Problem } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { SendAgain } from './send-again.tsx';

interface Properties {
  readonly live: Live;
  readonly detail: ExchangeDetail;
  onOpenId(id: string): void;
  onTry(id: string): void;
}

type Open =
  | { readonly kind: 'send' }
  | { readonly kind: 'text'; readonly title: string; readonly hint: string; readonly answer: TextAnswer };

export function Actions({ live, detail, onOpenId, onTry }: Properties) {
  const [open, setOpen] = useState<Open>();
  const [failure, setFailure] = useState<string>();
  const { id } = detail.row;
  const hasBody = detail.bodies?.received !== undefined;
  const show = async (what: 'curl' | 'test', title: string, hint: string) => {
    try {
      const answer = await live.session.get<TextAnswer>(`exchanges/${encodeURIComponent(id)}/${what}`);
      setFailure(undefined);
      setOpen({ kind: 'text', title, hint, answer });
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  return (
    <div class="actions">
      <button type="button" disabled={!hasBody} onClick={() => setOpen({ kind: 'send' })}>
        Send again …
      </button>
      <button type="button" disabled={!hasBody} onClick={() => onTry(id)}>
        Try a policy
      </button>
      <button
        type="button"
        disabled={!hasBody}
        onClick={() => void show('test', 'As a policy test', 'Save it and run it: gateway policy test')}
      >
        Make a test
      </button>
      <button
        type="button"
        disabled={!hasBody}
        onClick={() =>
          void show('curl', 'The same request with curl', 'The key is read from the environment.')
        }
      >
        Copy as curl
      </button>
      {!hasBody && <p class="note">These need the body, which is not kept.</p>}
      <Problem>{failure}</Problem>
      {open?.kind === 'send' && (
        <SendAgain live={live} detail={detail} onClose={() => setOpen(undefined)} onOpenId={onOpenId} />
      )}
      {open?.kind === 'text' && (
        <Dialog title={open.title} onClose={() => setOpen(undefined)}>
          <p class="note">{open.hint}</p>
          <pre class="to-copy" role="region" tabIndex={0} aria-label={open.answer.name}>
            {open.answer.text}
          </pre>
          <footer>
            <code>{open.answer.name}</code>
            <CopyButton text={open.answer.text} />
          </footer>
        </Dialog>
      )}
    </div>
  );
}
