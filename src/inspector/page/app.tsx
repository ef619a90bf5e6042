import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ExchangeRow } from '../contract/exchange-list.ts';
import { parseView, type Tab, toHash, type View } from './address.ts';
import { ExchangePane } from './exchange/exchange-pane.tsx';
import { type Filter, parseFilter, toQuery } from './filter.ts';
import { Help, useKeys } from './keys.tsx';
import { TrafficView } from './list/traffic-view.tsx';
import type { Live } from './live.ts';
import { NowView } from './now/now-view.tsx';
import { tokenInAddress } from './session.ts';
import { SignIn, SignOut } from './shell/sign-in.tsx';
import { TopBar } from './shell/top-bar.tsx';
import type { Scratch } from './try/scratch.ts';
import { TryView } from './try/try-view.tsx';

const titles = { traffic: 'Traffic', exchange: 'Exchange', now: 'Now', try: 'Try a policy' } as const;

export function App({ live }: { readonly live: Live }) {
  useLive(live);
  const [view, setView] = useState(() => parseView(location.hash));
  const [filter, setFilter] = useState(() => parseFilter(location.search));
  const [selected, setSelected] = useState(view.name === 'exchange' ? view.id : undefined);
  const [isPaused, setPaused] = useState(false);
  const [hasHelp, setHelp] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const shown = useRef<readonly ExchangeRow[]>([]);
  const scratch = useRef<Scratch | undefined>(undefined);

  useEffect(() => {
    const follow = () => {
      // A link that is opened in this tab changes nothing but the fragment, so the page isn't loaded again.
      if (tokenInAddress() !== undefined) void live.enterByAddress();
      const next = parseView(location.hash);
      setView(next);
      if (next.name === 'exchange') setSelected(next.id);
      setFilter(parseFilter(location.search));
    };
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);

  const go = (next: View, { isStep = false } = {}) => {
    const address = location.pathname + location.search + toHash(next);
    if (isStep) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
    setView(next);
    if (next.name === 'exchange') setSelected(next.id);
  };
  const narrow = (next: Filter) => {
    const address = location.pathname + toQuery(next) + location.hash;
    // The way back has a step for each choice, and not for each letter.
    const isTyping = next.text !== filter.text && next.text !== '' && filter.text !== '';
    if (isTyping) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
    setFilter(next);
  };
  const tab: Tab = view.name === 'exchange' ? view.tab : 'overview';
  const open = (id: string) => go({ name: 'exchange', id, tab }, { isStep: view.name === 'exchange' });
  const close = () => go({ name: 'traffic' });
  useFocusOfView(view.name);
  useEffect(() => {
    document.title = live.isSignedOut ? 'gateway' : `${titles[view.name]} – gateway`;
  }, [view.name, live.isSignedOut]);
  /** By so many rows, at most to the end. */
  const move = (step: number) => {
    const rows = shown.current;
    const index = rows.findIndex(({ id }) => id === selected) + step;
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (row === undefined) return;
    setSelected(row.id);
    if (view.name === 'exchange') open(row.id);
  };
  useKeys(
    {
      1: () => go({ name: 'traffic' }),
      2: () => go({ name: 'now' }),
      3: () => go({ name: 'try', id: undefined }),
      j: () => move(1),
      k: () => move(-1),
      Escape: () => view.name === 'exchange' && close(),
      '/': () => document.querySelector<HTMLElement>('.filter-bar .text')?.focus(),
      p: () => setPaused(!isPaused),
      '?': () => setHelp(true),
    },
    {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      PageDown: () => move(20),
      PageUp: () => move(-20),
      Home: () => move(Number.NEGATIVE_INFINITY),
      End: () => move(Number.POSITIVE_INFINITY),
      Enter: () => selected !== undefined && open(selected),
    },
  );

  if (live.isSignedOut) {
    if (live.hasLeft) scratch.current = undefined; // it may hold a prompt
    return <SignIn live={live} />;
  }
  return (
    <div class="page">
      <TopBar
        live={live}
        view={view}
        onView={go}
        onHelp={() => setHelp(true)}
        onLeave={() => setLeaving(true)}
      />
      {view.name === 'now' && <NowView live={live} />}
      {view.name === 'try' && <TryView key={view.id} live={live} id={view.id} kept={scratch} />}
      {(view.name === 'traffic' || view.name === 'exchange') && (
        <main class={view.name === 'exchange' ? 'traffic split' : 'traffic'}>
          <div class="traffic-list">
            <TrafficView
              live={live}
              filter={filter}
              selected={selected}
              isPaused={isPaused}
              onFilter={narrow}
              onPause={() => setPaused(!isPaused)}
              onOpen={({ id }) => open(id)}
              shown={shown}
            />
          </div>
          {view.name === 'exchange' && (
            <ExchangePane
              key={view.id}
              live={live}
              id={view.id}
              tab={view.tab}
              row={live.traffic.get(view.id)}
              onTab={(next) => go({ ...view, tab: next }, { isStep: true })}
              onClose={close}
              onOpenId={open}
              onTry={(id) => go({ name: 'try', id })}
            />
          )}
        </main>
      )}
      {hasHelp && <Help onClose={() => setHelp(false)} />}
      {isLeaving && <SignOut live={live} onClose={() => setLeaving(false)} />}
    </div>
  );
}

/** Renders the component again when what the page knows has changed. */
function useLive(live: Live): void {
  const [, redraw] = useState({});
  // Not useEffect, which waits for a frame: an earlier change would be missed, and if it was the last one, the page
  // would stay out of date.
  useLayoutEffect(() => live.subscribe(() => redraw({})), [live]);
}

/**
 * Keeps the focus where the keyboard can go on: back in the list when an exchange is closed, and in the exchange when it
 * takes the place of the list, as it does in a narrow window. Otherwise the focus would be lost with the list.
 */
function useFocusOfView(name: View['name']): void {
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
