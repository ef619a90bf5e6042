import { BudgetLoader, mustKnow } from './budget-loader.ts';
import type {
  BudgetCounter,
  Claim,
  CounterState,
  Counters,
  Grant,
  ReadSums,
  RestoredSum,
  Ticket,
} from './counters.ts';

const second = 1_000;
// The current second is not over, so 61 are needed to make sure that no 60 seconds exceed the limit.
const slots = 61;

/** The sum of the last minute, per second: exact to the second, and never too low. */
export class MinuteWindow {
  readonly #sums = new Float64Array(slots);
  #latest = Number.NEGATIVE_INFINITY;
  #total = 0;

  /** The sum of the minute before `nowMs`, on a clock that never goes back. */
  used(nowMs: number): number {
    this.#advance(Math.floor(nowMs / second));
    return this.#total;
  }

  /** Adds to the second of `atMs`; has no effect if that has already left the window. */
  add(amount: number, atMs: number): void {
    const at = Math.floor(atMs / second);
    this.#advance(at);
    if (at <= this.#latest - slots) return;
    const slot = ((at % slots) + slots) % slots;
    this.#sums[slot] = (this.#sums[slot] as number) + amount;
    this.#total += amount;
  }

  /** Milliseconds until at most `amount` is left in the window; 0 if that is already so. */
  waitMs(amount: number, nowMs: number): number {
    this.#advance(Math.floor(nowMs / second));
    // Backwards from the newest second: the one with which the sum exceeds `amount`, and all before it, must leave the
    // window.
    let kept = 0;
    for (let age = 0; age < slots; age += 1) {
      kept += this.#sums[(((this.#latest - age) % slots) + slots) % slots] as number;
      if (kept > amount) return (this.#latest - age + slots) * second - nowMs;
    }
    return 0;
  }

  #advance(to: number): void {
    if (to <= this.#latest) return;
    const passed = Math.min(slots, to - this.#latest);
    for (let step = 0; step < passed; step += 1) {
      const slot = (((to - step) % slots) + slots) % slots;
      this.#total -= this.#sums[slot] as number;
      this.#sums[slot] = 0;
    }
    this.#latest = to;
  }
}

interface Sum {
  used: number;
  endsMs: number;
  /** Whether it includes what the ledger has. */
  isLoaded: boolean;
}

interface MemoryOptions {
  /** Milliseconds on a clock that never goes back. */
  readonly clockMs?: () => number;
  /** Without it, budgets start from zero. */
  readonly readSums?: ReadSums | undefined;
}

// Expired periods are dropped each time this many period counters have been added.
const sweepAbove = 10_000;
/** Windows of equal requests that are kept, 600 bytes each. */
const keptChosen = 10_000;
/** Sessions' counters that are kept: clients choose their names. The ledger knows the others. */
const keptSessions = 20_000;

/**
 * Counts in this process. Exact, because nothing else runs between checking and counting. A budget's counter that
 * is unused so far is read from the ledger first: nothing is counted on it meanwhile.
 */
export class MemoryCounters implements Counters {
  readonly isConnected = true;
  readonly #windows = new Map<string, MinuteWindow>();
  /** Those that clients choose, the longest unused first. */
  readonly #chosen = new Map<string, MinuteWindow>();
  readonly #sums = new Map<string, Sum>();
  /** Those of sessions, the longest unused first. */
  readonly #sessions = new Map<string, Sum>();
  readonly #clockMs: () => number;
  readonly #loader: BudgetLoader | undefined;

  constructor({ clockMs = () => performance.now(), readSums }: MemoryOptions = {}) {
    this.#clockMs = clockMs;
    this.#loader = readSums && new BudgetLoader(readSums, (sums) => this.restore(sums));
  }

  /** Throws limit.state_unavailable for a budget whose past usage can't be read. */
  async reserve(claims: readonly Claim[], nowMs: number): Promise<Grant> {
    const unknown = this.#loader === undefined ? [] : claims.filter((claim) => !this.#isKnown(claim));
    if (unknown.length > 0) {
      const loaded = this.#loader?.load(unknown.flatMap(({ budget }) => budget ?? []));
      if (mustKnow(unknown)) await loaded;
      else loaded?.catch(() => undefined); // the next request tries again
    }
    return this.#reserveKnown(claims, nowMs);
  }

  #isKnown({ budget, counter }: Claim): boolean {
    return budget === undefined || this.#sumsOf(budget).get(counter)?.isLoaded === true;
  }

  #windowsOf({ isChosen }: Claim): Map<string, MinuteWindow> {
    return isChosen === true ? this.#chosen : this.#windows;
  }

  #sumsOf(budget: Pick<BudgetCounter, 'session'> | undefined): Map<string, Sum> {
    return budget?.session === undefined ? this.#sums : this.#sessions;
  }

  #reserveKnown(claims: readonly Claim[], nowMs: number): Grant {
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
    for (const claim of claims) this.#count(claim, clockMs);
    return {
      isGranted: true,
      states: claims.map((claim) => this.#state(claim, clockMs, nowMs)),
      ticket: { claims, atMs: clockMs },
    };
  }

  settle({ claims, atMs }: Ticket, used: readonly number[]): void {
    for (const [i, claim] of claims.entries()) {
      const difference = (claim.kind === 'level' ? 0 : (used[i] ?? 0)) - claim.amount;
      if (claim.kind === 'minute') this.#windowsOf(claim).get(claim.counter)?.add(difference, atMs);
      const sum = this.#sumsOf(claim.budget).get(claim.counter);
      // Without a counter its period is over, or will be read from the ledger.
      if (sum !== undefined) sum.used += difference;
    }
  }

  /** Adds what periods have already used, according to the ledger, unless it was added before. */
  restore(sums: readonly RestoredSum[]): void {
    for (const sum of sums) {
      const { counter, used, endsMs } = sum;
      const counted = this.#sumsOf(sum);
      const known = counted.get(counter);
      if (known?.isLoaded === true) continue;
      this.#set(counted, counter, { used: used + (known?.used ?? 0), endsMs, isLoaded: true });
    }
  }

  reread(budgets: readonly BudgetCounter[]): void {
    if (this.#loader === undefined) return;
    for (const { counter } of budgets) this.#sums.delete(counter);
  }

  /** Nothing to close: everything is in memory. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  #used(claim: Claim, clockMs: number): number {
    const { kind, counter, budget } = claim;
    if (kind === 'minute') return this.#windowsOf(claim).get(counter)?.used(clockMs) ?? 0;
    return this.#sumsOf(budget).get(counter)?.used ?? 0;
  }

  #count(claim: Claim, clockMs: number): void {
    const { kind, counter, endsMs, amount, budget } = claim;
    if (kind === 'minute') {
      const window = this.#windowsOf(claim).get(counter) ?? new MinuteWindow();
      window.add(amount, clockMs);
      if (claim.isChosen === true) this.#setChosen(counter, window, clockMs);
      else this.#windows.set(counter, window);
      return;
    }
    const sums = this.#sumsOf(budget);
    const known = sums.get(counter) ?? { used: 0, endsMs, isLoaded: this.#loader === undefined };
    known.used += amount;
    if (budget?.session !== undefined || !sums.has(counter)) this.#set(sums, counter, known);
  }

  /** At the end, as the latest; what is empty again, or was counted too many requests ago, goes. */
  #setChosen(counter: string, window: MinuteWindow, clockMs: number): void {
    this.#chosen.delete(counter);
    for (const [oldest, other] of this.#chosen) {
      if (this.#chosen.size < keptChosen && other.used(clockMs) > 0) break;
      this.#chosen.delete(oldest);
    }
    this.#chosen.set(counter, window);
  }

  /** At the end, as the latest; what is over, or too many sessions ago, goes. */
  #set(sums: Map<string, Sum>, counter: string, sum: Sum): void {
    sums.delete(counter);
    if (sums === this.#sums && sums.size >= sweepAbove) this.#sweep();
    if (sums === this.#sessions && sums.size >= keptSessions) sums.delete(sums.keys().next().value ?? '');
    sums.set(counter, sum);
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
    const window = this.#windowsOf(claim).get(claim.counter);
    const isFull = used + claim.amount > claim.max;
    return {
      used,
      resetMs: window?.waitMs(isFull ? Math.max(0, claim.max - claim.amount) : 0, clockMs) ?? 0,
    };
  }
}
