import { GatewayError } from '../errors.ts';
import type { Claim, Counters, Grant, Ticket } from './counters.ts';
import { MemoryCounters } from './memory-counters.ts';

// Workers share the limits of one gateway: the first process counts, the others ask it by their channel.

/** From a worker to the first process. */
export type CounterRequest =
  | {
      readonly kind: 'limits.reserve';
      readonly id: number;
      readonly claims: readonly Claim[];
      readonly nowMs: number;
    }
  | { readonly kind: 'limits.settle'; readonly id: number; readonly used: readonly number[] };

/** From the first process to a worker. */
export interface CounterAnswer {
  readonly kind: 'limits.granted';
  readonly id: number;
  readonly grant: Grant;
}

interface RemoteTicket extends Ticket {
  readonly id: number;
}

/** A worker's side: nothing is counted here. */
export class RemoteCounters implements Counters {
  readonly isConnected = true;
  readonly #send: (request: CounterRequest) => void;
  readonly #waiting = new Map<number, (grant: Grant) => void>();
  #sequence = 0;

  constructor(send: (request: CounterRequest) => void) {
    this.#send = send;
  }

  reserve(claims: readonly Claim[], nowMs: number): Promise<Grant> {
    this.#sequence += 1;
    const id = this.#sequence;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ kind: 'limits.reserve', id, claims, nowMs });
    });
  }

  /** An answer of the first process arrived. */
  receive({ id, grant }: CounterAnswer): void {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (resolve === undefined || !grant.isGranted) return resolve?.(grant);
    const ticket: RemoteTicket = { ...grant.ticket, id };
    resolve({ ...grant, ticket });
  }

  settle(ticket: Ticket, used: readonly number[]): void {
    if (!('id' in ticket))
      throw new GatewayError('gateway.internal', 'a ticket of other counters was settled');
    this.#send({ kind: 'limits.settle', id: ticket.id as number, used });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The first process's side: one for all workers, so that limits hold for them together. */
export class CounterService {
  readonly counters: MemoryCounters;
  readonly #open = new Map<number, Map<number, Ticket>>();

  constructor(counters = new MemoryCounters()) {
    this.counters = counters;
  }

  /** The answer to a worker's request; undefined where it needs none. `worker` is the id of its process. */
  answer(worker: number, request: CounterRequest): CounterAnswer | undefined {
    const tickets = this.#open.get(worker) ?? new Map<number, Ticket>();
    this.#open.set(worker, tickets);
    if (request.kind === 'limits.reserve') {
      const grant = this.counters.reserve(request.claims, request.nowMs);
      if (grant.isGranted) tickets.set(request.id, grant.ticket);
      return { kind: 'limits.granted', id: request.id, grant };
    }
    const ticket = tickets.get(request.id);
    tickets.delete(request.id);
    if (ticket !== undefined) this.counters.settle(ticket, request.used);
    return undefined;
  }

  /** A worker died: what it had open is over, and its worst case stays counted. */
  release(worker: number): void {
    const tickets = this.#open.get(worker);
    this.#open.delete(worker);
    for (const ticket of tickets?.values() ?? []) {
      this.counters.settle(
        ticket,
        ticket.claims.map(({ amount }) => amount),
      );
    }
  }
}
