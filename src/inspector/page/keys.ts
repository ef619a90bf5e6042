import { useEffect, useRef } from 'preact/hooks';

interface Actions {
  /** By so many rows, at most to the end. */
  onMove(step: number): void;
  onEnter(): void;
  onEscape(): void;
  onPause(): void;
  onHelp(): void;
  onView(name: 'traffic' | 'now' | 'try'): void;
}

type Shortcut = (actions: Actions) => void;

const anywhere = new Map<string, Shortcut>([
  ['1', ({ onView }) => onView('traffic')],
  ['2', ({ onView }) => onView('now')],
  ['3', ({ onView }) => onView('try')],
  ['j', ({ onMove }) => onMove(1)],
  ['k', ({ onMove }) => onMove(-1)],
  ['Escape', ({ onEscape }) => onEscape()],
  ['/', () => document.querySelector<HTMLElement>('.filter-bar .text')?.focus()],
  ['p', ({ onPause }) => onPause()],
  ['?', ({ onHelp }) => onHelp()],
]);
const pageRows = 20;
const inList = new Map<string, Shortcut>([
  ['ArrowDown', ({ onMove }) => onMove(1)],
  ['ArrowUp', ({ onMove }) => onMove(-1)],
  ['PageDown', ({ onMove }) => onMove(pageRows)],
  ['PageUp', ({ onMove }) => onMove(-pageRows)],
  ['Home', ({ onMove }) => onMove(Number.NEGATIVE_INFINITY)],
  ['End', ({ onMove }) => onMove(Number.POSITIVE_INFINITY)],
  ['Enter', ({ onEnter }) => onEnter()],
]);

/** The page's keys: single ones only if no text is being written, and none while a dialog is open. */
export function useKeys(actions: Actions): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') !== null)
        return;
      const target = event.target instanceof HTMLElement ? event.target : document.body;
      if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
        if (event.key === 'Escape') target.blur();
        return;
      }
      if (handle(event.key, target, current.current)) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

/** Returns whether the key was a shortcut. */
function handle(key: string, target: HTMLElement, actions: Actions): boolean {
  const isInList = target === document.body || target.closest('.exchange-list') !== null;
  const action = anywhere.get(key) ?? (isInList ? inList.get(key) : undefined);
  action?.(actions);
  return action !== undefined;
}
