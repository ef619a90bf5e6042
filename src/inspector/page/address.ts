/** What the page shows, as given by the fragment of its URL. */
export type View =
  | { readonly name: 'traffic' }
  | { readonly name: 'exchange'; readonly id: string; readonly tab: Tab }
  | { readonly name: 'now' }
  | { readonly name: 'try'; readonly id?: string | undefined };

export const titles = {
  traffic: 'Traffic',
  exchange: 'Exchange',
  now: 'Now',
  try: 'Try a policy',
} as const satisfies Record<View['name'], string>;

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
