import { GatewayError, toGatewayError } from '../errors.ts';
import {
  type BudgetCounter,
  type Claim,
  type Counters,
  type Grant,
  stateUnavailable,
  type Ticket,
} from './counters.ts';
import { MemoryCounters } from './memory-counters.ts';

// Workers share the limits of one gateway: the parent process counts, and the workers ask it by IPC.

/** From a worker to the parent process. */
export type CounterRequest =
  | {
      readonly kind: 'limits.reserve';
      readonly id: number;
      readonly claims: readonly Claim[];
      readonly nowMs: number;
    }
  | { readonly kind: 'limits.settle'; readonly id: number; readonly used: readonly number[] };

/** From the parent process to a worker. */
export type CounterReply =
  | { readonly kind: 'limits.granted'; readonly id: number; readonly grant: Grant }
  | { readonly kind: 'limits.unavailable'; readonly id: number; readonly message: string };

interface Waiting {
  readonly resolve: (grant: Grant) => void;
  readonly reject: (error: GatewayError) => void;
}

interface RemoteTicket extends Ticket {
  readonly id: number;
}

/** A worker's side: nothing is counted here. */
export class RemoteCounters implements Counters {
  readonly isConnected = true;
  readonly #send: (request: CounterRequest) => void;
  readonly #waiting = new Map<number, Waiting>();
  #sequence = 0;

  constructor(send: (request: CounterRequest) => void) {
    this.#send = send;
  }

  reserve(claims: readonly Claim[], nowMs: number): Promise<Grant> {
    this.#sequence += 1;
    const id = this.#sequence;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ kind: 'limits.reserve', id, claims, nowMs });
    });
  }

  /** A reply of the parent process arrived. */
  receive(reply: CounterReply): void {
    const { id } = reply;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (reply.kind === 'limits.unavailable') return waiting?.reject(stateUnavailable(reply.message));
    const { grant } = reply;
    if (!grant.isGranted) return waiting?.resolve(grant);
    const ticket: RemoteTicket = { ...grant.ticket, id };
    waiting?.resolve({ ...grant, ticket });
  }

  settle(ticket: Ticket, used: readonly number[]): void {
    if (!('id' in ticket))
      throw new GatewayError('gateway.internal', 'a ticket of other counters was settled');
    this.#send({ kind: 'limits.settle', id: ticket.id as number, used });
  }

  /** The parent follows the configuration itself. */
  reread(_budgets: readonly BudgetCounter[]): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The parent's side: one for all workers, so that limits apply to them together. */
export class CounterService {
  readonly counters: MemoryCounters;
  readonly #open = new Map<number, Map<number, Ticket>>();

  constructor(counters = new MemoryCounters()) {
    this.counters = counters;
  }

  /** The reply to a worker's request; undefined if it needs none. `worker` is the id of its process. */
  async replyTo(worker: number, request: CounterRequest): Promise<CounterReply | undefined> {
    const { id } = request;
    const tickets = this.#open.get(worker) ?? new Map<number, Ticket>();
    this.#open.set(worker, tickets);
    if (request.kind === 'limits.settle') {
      const ticket = tickets.get(id);
      tickets.delete(id);
      if (ticket !== undefined) this.counters.settle(ticket, request.used);
      return undefined;
    }
    try {
      const grant = await this.counters.reserve(request.claims, request.nowMs);
      const isAlive = this.#open.get(worker) === tickets;
      if (grant.isGranted && isAlive) tickets.set(id, grant.ticket);
      else if (grant.isGranted) this.counters.settle(grant.ticket, []);
      return isAlive ? { kind: 'limits.granted', id, grant } : undefined;
    } catch (thrown) {
      return { kind: 'limits.unavailable', id, message: toGatewayError(thrown).message };
    }
  }

  /** A worker died: its open exchanges are over, and their worst case stays counted. */
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
