import { useState } from 'preact/hooks';
import type { SendAgainRequest, SendAgainResponse } from '../../contract/actions.ts';
import type { ExchangeDetail, TextResponse } from '../../contract/exchange-detail.ts';
import type { Live } from '../live.ts';
import { go, openExchange } from '../navigate.ts';
import { messageOfCall } from '../session.ts';
import { CopyButton, Dialog, ProblemNote } from '../shell/controls.tsx';
import { toIndented } from '../text/json-lines.ts';
import { useLoad } from '../use-call.ts';

interface Properties {
  readonly live: Live;
  readonly detail: ExchangeDetail;
}

/** Texts that can be copied of an exchange, by the ends of their paths. */
const texts = {
  test: { title: 'As a policy test', hint: 'Save it and run it: gateway policy test' },
  curl: { title: 'The same request with curl', hint: 'The key is read from the environment.' },
} as const;
type TextName = keyof typeof texts;

export function Actions({ live, detail }: Properties) {
  const [open, setOpen] = useState<'send' | TextName>();
  const close = () => setOpen(undefined);
  const { id } = detail.row;
  const hasBody = detail.bodies !== undefined;
  return (
    <div class="actions">
      <button type="button" disabled={!hasBody} onClick={() => setOpen('send')}>
        Send again …
      </button>
      <button type="button" disabled={!hasBody} onClick={() => go({ name: 'try', id })}>
        Try a policy
      </button>
      <button type="button" disabled={!hasBody} onClick={() => setOpen('test')}>
        Make a test
      </button>
      <button type="button" disabled={!hasBody} onClick={() => setOpen('curl')}>
        Copy as curl
      </button>
      {!hasBody && <p class="note">These need the body, which is not kept.</p>}
      {open === 'send' && <SendAgain live={live} detail={detail} onClose={close} />}
      {(open === 'test' || open === 'curl') && <TextDialog live={live} id={id} name={open} onClose={close} />}
    </div>
  );
}

interface TextProperties {
  readonly live: Live;
  readonly id: string;
  readonly name: TextName;
  onClose(): void;
}

function TextDialog({ live, id, name, onClose }: TextProperties) {
  const call = useLoad(live, name, () =>
    live.session.get<TextResponse>(`exchanges/${encodeURIComponent(id)}/${name}`),
  );
  return (
    <Dialog title={texts[name].title} onClose={onClose}>
      <p class="note">{texts[name].hint}</p>
      {call.state === 'failed' && <ProblemNote>{call.message}</ProblemNote>}
      {call.state === 'done' && (
        <>
          <pre class="to-copy" role="region" tabIndex={0} aria-label={call.answer.name}>
            {call.answer.text}
          </pre>
          <footer>
            <code>{call.answer.name}</code>
            <CopyButton text={call.answer.text} />
          </footer>
        </>
      )}
    </Dialog>
  );
}

interface SendProperties extends Properties {
  onClose(): void;
}

/** Sends the request once more, with another model or an edited body, like any other request. */
function SendAgain({ live, detail, onClose }: SendProperties) {
  const original = toIndented(detail.bodies?.received.text ?? '');
  const isCut = detail.bodies?.received.truncated === true;
  const [model, setModel] = useState('');
  const [body, setBody] = useState(original);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<string>();
  const send = async (event: Event) => {
    event.preventDefault();
    setSending(true);
    const request: SendAgainRequest = {
      id: detail.row.id,
      model: model.trim() || undefined,
      body: body === original ? undefined : body,
    };
    try {
      const { id } = await live.session.post<SendAgainResponse>('send-again', request);
      onClose();
      openExchange(id);
    } catch (error) {
      setFailure(messageOfCall(error));
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
        <ProblemNote>{failure}</ProblemNote>
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
