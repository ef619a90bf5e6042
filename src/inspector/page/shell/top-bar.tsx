import { type PageView, titles } from '../address.ts';
import { formatClock } from '../format.ts';
import type { Live } from '../live.ts';
import { go } from '../navigate.ts';
import { ProblemNote } from './controls.tsx';

interface Properties {
  readonly live: Live;
  readonly view: PageView;
  onHelp(): void;
  onLeave(): void;
}

const parents: Partial<Record<PageView['name'], PageView['name']>> = {
  exchange: 'traffic',
  session: 'sessions',
};

export function TopBar({ live, view, onHelp, onLeave }: Properties) {
  const { connection } = live;
  const current = parents[view.name] ?? view.name;
  return (
    <header class="top-bar">
      <h1>gateway</h1>
      <nav aria-label="Views">
        {(['traffic', 'now', 'try', 'sessions'] as const).map((name) => (
          <button
            type="button"
            class="quiet"
            key={name}
            aria-current={name === current ? 'page' : undefined}
            onClick={() => go({ name })}
          >
            {titles[name]}
          </button>
        ))}
      </nav>
      <span class="spring" />
      <KeepBodies live={live} />
      <ProblemNote>{live.keepFailure}</ProblemNote>
      <span
        class={`connection ${connection.state}`}
        role="status"
        title={connection.state === 'cut' ? connection.why : undefined}
      >
        {connection.state === 'cut' ? 'disconnected, retrying' : connection.state}
      </span>
      <button type="button" class="quiet" onClick={onLeave}>
        Sign out
      </button>
      <button type="button" class="quiet" aria-label="Keys" aria-keyshortcuts="?" onClick={onHelp}>
        ?
      </button>
    </header>
  );
}

function KeepBodies({ live }: { readonly live: Live }) {
  const until = live.now?.keeps_bodies;
  if (live.now === undefined) return null;
  if (until === 'always') return <span class="note">bodies are kept</span>;
  if (until !== undefined)
    return (
      <button
        type="button"
        class="keeping"
        title="Stop, and drop those that are kept"
        onClick={() => void live.keepBodies(0)}
      >
        Bodies kept until {formatClock(until).slice(0, 5)} · stop
      </button>
    );
  return (
    <button
      type="button"
      title="Keep requests and answers in this gateway's memory for the next ten minutes"
      onClick={() => void live.keepBodies(10)}
    >
      Keep bodies 10 min
    </button>
  );
}
