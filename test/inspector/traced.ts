import type { ReadBody, SentRequest } from '../../src/gateway/subscriber.ts';
import type { ExchangeRow } from '../../src/inspector/contract/exchange-list.ts';
import type { FollowedExchange } from '../../src/inspector/ring/ring.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';

/** An exchange as the ring is told of it. */
export function exchange(id: string, headers: readonly string[] = []): FollowedExchange {
  return {
    id,
    request: { rawHeaders: headers },
    response: { headers: [] },
    record: { soFar: {}, startedAt: performance.now() },
  };
}

/** A body as it is published. */
export function bodyOf(body: Buffer): Pick<ReadBody, 'body' | 'scrubber'> {
  return { body, scrubber: undefined };
}

/** A request that is about to leave, as it is published. */
export function sending(body: Buffer): SentRequest {
  const request = { form: 'exact', path: '/', headers: [], body };
  const target = { provider: { options: { name: 'p' } }, model: 'm' };
  return { target, request, hasWaited: false } as unknown as SentRequest; // all that the ring reads of it
}

export function record(fields: Partial<ExchangeRecord> = {}): ExchangeRecord {
  return {
    time: '2026-01-01T00:00:00.000Z',
    request_id: 'req_1',
    method: 'POST',
    path: '/v1/messages',
    endpoint: 'messages',
    status: 200,
    outcome: 'answered',
    bytes_in: 1,
    bytes_out: 1,
    total_ms: 1,
    config: '',
    ...fields,
  };
}

/** A row of the list. */
export function row(fields: Partial<ExchangeRow> = {}): ExchangeRow {
  return {
    seq: 1,
    id: 'req_1',
    state: 'finished',
    time: '2026-01-01T00:00:00Z',
    method: 'POST',
    path: '/v1/messages',
    project: 'shop',
    model: 'claude-test',
    target_model: 'claude-real',
    status: 200,
    outcome: 'answered',
    decision: 'allow',
    total_ms: 400,
    bytes_in: 1,
    bytes_out: 1,
    bodies: false,
    ...fields,
  };
}
