import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface Properties {
  readonly title: string;
  onClose(): void;
  readonly children: ComponentChildren;
}

/** A modal dialog: the browser keeps the focus inside and closes it on Escape. */
export function Dialog({ title, onClose, children }: Properties) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={() => element.current?.close()}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

const keys = [
  ['j / k, ↓ / ↑', 'next, previous exchange'],
  ['PgUp, PgDn, Home, End', 'by 20, to the newest, to the oldest'],
  ['Enter', 'open the exchange'],
  ['Esc', 'close it, leave a field'],
  ['/', 'filter by text'],
  ['p', 'pause, resume'],
  ['1 2 3', 'traffic, now, try a policy'],
  ['← →', 'tabs of the exchange, while one has the focus'],
  ['?', 'this list'],
] as const;

export function Help({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="note">
        Filters are part of the address: share it with anyone who can open this gateway’s page.
      </p>
    </Dialog>
  );
}
