import type { BodyLimits, HeldBytes } from '../http/body.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { PieceBudget } from '../piece-budget.ts';
import type { Router } from '../providers/route.ts';
import type { Ledger } from '../record/ledger/ledger.ts';
import type { RepeatFolder } from '../record/repeats.ts';
import type { Tracer } from '../record/tracing/tracer.ts';
import type { GatewayKey, KeyRing, KnownKey } from './authenticate.ts';
import type { Decider } from './decision/decider.ts';
import type { Health, Readiness } from './local-endpoints/health.ts';
import type { ModelCatalogue } from './local-endpoints/models.ts';
import type { AccessSettings } from './receive.ts';
import type { Scrubber } from './scrub.ts';

/**
 * Everything an exchange looks up, prepared once per configuration. An exchange keeps the one it began with, so a
 * reload meanwhile changes nothing for it.
 */
export interface Gateway {
  readonly access: AccessSettings;
  readonly bodyLimits: BodyLimits;
  /** Opens the account of a request's bytes, within what all requests of all keys may hold together. */
  readonly holdBody: (key: KnownKey) => HeldBytes;
  readonly keys: KeyRing<GatewayKey>;
  /** Whether there is a provider that takes the client's own login. */
  readonly takesLogins: boolean;
  readonly decider: Decider;
  readonly router: Router;
  readonly catalogue: ModelCatalogue;
  /** Hash of the configuration, for the records. */
  readonly configHash: string;
  /** Scrubs every configured secret. */
  readonly scrubber: Scrubber;
  /** The limits of a key and its project; undefined if there are none. */
  readonly limiterFor: (key: GatewayKey) => Limiter | undefined;
  /** Where exchanges are entered; undefined if no ledger is kept. */
  readonly ledger: Ledger | undefined;
  /** Undefined if tracing is off. */
  readonly tracer: Tracer | undefined;
  readonly record: RepeatFolder['write'];
  /** Whether records hold the requests' bodies. */
  readonly recordsBodies: boolean;
  /** Throws gateway.overloaded if the process has no memory to spare, gateway.draining if it is stopping. */
  readonly admit: () => void;
  /** Shared by all answers. */
  readonly pieces: PieceBudget;
  readonly readiness: Readiness;
  readonly health: Health;
}
