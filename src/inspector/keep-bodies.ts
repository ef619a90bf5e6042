import type { KeepBodiesAnswer } from './contract/actions.ts';
import type { Ring } from './ring/ring.ts';

const minuteMs = 60_000;

/** Whether bodies are kept: always if configured, else for some minutes on request. */
export class KeepBodies {
  readonly #ring: Ring;
  readonly #isAlways: () => boolean;
  #untilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ring: Ring, isAlways: () => boolean) {
    this.#ring = ring;
    this.#isAlways = isAlways;
    this.refresh();
  }

  /** Keeps bodies for this long from now; 0 stops. Bodies already kept stay. */
  keepFor(minutes: number): void {
    clearTimeout(this.#timer);
    this.#untilMs = minutes === 0 ? 0 : Date.now() + minutes * minuteMs;
    if (minutes > 0) this.#timer = setTimeout(() => this.keepFor(0), minutes * minuteMs).unref();
    this.refresh();
  }

  /** To be called after a reload. */
  refresh(): void {
    this.#ring.keepsBodies = this.#isAlways() || this.#untilMs > 0;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  get state(): KeepBodiesAnswer {
    this.refresh();
    if (this.#isAlways()) return { keeps_bodies: 'always' };
    return this.#untilMs === 0 ? {} : { keeps_bodies: new Date(this.#untilMs).toISOString() };
  }
}
