import { useState } from 'preact/hooks';
import type { SendAgainAnswer, SendAgainRequest } from '../../contract/actions.ts';
import type { ExchangeDetail, TextAnswer } from '../../contract/exchange-detail.ts';
import type { Live } from '../live.ts';
import { messageOf } from '../session.ts';
import { CopyButton, Dialog, Problem } from '../shell/controls.tsx';
import { toIndented } from '../text/json-lines.ts';

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

interface SendProperties {
  readonly live: Live;
  readonly detail: ExchangeDetail;
  onClose(): void;
  onOpenId(id: string): void;
}

/** Sends the request once more, with another model or an edited body, like any other request. */
function SendAgain({ live, detail, onClose, onOpenId }: SendProperties) {
  const original = toIndented(detail.bodies?.received?.text ?? '');
  const isCut = detail.bodies?.received?.truncated === true;
  const [model, setModel] = useState('');
  const [body, setBody] = useState(original);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string>();
  const send = async (event: Event) => {
    event.preventDefault();
    setSending(true);
    const request: SendAgainRequest = {
      id: detail.row.id,
      ...(model.trim() !== '' && { model: model.trim() }),
      ...(body !== original && { body }),
    };
    try {
      const { id } = await live.session.post<SendAgainAnswer>('send-again', request);
      onClose();
      onOpenId(id);
    } catch (error) {
      setFailure(messageOf(error));
      setSending(false);
    }
  };
  return (
    <Dialog title="Send again" onClose={onClose}>
      <form class="send-again" onSubmit={(event) => void send(event)}>
        <p class="note">
          It passes the same key's policies and limits, and reaches the provider if they allow it.
        </p>
        <label>
          Model
          <input
            value={model}
            placeholder={detail.row.model ?? ''}
            onInput={(event) => setModel(event.currentTarget.value)}
            spellcheck={false}
          />
        </label>
        <label>
          Body
          <textarea
            rows={14}
            value={body}
            disabled={isCut}
            spellcheck={false}
            onInput={(event) => setBody(event.currentTarget.value)}
          />
        </label>
        {isCut && (
          <p class="note">It is too long to be edited here: its beginning is shown, and all of it is sent.</p>
        )}
        <Problem>{failure}</Problem>
        <footer>
          <span class="note">{body === original ? 'body unchanged' : 'body edited'}</span>
          <button type="submit" class="primary" disabled={isSending}>
            {isSending ? 'Sending …' : 'Send'}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
