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

const pageRows = 20;
const views = { 1: 'traffic', 2: 'now', 3: 'try' } as const;

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
  if (key in views) {
    actions.onView(views[key as unknown as keyof typeof views]); // checked by `in`
    return true;
  }
  switch (key) {
    case 'j':
      actions.onMove(1);
      return true;
    case 'k':
      actions.onMove(-1);
      return true;
    case 'ArrowDown':
    case 'ArrowUp':
      if (isInList) actions.onMove(key === 'ArrowDown' ? 1 : -1);
      return isInList;
    case 'PageDown':
    case 'PageUp':
      if (isInList) actions.onMove(key === 'PageDown' ? pageRows : -pageRows);
      return isInList;
    case 'Home':
    case 'End':
      if (isInList) actions.onMove(key === 'End' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
      return isInList;
    case 'Enter':
      if (isInList) actions.onEnter();
      return isInList;
    case 'Escape':
      actions.onEscape();
      return true;
    case '/':
      document.querySelector<HTMLElement>('.filter-bar .text')?.focus();
      return true;
    case 'p':
      actions.onPause();
      return true;
    case '?':
      actions.onHelp();
      return true;
    default:
      return false;
  }
}
