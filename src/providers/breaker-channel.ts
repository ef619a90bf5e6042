/** A breaker opened (or sends its probe, so that the others wait on), or closed. */
export interface BreakerChange {
  /** Name and address of the provider: under one name, gateways may know different hosts for a while. */
  readonly provider: string;
  /** Undefined if all models of the host are meant. */
  readonly model?: string | undefined;
  readonly isOpen: boolean;
}

/** Carries changes between the processes that share breakers. Nobody waits for it, and a lost change costs little. */
export interface BreakerChannel {
  publish(change: BreakerChange): void;
  /** Whoever follows the changes of the others. */
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
