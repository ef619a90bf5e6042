import { useState } from 'preact/hooks';
import type { SendAgainAnswer, SendAgainRequest } from '../../contract/actions.ts';
import type { ExchangeDetail } from '../../contract/exchange-detail.ts';
import type { Live } from '../live.ts';
import { messageOf } from '../session.ts';
import { Problem } from '../shell/controls.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { toIndented } from '../text/json-lines.ts';

interface Properties {
  readonly live: Live;
  readonly detail: ExchangeDetail;
  onClose(): void;
  onOpenId(id: string): void;
}

/** Sends the request once more, with another model or an edited body, like any other request. */
export function SendAgain({ live, detail, onClose, onOpenId }: Properties) {
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
