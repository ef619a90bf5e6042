import { describe, expect, test } from 'vitest';
import { type DialectName, dialects } from '../../src/dialects/registry.ts';
import { GatewayError } from '../../src/errors.ts';
import { BodyCache } from '../../src/json/body-cache.ts';
import type { JsonDocument } from '../../src/json/json-document.ts';
import { commonLength } from '../../src/json/shared-prefix.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';
import { alteredBody, alteredBytes, randomBody } from '../kit/random-conversations.ts';
import { createRandom } from '../policy/automaton/random.ts';

/** All that parsing returns: the whole tape, or the whole refusal. */
function outcome(read: (bytes: Buffer) => JsonDocument, bytes: Buffer): unknown {
  try {
    const { tape, isAscii } = read(bytes).toParts();
    return { tape: Buffer.from(tape.buffer).toString('hex'), isAscii };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message, param } = error;
    return { code, message, param };
  }
}

const filler = 'x'.repeat(1_500);
const bytesOf = (body: unknown) => Buffer.from(JSON.stringify(body));

test('parses what follows a shared prefix as if nothing were cached', () => {
  const random = createRandom(20);
  const cache = new BodyCache();
  const names = Object.keys(dialects) as DialectName[];
  const outcomes = new Set<string>();

  for (let round = 0; round < 60; round += 1) {
    const dialect = random.of(names);
    let body = { first: filler.slice(random.below(400)), ...randomBody(random, dialect, random.below(8)) };
    for (let turn = 0; turn < 8; turn += 1) {
      const bytes = random.below(3) === 0 ? alteredBytes(random, bytesOf(body)) : bytesOf(body);

      const read = outcome((each) => cache.read(each), bytes);

      const expected = outcome(parseStrictJson, bytes);
      expect(read).toEqual(expected);
      outcomes.add((expected as { code?: string }).code ?? 'read');
      body = { ...body, ...alteredBody(random, dialect, body) };
    }
  }

  expect([...outcomes].sort()).toEqual([
    'read',
    'request.duplicate_key',
    'request.encoding',
    'request.field',
    'request.invalid_json',
    'request.too_deep',
  ]);
});

test('parses a cached body cut at every byte, and with every byte changed, as if it were not cached', () => {
  const text = `{"fill":"${filler}","a":[1,-2.5e+3,true,null,"x\\u00e9\\n","é日🚀"],"b":{"c":{"a":1,"d":[]}},"e":12}`;
  const bytes = Buffer.from(text);
  const start = text.indexOf('"a"');

  for (let at = start; at < bytes.length; at += 1) {
    for (const end of ['', '}', '"', ',"a":1}', '\\', '0', 'é']) {
      const cache = new BodyCache();
      cache.read(bytes);
      for (const changed of [
        Buffer.concat([bytes.subarray(0, at), Buffer.from(end)]),
        Buffer.concat([bytes.subarray(0, at), Buffer.from(end), bytes.subarray(at + 1)]),
      ]) {
        expect(outcome((each) => cache.read(each), changed)).toEqual(outcome(parseStrictJson, changed));
      }
    }
  }
});

describe('cached bodies', () => {
  const conversation = (mark: string, turns: number) =>
    bytesOf({ mark, fill: filler, messages: Array.from({ length: turns }, (_, turn) => `turn ${turn}`) });

  test('the same bytes are the same document', () => {
    const cache = new BodyCache();

    const document = cache.read(conversation('a', 3));

    expect(cache.read(conversation('a', 3))).toBe(document);
  });

  test('a longer conversation refers to the one whose prefix it shares, and replaces it', () => {
    const cache = new BodyCache();
    const before = cache.read(conversation('a', 3));

    const document = cache.read(conversation('a', 4));

    expect(document.sharedPrefix?.document.deref()).toBe(before);
    expect(cache.read(conversation('a', 3))).not.toBe(before);
  });

  test('each of many conversations finds its own earlier turn', () => {
    const cache = new BodyCache();
    const marks = Array.from({ length: 20 }, (_, at) => `mark ${at}`);
    const before = marks.map((mark) => cache.read(bytesOf({ fill: filler, mark, turns: [filler] })));

    const after = marks.map((mark) => cache.read(bytesOf({ fill: filler, mark, turns: [filler, 'more'] })));

    expect(after.map(({ sharedPrefix }) => sharedPrefix?.document.deref())).toEqual(before);
  });

  test('evicts the least recently used bodies when they take more memory than allowed', () => {
    const cache = new BodyCache({ limitBytes: 1_000_000 });
    // Larger than the memory that Node shares among small buffers, which counts whole.
    const large = (mark: string) => bytesOf({ mark, fill: 'x'.repeat(300_000) });
    const documents = new Map<string, JsonDocument>();
    for (const mark of ['a', 'b', 'a', 'c', 'd']) documents.set(mark, cache.read(large(mark)));

    // What is cached comes first: reading it again evicts nothing.
    const left = ['d', 'c', 'a', 'b'].filter((mark) => cache.read(large(mark)) === documents.get(mark));
    expect(left).toEqual(['d', 'c', 'a']);
  });

  test('a body larger than half of the limit is not cached', () => {
    const cache = new BodyCache({ limitBytes: 1_000_000 });
    const large = bytesOf({ fill: 'x'.repeat(600_000) });

    const document = cache.read(large);

    expect(document.isCached).toBe(false);
    expect(cache.read(large)).not.toBe(document);
  });

  test('a refused body is not cached', () => {
    const cache = new BodyCache();
    const bytes = Buffer.from(`{"fill":"${filler}","a":1,"a":2}`);

    expect(() => cache.read(bytes)).toThrow('twice');
    expect(() => cache.read(bytes)).toThrow('twice');
  });
});

test.each([0, 1, 63, 64, 65, 1_023, 1_024, 1_025, 3_071, 5_000, 9_999])(
  'finds that two buffers part at byte %i',
  (at) => {
    const one = Buffer.alloc(10_000, 'a');
    const other = Buffer.from(one);
    other[at] = 0;

    expect(commonLength(one, other)).toBe(at);
    expect(commonLength(other, one.subarray(0, 9_999))).toBe(Math.min(at, 9_999));
    expect(commonLength(one, Buffer.from(one))).toBe(10_000);
  },
);
