#!/usr/bin/env node
// What the live page does for an exchange while nobody looks, without the exchange itself: nanoseconds per exchange,
// garbage collection included. bench/inspector.mjs measures the whole gateway, whose starts differ by more than this.
//   npm run build:modules && node bench/inspector-trace.mjs [--rounds 41] [--exchanges 50000]
import { parseArgs } from 'node:util';
import { Minutes } from '../build/inspector/now/minutes.js';
import { isProbe, Ring } from '../build/inspector/ring/ring.js';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '41' }, exchanges: { type: 'string', default: '50000' } },
});
const rounds = Number(values.rounds);
const exchanges = Number(values.exchanges);
const ring = new Ring();
const minutes = new Minutes();
const body = Buffer.from('x'.repeat(120));
const target = { provider: { options: { name: 'host' } }, model: 'm' };
/** Every id is used, so that nothing is optimized away. */
let characters = 0;

run(true);
run(false);
const [traced, plain] = [[], []];
for (let round = 0; round < rounds; round += 1) {
  // Each comes first equally often.
  for (const isTraced of round % 2 === 0 ? [true, false] : [false, true])
    (isTraced ? traced : plain).push(run(isTraced));
}
const differences = traced.map((each, i) => each - plain[i]).sort((a, b) => a - b);
const at = (share) => differences[Math.floor((rounds - 1) * share)].toFixed(0);
console.log(`${at(0.5)} ns per exchange (median of ${rounds} rounds; quartiles ${at(0.25)} to ${at(0.75)})`);
console.log(`${characters} characters of ids`);

/** Nanoseconds per exchange. */
function run(isTraced) {
  const before = process.cpuUsage();
  for (let i = 0; i < exchanges; i += 1) exchange(i, isTraced);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1_000) / exchanges;
}

/** What an exchange creates anyway, and what it notifies its trace of. */
function exchange(i, isTraced) {
  const id = `req_${i}`;
  const rawHeaders = ['authorization', `Bearer ${i}`, 'user-agent', 'bench/1.0', 'host', '127.0.0.1'];
  const known = { soFar: {}, startedAt: performance.now() };
  const open = { id, request: { rawHeaders }, response: { headers: ['x-request-id', id] }, record: known };
  const trace = isTraced ? ring.follow(open) : undefined;
  trace?.read({ shown: () => body });
  trace?.reserved();
  const request = { form: 'exact', path: '/v1', headers: ['x', id], body };
  trace?.sending({ target, request, hasWaited: false });
  trace?.answering(known.startedAt);
  trace?.wrote(body);
  const record = {
    time: '2026-01-01T00:00:00.000Z',
    request_id: id,
    method: 'POST',
    path: '/v1/chat/completions',
    endpoint: 'chat',
    status: 200,
    outcome: 'answered',
    bytes_in: body.length,
    bytes_out: body.length,
    usage: { input_tokens: 40, output_tokens: 60, cache_read_tokens: 0 },
    first_byte_ms: 1.5,
    total_ms: 2,
    config: '',
  };
  trace?.ended({ record, message: undefined });
  if (isTraced && !isProbe(record)) minutes.add(record);
  characters += id.length;
}
