/** A breaker opened (or sent its probe, so that the others keep waiting), or closed. */
export interface BreakerChange {
  /** The provider's name and address: during a rollout, gateways may have different hosts under one name. */
  readonly provider: string;
  /** Undefined if all models of the host are meant. */
  readonly model?: string | undefined;
  readonly isOpen: boolean;
}

/** Carries changes between processes that share breakers. Nothing waits for it, and losing a change does little harm. */
export interface BreakerChannel {
  publish(change: BreakerChange): void;
  /** Registers a listener for the changes of the others. */
  subscribe(listener: (change: BreakerChange) => void): void;
}

const longestName = 1_000;

/** What another process sent; undefined for anything else. */
export function parseBreakerChange(value: unknown): BreakerChange | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { provider, model, isOpen } = value as Partial<Record<keyof BreakerChange, unknown>>;
  if (!isName(provider) || !(model === undefined || isName(model)) || typeof isOpen !== 'boolean')
    return undefined;
  return { provider, model, isOpen };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestName;
}
