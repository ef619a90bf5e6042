import type { OwnerProof } from '../../owner-proof.ts';
import type { Sessions } from '../access/sessions.ts';
import type { InspectorBackend } from '../backend.ts';
import type { NowAnswer } from '../contract/now.ts';
import type { EventStreams } from '../events/event-stream.ts';
import type { KeepBodies } from '../keep-bodies.ts';
import type { Ring } from '../ring/ring.ts';

/** What the routes need for their answers. */
export interface RouteContext {
  readonly backend: InspectorBackend;
  readonly ownerProof: OwnerProof | undefined;
  readonly sessions: Sessions;
  readonly ring: Ring;
  readonly events: EventStreams;
  readonly keeping: KeepBodies;
  readonly now: (most?: number) => Promise<NowAnswer>;
  readonly pageDirectory?: URL;
}
