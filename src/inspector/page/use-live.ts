import { useLayoutEffect, useReducer } from 'preact/hooks';
import type { Live } from './live.ts';

/** Renders the component again when what the page knows has changed. */
export function useLive(live: Live): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  // Not useEffect, which waits for a frame: a change before that would go unnoticed, and the last one stay so.
  useLayoutEffect(() => live.subscribe(() => redraw(undefined as never)), [live]);
}
