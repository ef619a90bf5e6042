import { afterEach, expect, test, vi } from 'vitest';
import type { HttpResponse } from '../../../src/http/response.ts';
import { EventStreams } from '../../../src/inspector/events/event-stream.ts';
import { Ring } from '../../../src/inspector/ring/ring.ts';
import { bodyOf, exchange, record } from '../traced.ts';

const streams: EventStreams[] = [];

afterEach(() => {
  vi.useRealTimers();
  for (const each of streams.splice(0)) each.close();
});

/** A ring of five, and a page that follows it from an event on; what was written is gathered. */
function follow(ring = new Ring({ exchanges: 5, bytes: 1_000_000 }), lastEventId?: string) {
  vi.useFakeTimers();
  const now = vi.fn(() => new Promise<never>(() => undefined));
  const events = new EventStreams({
    ring,
    boot: 'ab',
    scrub: (text) => text,
    now,
  });
  streams.push(events);
  const written: string[] = [];
  const response = {
    writeHead: () => undefined,
    flushHead: () => undefined,
    onClose: () => undefined,
    end: () => undefined,
    write: (bytes: Buffer) => written.push(bytes.toString()) > 0,
  };
  events.add(response as unknown as HttpResponse, [], lastEventId); // all that a stream uses of it
  const first = written.splice(0).join('');
  return { first, ring, written, now };
}

test('exchanges that come and go within one batch are counted, not sent', () => {
  const { ring, written } = follow();
  for (let i = 0; i < 12; i += 1)
    ring.follow(exchange(`req_${i}`)).ended({ record: record(), message: undefined });

  vi.advanceTimersByTime(250);

  const text = written.join('');
  expect(text).toContain('event: skipped\ndata: {"count":7}');
  expect(text.match(/"id":"req_\d+"/g)).toEqual([7, 8, 9, 10, 11].map((i) => `"id":"req_${i}"`));
});

test('the end of an exchange that was sent as open is sent, even where the ring has dropped it', () => {
  const { ring, written } = follow();
  const open = ring.follow(exchange('req_open'));
  open.read(bodyOf(Buffer.from('{}')));
  vi.advanceTimersByTime(250);
  expect(written.join('')).toContain('"state":"open"');

  open.ended({ record: record(), message: undefined });
  for (let i = 0; i < 5; i += 1)
    ring.follow(exchange(`req_${i}`)).ended({ record: record(), message: undefined });
  vi.advanceTimersByTime(250);

  expect(written.join('')).toMatch(/event: row\ndata: \{[^\n]*"id":"req_open","state":"finished"/);
  expect(written.join('')).not.toContain('skipped');
});

test('many changes of one exchange within a batch are one event', () => {
  const { ring, written } = follow();
  const trace = ring.follow(exchange('req_1'));
  trace.read(bodyOf(Buffer.from('{}')));
  for (let i = 0; i < 100; i += 1) trace.wrote(Buffer.from('piece'));
  trace.ended({ record: record(), message: undefined });

  vi.advanceTimersByTime(250);

  expect(written.join('').match(/^event: /gm)).toHaveLength(1);
});

test('after the last change the numbers are sent once more, when budgets have been read again', () => {
  const { ring, now } = follow();
  ring.follow(exchange('req_1')).ended({ record: record(), message: undefined });

  vi.advanceTimersByTime(1_000);
  const atOnce = now.mock.calls.length;
  vi.advanceTimersByTime(3_000);
  const settled = now.mock.calls.length;
  vi.advanceTimersByTime(10_000);

  expect([atOnce, settled, now.mock.calls.length]).toEqual([1, 2, 2]);
});

test('a page that comes back when some of what it missed is gone loads the list again', () => {
  const ring = new Ring({ exchanges: 5, bytes: 1_000_000 });
  ring.onChange = () => undefined; // somebody looks
  for (let i = 0; i < 7; i += 1)
    ring.follow(exchange(`req_${i}`)).ended({ record: record(), message: undefined });

  const { first } = follow(ring, 'ab-1');
  const { first: complete } = follow(ring, 'ab-2');

  expect(first).toContain('event: resync\n');
  expect(complete.match(/"id":"req_\d+"/g)).toHaveLength(5);
  expect(complete).not.toContain('resync');
});

test('a page that comes back after a restart loads the list again', () => {
  const { first } = follow(undefined, 'cd-9');

  expect(first).toContain('event: resync\n');
});
