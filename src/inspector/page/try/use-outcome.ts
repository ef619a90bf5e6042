import { useEffect, useState } from 'preact/hooks';
import type { TryPolicyAnswer, TryPolicyRequest } from '../../contract/actions.ts';
import type { Live } from '../live.ts';
import { CallError, messageOf } from '../session.ts';
import { useReconnect } from '../use-call.ts';
import type { Scratch } from './use-scratch.ts';

export type TryOutcome = TryPolicyAnswer | { readonly kind: 'failed'; readonly message: string };

// Milliseconds after the last keystroke: long enough to finish a word. The first decision waits for nobody.
const waitMs = 400;
// Other pages may be using the threads in which rules are tried.
const busyMs = 1_000;

/** What would be decided; asked for again a moment after every change, and after a failure when the gateway is there again. */
export function useOutcome(live: Live, { rules, body, key, endpoint }: Scratch): TryOutcome | undefined {
  const [outcome, setOutcome] = useState<TryOutcome>();
  const [attempt, setAttempt] = useState(0);
  useReconnect(live, () => outcome?.kind === 'failed' && setAttempt(attempt + 1));
  useEffect(() => {
    if (rules === undefined || body === undefined) return undefined;
    const request: TryPolicyRequest = {
      policies: rules,
      body,
      ...(key !== '' && { key }),
      ...(endpoint !== '' && { endpoint }),
    };
    let isCurrent = true;
    const decide = async () => {
      const answer = await tryPolicy(live, request);
      if (!isCurrent) return;
      if (answer === 'busy') timer = setTimeout(() => void decide(), busyMs);
      else setOutcome(answer);
    };
    let timer = setTimeout(() => void decide(), outcome === undefined ? 0 : waitMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [rules, body, key, endpoint, attempt]);
  return outcome;
}

async function tryPolicy(live: Live, request: TryPolicyRequest): Promise<TryOutcome | 'busy'> {
  try {
    return await live.session.post<TryPolicyAnswer>('try-policy', request);
  } catch (error) {
    if (error instanceof CallError && error.reason === 'inspector.busy') return 'busy';
    return { kind: 'failed', message: messageOf(error) };
  }
}
