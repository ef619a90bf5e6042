import type { InspectorBackend } from '../backend.ts';
import type { NowAnswer } from '../contract/now.ts';
import type { KeepBodies } from '../keep-bodies.ts';
import type { Ring } from '../ring/ring.ts';
import type { Minutes } from './minutes.ts';

interface Sources {
  readonly backend: Pick<InspectorBackend, 'open' | 'budgets' | 'breakers'>;
  readonly minutes: Minutes;
  readonly ring: Ring;
  readonly keeping: KeepBodies;
}

/** What the gateway is doing now, and did in the last minutes. */
export async function toNow({ backend, minutes, ring, keeping }: Sources, most?: number): Promise<NowAnswer> {
  const budgets = await backend.budgets();
  return {
    time: new Date().toISOString(),
    minutes: minutes.list(most),
    open: backend.open(),
    budgets,
    breakers: backend.breakers(),
    ...keeping.state,
    ring: { exchanges: ring.size, bytes: ring.bytes },
  };
}
