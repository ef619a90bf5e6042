import { useLayoutEffect, useRef } from 'preact/hooks';
import type { View } from './address.ts';

/**
 * Keeps the focus where the keyboard can go on: back in the list when an exchange is closed, and in the exchange when it
 * takes the place of the list, as it does in a narrow window. Otherwise the focus would be lost with the list.
 */
export function useFocusOfView(name: View['name']): void {
  const before = useRef(name);
  useLayoutEffect(() => {
    const last = before.current;
    before.current = name;
    if (last === name) return;
    const list = document.querySelector<HTMLElement>('.exchange-list');
    if (last === 'exchange' && name === 'traffic') list?.focus();
    if (name === 'exchange' && list?.offsetParent === null)
      document.querySelector<HTMLElement>('.exchange-pane [role=tab][aria-selected=true]')?.focus();
  }, [name]);
}
