import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Minutes } from '../../src/inspector/now/minutes.ts';
import { Ring } from '../../src/inspector/ring/ring.ts';
import { bodyOf, exchange, record, sending } from './traced.ts';

describe('the ring', () => {
  const limits = { exchanges: 10, bytes: 1_000_000 };
  const refused = record({ status: 403, outcome: 'refused' });
  const finish = (ring: Ring, count: number, prefix = 'req', outcome = record()) => {
    for (let i = 0; i < count; i += 1)
      ring.follow(exchange(`${prefix}_${i}`)).ended({ record: outcome, message: undefined });
  };
  const idsOf = (ring: Ring) => ring.entries().map(({ id }) => id);

  test('keeps the newest, in order', () => {
    const ring = new Ring(limits);
    finish(ring, 35);

    expect(idsOf(ring)).toEqual(Array.from({ length: 10 }, (_, i) => `req_${34 - i}`));
    expect(ring.size).toBe(10);
    expect(ring.find('req_3')).toBeUndefined();
  });

  test('keeps what was refused longer, in up to half of the places', () => {
    const ring = new Ring(limits);
    finish(ring, 7, 'no', refused);
    finish(ring, 35);

    const answered = [34, 33, 32, 31, 30].map((i) => `req_${i}`);
    expect(idsOf(ring)).toEqual([...answered, 'no_6', 'no_5', 'no_4', 'no_3', 'no_2']);
  });

  test('takes in fifty a second of a flood that nobody watches, and all that is remarkable', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const ring = new Ring({ exchanges: 2_000, bytes: 10_000_000 });
    finish(ring, 600);
    const atOnce = ring.size;
    finish(ring, 20, 'no', refused);
    vi.advanceTimersByTime(1_000);
    finish(ring, 100, 'later');
    const afterASecond = ring.size;
    ring.onChange = () => {};
    finish(ring, 100, 'seen');

    expect({ atOnce, afterASecond, watched: ring.size }).toEqual({
      atOnce: 500,
      afterASecond: 570,
      watched: 670,
    });
    expect(ring.find('no_19')).toBeDefined();
  });

  test('takes in what has stayed out and is still open once somebody watches', () => {
    const ring = new Ring({ exchanges: 2_000, bytes: 10_000_000 });
    finish(ring, 600);
    const stream = ring.follow(exchange('stream'));
    stream.read(bodyOf(Buffer.from('{}')));
    stream.wrote(Buffer.from('data: 1'));
    const before = ring.find('stream');
    const probe = ring.follow(exchange('probe'));
    ring.onChange = () => {};
    stream.wrote(Buffer.from('data: 2'));
    probe.wrote(Buffer.from('ok'));

    expect({ before, after: ring.find('stream') }).toEqual({ before: undefined, after: stream });
    expect(ring.find('probe')).toBeUndefined();
  });

  test('is bounded in bytes, whatever comes: oldest bodies go first, then the oldest exchanges', () => {
    const limits = { exchanges: 50, bytes: 200_000 };
    const ring = new Ring(limits);
    ring.keepBodiesFor(1);
    const open: ReturnType<Ring['follow']>[] = [];
    for (let i = 0; i < 300; i += 1) {
      const random = (i * 7919) % 97;
      const trace = ring.follow(exchange(`req_${i}`, ['x-long', 'h'.repeat(random * 10)]));
      trace.read(bodyOf(Buffer.alloc(random * 600)));
      trace.sending(sending(Buffer.alloc(random * 400)));
      for (let piece = 0; piece < random; piece += 1) trace.wrote(Buffer.alloc(random * 10));
      open.push(trace);
      // Some stay open until they have long left the ring.
      if (random % 3 !== 0) trace.ended({ record: record(), message: undefined });
      if (random % 11 === 0) for (const late of open.splice(0)) late.wrote(Buffer.alloc(2_000));
      expect(ring.bytes).toBeLessThanOrEqual(limits.bytes);
      expect(ring.size).toBeLessThanOrEqual(limits.exchanges);
    }
    let held = 0;
    for (const entry of ring.entries()) held += entry.bytes;
    expect(ring.bytes).toBe(held);
    expect(ring.entries()[0]?.hasBodies).toBe(true);
  });

  test('recalls what was before this start, older than everything else, as long as there is room', () => {
    const ring = new Ring({ exchanges: 4, bytes: 1_000_000 });
    ring.follow(exchange('req_now')).ended({ record: record({ request_id: 'req_now' }), message: undefined });
    for (const id of ['req_3', 'req_2', 'req_1', 'req_0']) ring.recall(record({ request_id: id }));
    const before = idsOf(ring);
    ring.follow(exchange('req_next')).ended({ record: record(), message: undefined });

    expect(before).toEqual(['req_now', 'req_3', 'req_2', 'req_1']);
    expect(ring.entries().map(({ id, record }) => [id, record?.status])).toEqual([
      ['req_next', 200],
      ['req_now', 200],
      ['req_3', 200],
      ['req_2', 200],
    ]);
    const numbers = ring.entries().map(({ seq }) => seq);
    expect(numbers.toSorted((a, b) => b - a)).toEqual(numbers);
  });

  test('one body above the limit is not kept', () => {
    const ring = new Ring({ exchanges: 5, bytes: 10_000 });
    ring.keepBodiesFor(1);
    ring.follow(exchange('req_1')).read(bodyOf(Buffer.alloc(20_000)));

    expect(ring.bytes).toBeLessThan(10_000);
    expect(ring.find('req_1')?.hasBodies).toBe(false);
  });

  test('a body that is changed or moved after it was received is kept as it was', () => {
    const ring = new Ring();
    ring.keepBodiesFor(1);
    const body = Buffer.from('as it came');
    ring.follow(exchange('req_1')).read(bodyOf(body));
    body.fill(0);

    expect(ring.find('req_1')?.receivedBody?.toString()).toBe('as it came');
  });

  test('keeps what is open until it ends, however much is refused meanwhile', () => {
    const ring = new Ring(limits);
    const slow = ring.follow(exchange('slow'));
    slow.read(bodyOf(Buffer.from('{}')));
    finish(ring, 35, 'no', refused);
    slow.ended({
      record: record({ status: 502, outcome: 'failed' }),
      message: 'the provider cut it short',
    });

    expect(ring.find('slow')?.record).toMatchObject({ outcome: 'failed' });
    expect(ring.size).toBe(10);
  });

  test('drops the oldest where all are open', () => {
    const ring = new Ring(limits);
    for (let i = 0; i < 12; i += 1) ring.follow(exchange(`req_${i}`)).read(bodyOf(Buffer.from('{}')));

    expect(idsOf(ring)).toEqual(Array.from({ length: 10 }, (_, i) => `req_${11 - i}`));
  });

  test('shows what is under way in the order in which it came', () => {
    const ring = new Ring();
    const slow = ring.follow(exchange('slow'));
    slow.read(bodyOf(Buffer.from('{}')));
    ring.follow(exchange('done')).ended({ record: record(), message: undefined });
    ring.follow(exchange('newest')).read(bodyOf(Buffer.from('{}')));

    expect(idsOf(ring)).toEqual(['newest', 'done', 'slow']);
    slow.ended({ record: record(), message: undefined });
    expect(idsOf(ring)).toEqual(['newest', 'done', 'slow']);
  });
});

describe('the numbers of an hour', () => {
  test('are bounded, and minutes without anything are there', () => {
    let nowMs = Date.UTC(2026, 0, 1, 12, 0, 30);
    const minutes = new Minutes(() => nowMs);
    for (let minute = 0; minute < 24 * 60; minute += 1) {
      if (minute % 2 === 0) minutes.add(record({ first_byte_ms: 5, cost_usd: 0.5 }));
      nowMs += 60_000;
    }
    nowMs -= 60_000;

    const list = minutes.list();

    expect(list).toHaveLength(60);
    expect(list.filter(({ requests }) => requests === 1)).toHaveLength(30);
    expect(list.at(-1)?.time).toBe(new Date(Math.floor(nowMs / 60_000) * 60_000).toISOString());
    expect(list.slice(-2)).toMatchObject([
      { requests: 1, first_byte_ms: { p50: 5, p95: 5 } },
      { requests: 0 },
    ]);
  });

  test('of before this start are added where they were, and what is older than an hour is not', () => {
    const minutes = new Minutes(() => Date.parse('2026-01-01T12:00:30Z'));
    minutes.add(record());
    for (const time of ['2026-01-01T11:58:59Z', '2026-01-01T11:58:01Z', '2026-01-01T10:59:59Z'])
      minutes.recall(record({ time }));

    expect(minutes.list().map(({ time, requests }) => [time.slice(11, 16), requests])).toEqual([
      ['11:58', 2],
      ['11:59', 0],
      ['12:00', 1],
    ]);
  });

  test('blocked and failed are what the list counts as such', () => {
    const minutes = new Minutes();
    minutes.add(record({ outcome: 'refused', decision: 'block', reason: 'content.codename', status: 403 }));
    minutes.add(record({ outcome: 'refused', reason: 'key.invalid', status: 401 }));
    minutes.add(record({ outcome: 'refused', decision: 'allow', reason: 'limit.requests', status: 429 }));
    minutes.add(
      record({ outcome: 'failed', decision: 'allow', reason: 'provider.unreachable', status: 502 }),
    );
    minutes.add(record({ decision: 'allow', status: 529 }));
    minutes.add(record({ outcome: 'left', decision: 'allow' }));
    minutes.add(record({ decision: 'warn' }));

    expect(minutes.list()[0]).toMatchObject({
      requests: 7,
      blocks: { 'content.codename': 1, 'limit.requests': 1 },
      errors: { 'key.invalid': 1, 'provider.unreachable': 1, 'status 529': 1, left: 1 },
    });
  });

  test('reasons that are made up without an end are counted as others', () => {
    const minutes = new Minutes();
    for (let i = 0; i < 500; i += 1) {
      minutes.add(record({ outcome: 'refused', decision: 'block', reason: `made-up-${i}`, status: 403 }));
    }

    const blocks = minutes.list()[0]?.blocks ?? {};
    expect(Object.keys(blocks).length).toBeLessThanOrEqual(51);
    expect(blocks.other).toBe(450);
  });
});
