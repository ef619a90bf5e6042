/** What the page shows, as given by the fragment of its URL. */
export type View =
  | { readonly name: 'traffic' }
  | { readonly name: 'exchange'; readonly id: string; readonly tab: Tab }
  | { readonly name: 'now' }
  | { readonly name: 'try'; readonly id: string | undefined };

export const tabs = ['overview', 'headers', 'request', 'answer', 'record'] as const;
export type Tab = (typeof tabs)[number];

export function parseView(hash: string): View {
  const [name, id = '', tab] = hash.replace(/^#\/?/, '').split('/');
  if (name === 'now') return { name };
  if (name === 'try') return { name, id: id === '' ? undefined : id };
  if (name === 'exchange' && id !== '')
    return { name, id, tab: tabs.find((one) => one === tab) ?? 'overview' };
  return { name: 'traffic' };
}

export function toHash(view: View): string {
  switch (view.name) {
    case 'traffic':
      return '#/';
    case 'now':
      return '#/now';
    case 'try':
      return view.id === undefined ? '#/try' : `#/try/${view.id}`;
    case 'exchange':
      return `#/exchange/${view.id}${view.tab === 'overview' ? '' : `/${view.tab}`}`;
  }
}

/** Goes to a view; a step takes the place of the one before on the way back. */
export function go(view: View, { isStep = false } = {}): void {
  if (isStep) location.replace(toHash(view));
  else location.assign(toHash(view));
}

/** Shows an exchange: beside the list, or in the place and in the tab of the one that is open. */
export function openExchange(id: string): void {
  const view = parseView(location.hash);
  const isOpen = view.name === 'exchange';
  go({ name: 'exchange', id, tab: isOpen ? view.tab : 'overview' }, { isStep: isOpen });
}
