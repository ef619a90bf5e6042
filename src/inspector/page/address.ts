/** What the page shows, as given by the fragment of its URL. */
export type PageView =
  | { readonly name: 'traffic' }
  | { readonly name: 'exchange'; readonly id: string; readonly tab: Tab }
  | { readonly name: 'now' }
  | { readonly name: 'sessions' }
  | { readonly name: 'session'; readonly key: string; readonly id: string }
  | { readonly name: 'try'; readonly id?: string | undefined };

export const titles = {
  traffic: 'Traffic',
  exchange: 'Exchange',
  now: 'Now',
  try: 'Try a policy',
  sessions: 'Sessions',
  session: 'Session',
} as const satisfies Record<PageView['name'], string>;

export const tabs = ['overview', 'headers', 'request', 'answer', 'record'] as const;
export type Tab = (typeof tabs)[number];

export function parseView(hash: string): PageView {
  const [name, id = '', tab] = hash.replace(/^#\/?/, '').split('/');
  if (name === 'now') return { name };
  if (name === 'sessions') return { name };
  if (name === 'session' && id !== '' && tab) return { name, key: decoded(id), id: decoded(tab) };
  if (name === 'try') return { name, id: id === '' ? undefined : id };
  if (name === 'exchange' && id !== '')
    return { name, id, tab: tabs.find((one) => one === tab) ?? 'overview' };
  return { name: 'traffic' };
}

export function toHash(view: PageView): string {
  switch (view.name) {
    case 'traffic':
      return '#/';
    case 'now':
      return '#/now';
    case 'try':
      return view.id === undefined ? '#/try' : `#/try/${view.id}`;
    case 'sessions':
      return '#/sessions';
    case 'session':
      return `#/session/${encodeURIComponent(view.key)}/${encodeURIComponent(view.id)}`;
    case 'exchange':
      return `#/exchange/${view.id}${view.tab === 'overview' ? '' : `/${view.tab}`}`;
  }
}

/** As it is where it is no percent-encoding: somebody typed it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
