import type { ExchangeRow } from '../../src/inspector/contract/exchange-list.ts';
import type { TracedExchange } from '../../src/record/observer.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';

/** An exchange as the ring is told of it. */
export function exchange(id: string, headers: readonly string[] = []): TracedExchange {
  return {
    id,
    request: { rawHeaders: headers },
    response: { headers: [] },
    draft: { soFar: {}, startedAt: performance.now() },
  };
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
