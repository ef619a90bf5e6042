import { useEffect, useRef } from 'preact/hooks';
import { Dialog } from './shell/controls.tsx';

/** What each key does. */
type Shortcuts = Readonly<Record<string, () => void>>;

/**
 * The page's keys: single ones only if no text is being written, and none while a dialog is open. Those of the list work
 * where it has the focus, or nothing has.
 */
export function useKeys(anywhere: Shortcuts, inList: Shortcuts): void {
  const current = useRef({ anywhere, inList });
  current.current = { anywhere, inList };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') !== null)
        return;
      const target = event.target instanceof HTMLElement ? event.target : document.body;
      if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
        if (event.key === 'Escape') target.blur();
        return;
      }
      const { anywhere, inList } = current.current;
      const isInList = target === document.body || target.closest('.exchange-list') !== null;
      const action = anywhere[event.key] ?? (isInList ? inList[event.key] : undefined);
      if (action === undefined) return;
      action();
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

const keys = [
  ['j / k, ↓ / ↑', 'next, previous exchange'],
  ['PgUp, PgDn, Home, End', 'by 20, to the newest, to the oldest'],
  ['Enter', 'open the exchange'],
  ['Esc', 'close it, leave a field'],
  ['/', 'filter by text'],
  ['p', 'pause, resume'],
  ['1 2 3 4', 'traffic, now, try a policy, sessions'],
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
