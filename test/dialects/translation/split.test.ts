import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { SseParser } from '../../../src/dialects/sse.ts';
import { directions, textDialects } from '../../kit/dialects.ts';
import { recordedStream, recordings } from '../../kit/recorded-streams.ts';
import { scale } from '../../kit/scale.ts';
import { runStream, startTranslation } from './run-translation.ts';

/** Between the places where recordings are split. */
const step = scale(149, 11);

function parse(chunks: readonly Uint8Array[]): string[] {
  const events: string[] = [];
  const parser = new SseParser((name, data) => events.push(`${name ?? ''}|${data}`));
  for (const chunk of chunks) parser.push(chunk);
  parser.end();
  return events;
}

test('there are recordings of every dialect', () => {
  expect(new Set(recordings.map((name) => name.split('.')[0]))).toEqual(new Set(textDialects));
});

describe.each(recordings)('the recording %s', (name) => {
  const bytes = recordedStream(name);

  test('produces the same events wherever it is split', () => {
    const whole = parse([bytes]);
    const wholeText = whole.join('\n');

    for (let at = 1; at < bytes.length; at += step) {
      const events = parse([bytes.subarray(0, at), bytes.subarray(at)]);
      if (events.join('\n') !== wholeText) expect({ at, events }).toEqual({ at, events: whole });
    }
    expect(whole).not.toEqual([]);
  });

  test('produces the same events byte by byte', () => {
    expect(parse(Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1)))).toEqual(parse([bytes]));
  });

  const provider = name.split('.')[0] as TextDialectName;
  const clients = directions
    .filter((direction) => direction[1] === provider)
    .map((direction) => direction[0]);

  test.each(clients)('gives a %s client the same text wherever it is split', (client) => {
    const whole = runStream(startTranslation(client, provider), [bytes]);

    for (let at = 1; at < bytes.length; at += step) {
      const parts = [bytes.subarray(0, at), bytes.subarray(at)];
      const { text, state } = runStream(startTranslation(client, provider), parts);
      if (text !== whole.text || state !== whole.state)
        expect({ at, text }).toEqual({ at, text: whole.text });
    }
    expect(whole.text).not.toBe('');
  });
});
