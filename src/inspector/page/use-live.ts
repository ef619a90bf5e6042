import { useEffect, useReducer } from 'preact/hooks';
import type { Live } from './live.ts';

/** Renders the component again when what the page knows has changed. */
export function useLive(live: Live): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => live.subscribe(() => redraw(undefined as never)), [live]);
}
