import type { HttpResponse } from '../../http/response.ts';
import type { Events } from '../contract/events.ts';
import type { Ring, RingEntry } from '../ring/ring.ts';
import { toRow } from '../ring/to-row.ts';

interface EventStreamOptions {
  readonly ring: Ring;
  /** Differs with every start of the gateway. */
  readonly boot: string;
  /** Scrubs configured secrets. */
  readonly scrub: (text: string) => string;
  readonly now: () => Promise<Events['now']>;
}

interface Viewer {
  readonly response: HttpResponse;
  /** The version up to which the viewer has seen everything. */
  version: number;
  /** True until what it was sent has been written to its socket. */
  isBehind: boolean;
}

/** Changes of one exchange within this time are merged into one event; the page draws no more often. */
const batchMs = 250;
const nowMs = 1_000;
/** Budgets are read every two seconds at most, so what the last exchange used is known this long after it. */
const settledMs = 3_000;
/** Proxies close connections that are silent for long. */
const idleMs = 15_000;

/**
 * The event streams of all open pages. They carry state, not history: a viewer has a version, and gets the rows that are
 * newer. So nothing is queued for one that reads slowly: it gets what is newer once it has caught up, and a
 * `resync` if some of that is gone.
 */
export class EventStreams {
  readonly #options: EventStreamOptions;
  readonly #viewers = new Set<Viewer>();
  readonly #dirty = new Set<RingEntry>();
  #batch: NodeJS.Timeout | undefined;
  #clock: NodeJS.Timeout | undefined;
  /** Since the last change. */
  #quietMs = 0;
  #nowVersion = -1;
  /** The ring's newest exchange at the last batch. */
  #sentSeq = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#viewers.size;
  }

  /** The event id up to which a list made now is current. */
  cursor(): string {
    return `${this.#options.boot}-${this.#options.ring.version}`;
  }

  /** Starts a stream after the event with this id, or from now on. Also writes the head. */
  add(response: HttpResponse, headers: readonly string[], lastEventId: string | undefined): void {
    const { ring, boot } = this.#options;
    response.writeHead(200, [...headers, 'content-type', 'text/event-stream', 'x-accel-buffering', 'no']);
    response.flushHead();
    const [lastBoot, lastVersion] = parseId(lastEventId);
    const viewer: Viewer = { response, version: lastVersion ?? ring.version, isBehind: false };
    this.#viewers.add(viewer);
    response.onClose(() => this.#remove(viewer));
    if (this.#clock === undefined) this.#start();
    if (lastBoot !== undefined && lastBoot !== boot) return this.#resync(viewer);
    this.#catchUp(viewer);
  }

  /** Ends all streams: the gateway stops. */
  close(): void {
    for (const { response } of [...this.#viewers]) response.end();
    this.#stop();
  }

  #start(): void {
    const { ring } = this.#options;
    this.#sentSeq = ring.newestSeq;
    ring.onChange = (entry) => {
      this.#dirty.add(entry);
      this.#batch ??= setTimeout(() => this.#sendBatch(), batchMs);
    };
    this.#clock = setInterval(() => this.#tick(), nowMs).unref();
  }

  #remove(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    if (this.#viewers.size === 0) this.#stop();
  }

  #stop(): void {
    this.#options.ring.onChange = undefined;
    this.#dirty.clear();
    clearTimeout(this.#batch);
    clearInterval(this.#clock);
    this.#batch = undefined;
    this.#clock = undefined;
  }

  /** Built once, for all viewers that are up to date. */
  #sendBatch(): void {
    this.#batch = undefined;
    const { ring } = this.#options;
    const { version } = ring;
    const changed = [...this.#dirty];
    this.#dirty.clear();
    // Came and went within this batch: a page can't follow more than the ring holds.
    const entries = changed.filter((entry) => entry.seq <= this.#sentSeq || ring.holds(entry));
    this.#sentSeq = ring.newestSeq;
    const count = changed.length - entries.length;
    const skipped = count === 0 ? '' : toEvent('skipped', { count });
    const text = Buffer.from(skipped + this.#rowEvents(entries));
    for (const viewer of this.#viewers) {
      if (viewer.isBehind) continue;
      viewer.version = version;
      this.#write(viewer, text);
    }
  }

  /** In the order of their changes, so that the id of the last one covers all before it. */
  #rowEvents(entries: readonly RingEntry[]): string {
    const { boot, scrub } = this.#options;
    return entries
      .toSorted((one, other) => one.version - other.version)
      .map((entry) => toEvent('row', toRow(entry, scrub), `${boot}-${entry.version}`))
      .join('');
  }

  #catchUp(viewer: Viewer): void {
    const { ring } = this.#options;
    if (viewer.version < ring.goneVersion) return this.#resync(viewer);
    const newer = ring.entries().filter(({ version }) => version > viewer.version);
    viewer.version = ring.version;
    if (newer.length > 0) this.#write(viewer, this.#rowEvents(newer));
  }

  #resync(viewer: Viewer): void {
    viewer.version = this.#options.ring.version;
    this.#write(viewer, toEvent('resync', {}, this.cursor()));
  }

  #tick(): void {
    const { version } = this.#options.ring;
    this.#quietMs = version === this.#nowVersion ? this.#quietMs + nowMs : 0;
    this.#nowVersion = version;
    if (this.#quietMs % idleMs !== 0 && this.#quietMs !== settledMs) return;
    this.#options.now().then(
      (now) => this.#writeAll(toEvent('now', now)),
      () => this.#writeAll(': \n\n'), // keeps the connection alive; the counts come next time
    );
  }

  #writeAll(text: string): void {
    const bytes = Buffer.from(text);
    for (const viewer of this.#viewers) if (!viewer.isBehind) this.#write(viewer, bytes);
  }

  #write(viewer: Viewer, text: string | Buffer): void {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    if (viewer.response.write(bytes)) return;
    viewer.isBehind = true;
    viewer.response.onDrain(() => {
      viewer.isBehind = false;
      this.#catchUp(viewer);
    });
  }
}

/** JSON has no line ends of its own, so the data is one line. */
function toEvent<Name extends keyof Events>(name: Name, data: Events[Name], id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function parseId(id: string | undefined): readonly [boot?: string, version?: number] {
  const [, boot, version] = /^([0-9a-f]{1,16})-(\d{1,15})$/.exec(id ?? '') ?? [];
  return boot === undefined ? [] : [boot, Number(version)];
}
