import { useEffect, useRef, useState } from 'preact/hooks';
import type { Live } from './live.ts';
import { messageOfCall } from './session.ts';

export type LoadState<Answer> =
  | { readonly state: 'waiting' }
  | { readonly state: 'done'; readonly answer: Answer }
  | { readonly state: 'failed'; readonly message: string };

/**
 * Calls whenever `key` changes, and after a failure when the gateway is there again. Ignores an answer that arrives
 * after the next call; until the next answer arrives the last one stays, so that nothing flickers.
 */
export function useLoad<Answer>(live: Live, key: string, call: () => Promise<Answer>): LoadState<Answer> {
  const [state, setState] = useState<LoadState<Answer>>({ state: 'waiting' });
  const [attempt, setAttempt] = useState(0);
  useReconnect(live, () => state.state === 'failed' && setAttempt(attempt + 1));
  useEffect(() => {
    let isCurrent = true;
    call().then(
      (answer) => isCurrent && setState({ state: 'done', answer }),
      (error) => isCurrent && setState({ state: 'failed', message: messageOfCall(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, attempt]);
  return state;
}

/** Calls back whenever the gateway is there again, so that what failed meanwhile is tried once more. */
export function useReconnect(live: Live, onReconnect: () => void): void {
  const isLive = live.connection.state === 'live';
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) onReconnect();
    wasLive.current = isLive;
  }, [isLive]);
}
