import { type PageView, parseView, toHash } from './address.ts';

/** Goes to a view; a step takes the place of the one before on the way back. */
export function go(view: PageView, { isStep = false } = {}): void {
  if (isStep) location.replace(toHash(view));
  else location.assign(toHash(view));
}

/** Shows an exchange: beside the list, or in the place and in the tab of the one that is open. */
export function openExchange(id: string): void {
  const view = parseView(location.hash);
  const isOpen = view.name === 'exchange';
  go({ name: 'exchange', id, tab: isOpen ? view.tab : 'overview' }, { isStep: isOpen });
}
