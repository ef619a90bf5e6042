import type { ExchangeRecord } from '../../src/record/record.ts';

/** The record of a streamed answer. */
export const answered: ExchangeRecord = {
  time: '2026-11-22T12:00:00.000Z',
  request_id: 'req_1',
  method: 'POST',
  path: '/v1/messages',
  endpoint: 'messages',
  project: 'shop',
  key: 'web',
  model: 'fast',
  provider: 'anthropic',
  target_model: 'claude-haiku-4-5',
  stream: true,
  status: 200,
  outcome: 'answered',
  decision: 'allow',
  attempts: 2,
  bytes_in: 10,
  bytes_out: 20,
  usage: {
    input_tokens: 100,
    output_tokens: 11,
    cache_read_tokens: 60,
    cache_write_tokens: 5,
    reasoning_tokens: 3,
  },
  cost_usd: 0.25,
  first_byte_ms: 200,
  total_ms: 1_200,
  config: 'abc',
};
