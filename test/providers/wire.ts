import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { GatewayError } from '../../src/errors.ts';
import { type BodySink, Upstream } from '../../src/providers/transport/pool.ts';

/** What somebody who asked got. */
export interface Outcome {
  /** 0 where no head came. */
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  /** The code of the failure that it ended with. */
  readonly failure: string | undefined;
  readonly cause: (Error & { readonly code?: string }) | undefined;
  readonly wasSent: boolean | undefined;
}

/** Somebody who asks once and reads the whole answer. */
export class Reader implements BodySink {
  readonly upstream: Upstream;
  readonly outcome: Promise<Outcome>;
  readonly pieces: Buffer[] = [];
  readonly onData: (piece: Buffer, reader: Reader) => boolean;
  isOver = false;
  #settle: (outcome: Outcome) => void = () => undefined;

  constructor(onData: (piece: Buffer, reader: Reader) => boolean = () => true) {
    this.onData = onData;
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.upstream = new Upstream((failure) => {
      if (failure === undefined) return this.upstream.pipe(this);
      this.#finish(failure.error, failure.wasSent);
    });
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1');
  }

  data(piece: Buffer): boolean {
    if (this.isOver) throw new Error('there is more behind the end');
    this.pieces.push(Buffer.from(piece));
    return this.onData(piece, this);
  }

  end(): void {
    this.#finish(undefined, undefined);
  }

  fail(error: GatewayError): void {
    this.#finish(error, undefined);
  }

  #finish(error: GatewayError | undefined, wasSent: boolean | undefined): void {
    if (this.isOver) throw new Error('it ended twice');
    this.isOver = true;
    const headers: string[] = [];
    this.upstream.headers.passOn(headers, unscrubbed);
    const failure = error?.code;
    const cause = error?.cause as Outcome['cause'];
    this.#settle({ status: this.upstream.status, headers, body: this.text, failure, cause, wasSent });
  }
}

/** Lets the event loop turn until something is so: for what the kernel does between two sockets of a test. */
export async function until(isSo: () => boolean): Promise<void> {
  // What takes longer waits for a time-out, and turning all the while would cost a core.
  for (let turns = 0; turns === 0 || !isSo(); turns += 1) await (turns < 500 ? turn() : pause(2));
}

/** Leaves headers as they came. */
export const unscrubbed = { text: (value: string) => value, inName: () => undefined };
