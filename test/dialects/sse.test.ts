import { describe, expect, test } from 'vitest';
import { eventLimitBytes, formatSse, SseParser } from '../../src/dialects/sse.ts';
import { growth } from '../kit/growth.ts';
import { recordedStream, recordings } from '../kit/recorded-streams.ts';
import { scale } from '../kit/scale.ts';

type Event = readonly [name: string | undefined, data: string];

function parse(...chunks: (string | Uint8Array)[]): Event[] {
  const events: Event[] = [];
  const parser = new SseParser((name, data) => events.push([name, data]));
  for (const chunk of chunks) parser.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  parser.end();
  return events;
}

describe('SseParser', () => {
  test.each([
    ['carriage returns', '\r'],
    ['line feeds', '\n'],
    ['both', '\r\n'],
    ['events that end in carriage returns', 'data: 1\r\r'],
    ['carriage returns before the only line feed', '\r'],
  ])('reads a chunk of %s in time that is linear in its size', (what, unit) => {
    const chunk = (bytes: number) => unit.repeat(bytes / unit.length) + (what.includes('only') ? '\n' : '');
    const limit = 24;

    expect(growth(parse, { small: chunk(30_000), large: chunk(240_000), limit })).toBeLessThan(limit);
  });

  test.each([
    ['line feeds', 'event: a\ndata: 1\n\ndata: 2\n\n'],
    ['carriage returns with line feeds', 'event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n'],
    ['carriage returns alone', 'event: a\rdata: 1\r\rdata: 2\r\r'],
    ['a mixture', 'event: a\rdata: 1\n\r\ndata: 2\r\n\n'],
  ])('reads lines that end in %s', (_name, text) => {
    expect(parse(text)).toEqual([
      ['a', '1'],
      [undefined, '2'],
    ]);
  });

  test('joins the data lines of one event and keeps empty ones', () => {
    expect(parse('data: one\ndata:\ndata: two\n\n')).toEqual([[undefined, 'one\n\ntwo']]);
  });

  test('removes one space after the colon and no more', () => {
    expect(parse('data:  two spaces\n\ndata:none\n\ndata\n\n')).toEqual([
      [undefined, ' two spaces'],
      [undefined, 'none'],
      [undefined, ''],
    ]);
  });

  test('skips comments, other fields, events without data, and fields that only begin alike', () => {
    expect(parse(': ping\n\nid: 7\nretry: 5\ndatabase: x\nevent: lost\n\ndata: kept\n\n')).toEqual([
      [undefined, 'kept'],
    ]);
  });

  test('skips a byte order mark at the beginning and nowhere else', () => {
    expect(parse('\uFEFFdata: 1\n\n\uFEFFdata: 2\n\ndata: 3\n\n')).toEqual([
      [undefined, '1'],
      [undefined, '3'],
    ]);
  });

  test.each(recordings)('reads the recording %s the same wherever it is split', (name) => {
    const bytes = recordedStream(name);
    const whole = parse(bytes);

    for (let at = 1; at < bytes.length; at += scale(149, 11)) {
      expect(parse(bytes.subarray(0, at), bytes.subarray(at)), `at ${at}`).toEqual(whole);
    }
    expect(parse(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(whole);
    expect(whole).not.toEqual([]);
  });

  test('emits an event whose blank line is missing at the end', () => {
    expect(parse('data: [DONE]')).toEqual([[undefined, '[DONE]']]);
    expect(parse('data: [DONE]\n')).toEqual([[undefined, '[DONE]']]);
  });

  test('calls back as soon as an event is complete, not at the end', () => {
    const events: string[] = [];
    const parser = new SseParser((_name, data) => events.push(data));

    parser.push(Buffer.from('data: 1\n'));
    expect(events).toEqual([]);
    parser.push(Buffer.from('\ndata: 2'));
    expect(events).toEqual(['1']);
  });

  test.each([
    ['in one line of one chunk', [`data: ${'x'.repeat(eventLimitBytes)}\n\n`]],
    ['in one line without an end', Array.from({ length: 34 }, () => 'x'.repeat(1_000_000))],
  ])('refuses an event over the limit %s', (_name, chunks) => {
    expect(() => parse(...chunks)).toThrow(expect.objectContaining({ code: 'provider.broken_response' }));
  });

  test('counts each event by itself', () => {
    const chunks = Array.from({ length: 30 }, () => `data: ${'x'.repeat(100_000)}\n\n`);

    expect(parse(...chunks)).toHaveLength(30);
  });
});

test('an object in an event is skipped, and an event in an object is refused', () => {
  expect(parse('data: 1\n{"a":1}\n\ndata: 2\n\n')).toEqual([
    [undefined, '1'],
    [undefined, '2'],
  ]);
  expect(() => parse('{}\ndata: 1\n\n')).toThrow('holds an event');
});

test('an object between events is an event by itself, and is written as it came', () => {
  const bare = '{\n  "error": {"code": 500}\n}\n\n';

  const events = parse(`data: 1\n\n${bare}data: 2\n\n`);

  expect(events).toEqual([
    [undefined, '1'],
    ['', '{\n  "error": {"code": 500}\n}'],
    [undefined, '2'],
  ]);
  expect(formatSse('', events[1]?.[1] ?? '')).toBe(bare);
  expect(parse('event:\ndata: 1\n\n')).toEqual([[undefined, '1']]);
});

describe('formatSse', () => {
  test('writes what the parser reads', () => {
    const text = formatSse('message', 'one\ntwo') + formatSse(undefined, '{}');

    expect(text).toBe('event: message\ndata: one\ndata: two\n\ndata: {}\n\n');
    expect(parse(text)).toEqual([
      ['message', 'one\ntwo'],
      [undefined, '{}'],
    ]);
  });
});
