import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ExchangeRow } from '../contract/exchange-list.ts';
import { type PageView, parseView, titles } from './address.ts';
import { ExchangePane } from './exchange/exchange-pane.tsx';
import { type Filter, parseFilter, toQuery } from './filter.ts';
import { Help, useKeys } from './keys.tsx';
import { TrafficView } from './list/traffic-view.tsx';
import type { Live } from './live.ts';
import { go, openExchange } from './navigate.ts';
import { NowView } from './now/now-view.tsx';
import { tokenInAddress } from './session.ts';
import { SessionView } from './sessions/session-view.tsx';
import { SessionsView } from './sessions/sessions-view.tsx';
import { SignIn, SignOut } from './shell/sign-in.tsx';
import { TopBar } from './shell/top-bar.tsx';
import type { Scratch } from './try/scratch.ts';
import { TryView } from './try/try-view.tsx';

export function App({ live }: { readonly live: Live }) {
  useLive(live);
  const [hash, setHash] = useState(location.hash);
  const [query, setQuery] = useState(location.search);
  const view = parseView(hash);
  const filter = useMemo(() => parseFilter(query), [query]);
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
      setHash(location.hash);
      setQuery(location.search);
      const next = parseView(location.hash);
      if (next.name === 'exchange') setSelected(next.id);
    };
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);

  const narrow = (next: Filter) => {
    const address = location.pathname + toQuery(next) + location.hash;
    // The way back has a step for each choice, and not for each letter.
    const isTyping = next.text !== filter.text && next.text !== '' && filter.text !== '';
    if (isTyping) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
    setQuery(location.search);
  };
  useFocusOfView(view.name);
  useEffect(() => {
    document.title = live.isSignedOut ? 'gateway' : `${titles[view.name]} – gateway`;
  }, [view.name, live.isSignedOut]);
  /** By `step` rows, at most to the end. */
  const move = (step: number) => {
    const rows = shown.current;
    const index = rows.findIndex(({ id }) => id === selected) + step;
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (row === undefined) return;
    setSelected(row.id);
    if (view.name === 'exchange') openExchange(row.id);
  };
  useKeys(
    {
      1: () => go({ name: 'traffic' }),
      2: () => go({ name: 'now' }),
      3: () => go({ name: 'try' }),
      4: () => go({ name: 'sessions' }),
      j: () => move(1),
      k: () => move(-1),
      Escape: () => {
        if (view.name === 'exchange') go({ name: 'traffic' });
        if (view.name === 'session') go({ name: 'sessions' });
      },
      '/': () => document.querySelector<HTMLElement>('[type=search]')?.focus(),
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
      Enter: () => selected !== undefined && openExchange(selected),
    },
  );

  if (live.isSignedOut) {
    if (live.hasLeft) scratch.current = undefined; // it may hold a prompt
    return <SignIn live={live} />;
  }
  return (
    <div class="page">
      <TopBar live={live} view={view} onHelp={() => setHelp(true)} onLeave={() => setLeaving(true)} />
      {view.name === 'now' && <NowView live={live} />}
      {view.name === 'sessions' && <SessionsView live={live} filter={filter} onFilter={narrow} />}
      {view.name === 'session' && (
        <SessionView key={`${view.key} ${view.id}`} live={live} id={view.id} keyId={view.key} />
      )}
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
function useFocusOfView(name: PageView['name']): void {
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
