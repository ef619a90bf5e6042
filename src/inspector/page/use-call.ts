import { useEffect, useState } from 'preact/hooks';
import { messageOf } from './session.ts';

export type Call<Answer> =
  | { readonly state: 'waiting' }
  | { readonly state: 'done'; readonly answer: Answer }
  | { readonly state: 'failed'; readonly message: string };

/**
 * Calls whenever `key` changes, and ignores an answer that arrives after the next change. Until the next answer arrives
 * the last one stays, so that nothing flickers.
 */
export function useCall<Answer>(key: string, call: () => Promise<Answer>): Call<Answer> {
  const [state, setState] = useState<Call<Answer>>({ state: 'waiting' });
  useEffect(() => {
    let isCurrent = true;
    call().then(
      (answer) => isCurrent && setState({ state: 'done', answer }),
      (error) => isCurrent && setState({ state: 'failed', message: messageOf(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return state;
}
