import type { ExchangeRow } from '../../contract/exchange-list.ts';
import type { Live } from '../live.ts';

export function NoBodies({ live, row }: { readonly live: Live; readonly row: ExchangeRow }) {
  if (row.state === 'finished' && row.bytes_in === 0)
    return <p class="note">It had no body, or was refused before its body was read.</p>;
  const isKeeping = live.now?.keeps_bodies !== undefined;
  return (
    <div class="no-bodies">
      <p>
        The bodies of this exchange were not kept. They are kept in memory only, and only while you ask for
        it.
      </p>
      {isKeeping ? (
        <p>They are kept now: the next exchange has them.</p>
      ) : (
        <button type="button" onClick={() => void live.keepBodies(10)}>
          Keep bodies for the next ten minutes
        </button>
      )}
    </div>
  );
}
