import { useLayoutEffect, useReducer } from 'preact/hooks';
import type { Live } from './live.ts';

/** Renders the component again when what the page knows has changed. */
export function useLive(live: Live): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  // Not useEffect, which waits for a frame: an earlier change would be missed, and if it was the last one, the page
  // would stay out of date.
  useLayoutEffect(() => live.subscribe(() => redraw(undefined as never)), [live]);
}
