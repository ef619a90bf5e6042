import { useEffect, useRef } from 'preact/hooks';
import type { Live } from './live.ts';

/** Calls back whenever the gateway is there again, so that what failed meanwhile is tried once more. */
export function useReconnect(live: Live, onReconnect: () => void): void {
  const isLive = live.connection.state === 'live';
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) onReconnect();
    wasLive.current = isLive;
  }, [isLive]);
}
