import {
  type Claim,
  type CounterState,
  type Counters,
  type Grant,
  type RestoredSum,
  stateUnavailable,
  type Ticket,
} from './counters.ts';
import { MinuteWindow } from './minute-window.ts';

interface Sum {
  used: number;
  readonly endsMs: number;
}

interface MemoryOptions {
  /** Milliseconds on a clock that never goes back. */
  readonly clockMs?: () => number;
  /** False if `restore` will say what budgets have used. */
  readonly knowsBudgets?: boolean;
}

// Expired periods are dropped each time this many period counters have been added.
const sweepAbove = 10_000;

/** Counts in this process. Exact, because nothing else runs between checking and counting. */
export class MemoryCounters implements Counters {
  readonly isConnected = true;
  readonly #windows = new Map<string, MinuteWindow>();
  readonly #sums = new Map<string, Sum>();
  readonly #clockMs: () => number;
  #knowsBudgets: boolean;

  constructor({ clockMs = () => performance.now(), knowsBudgets = true }: MemoryOptions = {}) {
    this.#clockMs = clockMs;
    this.#knowsBudgets = knowsBudgets;
  }

  /** Throws limit.state_unavailable for a budget whose past usage is not known yet. */
  reserve(claims: readonly Claim[], nowMs: number): Grant {
    if (!this.#knowsBudgets && claims.some(({ kind, isEnforced }) => isEnforced && kind === 'period')) {
      throw stateUnavailable('what the budget has used is not known: the ledger does not answer');
    }
    const clockMs = this.#clockMs();
    const refusedBy = claims.findIndex(
      (claim) => claim.isEnforced && this.#used(claim, clockMs) + claim.amount > claim.max,
    );
    if (refusedBy >= 0) {
      return {
        isGranted: false,
        refusedBy,
        states: claims.map((claim) => this.#state(claim, clockMs, nowMs)),
      };
    }
    for (const claim of claims) this.#add(claim, claim.amount, clockMs);
    return {
      isGranted: true,
      states: claims.map((claim) => this.#state(claim, clockMs, nowMs)),
      ticket: { claims, atMs: clockMs },
    };
  }

  settle({ claims, atMs }: Ticket, used: readonly number[]): void {
    for (const [i, claim] of claims.entries()) {
      this.#add(claim, (claim.kind === 'level' ? 0 : (used[i] ?? 0)) - claim.amount, atMs);
    }
  }

  /** Adds what periods have already used, according to the ledger. */
  restore(sums: readonly RestoredSum[]): void {
    this.#knowsBudgets = true;
    for (const { counter, used, endsMs } of sums) {
      const known = this.#sums.get(counter);
      if (known === undefined) this.#sums.set(counter, { used, endsMs });
      else known.used += used;
    }
  }

  /** Nothing to close: everything is in memory. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  #used({ kind, counter }: Claim, clockMs: number): number {
    if (kind === 'minute') return this.#windows.get(counter)?.used(clockMs) ?? 0;
    return this.#sums.get(counter)?.used ?? 0;
  }

  #add({ kind, counter, endsMs }: Claim, amount: number, atMs: number): void {
    if (kind === 'minute') {
      const window = this.#windows.get(counter) ?? new MinuteWindow();
      this.#windows.set(counter, window);
      window.add(amount, atMs);
      return;
    }
    const known = this.#sums.get(counter);
    if (known !== undefined) {
      known.used += amount;
      return;
    }
    if (this.#sums.size >= sweepAbove) this.#sweep();
    this.#sums.set(counter, { used: amount, endsMs });
  }

  #sweep(): void {
    const nowMs = Date.now();
    for (const [counter, { endsMs, used }] of this.#sums) {
      if (endsMs === 0 ? used === 0 : endsMs < nowMs) this.#sums.delete(counter);
    }
  }

  #state(claim: Claim, clockMs: number, nowMs: number): CounterState {
    const used = this.#used(claim, clockMs);
    if (claim.kind === 'period') return { used, resetMs: Math.max(0, claim.endsMs - nowMs) };
    if (claim.kind === 'level') return { used, resetMs: 0 };
    const window = this.#windows.get(claim.counter);
    const isFull = used + claim.amount > claim.max;
    return {
      used,
      resetMs: window?.waitMs(isFull ? Math.max(0, claim.max - claim.amount) : 0, clockMs) ?? 0,
    };
  }
}
