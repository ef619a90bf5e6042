import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { memoryOf } from '../../src/gateway/decision/thread-messages.ts';
import { exactInteger, JsonDocument, kinds } from '../../src/json/json-document.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';
import { cpuMs } from '../kit/growth.ts';
import { createRandom, type Random } from '../kit/random.ts';
import { scale } from '../kit/scale.ts';

// biome-ignore format: a list
const characters = [
  'a', 'b', 'Z', '0', '"', '\\', '/', '~', ' ', '\n', '\u0000', '\u001f', '\u007f', 'é', '€', '😀', '\ud800',
  '\udfff', '\u2028', '\ufeff', '__proto__',
];

function randomText(random: Random): string {
  return Array.from({ length: random.below(6) }, () => random.of(characters)).join('');
}

/** A string's JSON with a random choice among its spellings. */
function spell(random: Random, text: string): string {
  const spelled = text.split('').map((unit) => {
    const code = unit.charCodeAt(0);
    const isSurrogate = code >= 0xd800 && code <= 0xdfff;
    const mustEscape = code < 0x20 || unit === '"' || unit === '\\' || isSurrogate;
    if (!mustEscape && random.next() < 0.8) return unit;
    const hex = code.toString(16).padStart(4, '0');
    if (mustEscape && !isSurrogate && random.next() < 0.5) return JSON.stringify(unit).slice(1, -1);
    return `\\u${random.next() < 0.5 ? hex : hex.toUpperCase()}`;
  });
  return `"${spelled.join('')}"`;
}

// biome-ignore format: a list
const numbers = [
  '0', '-0', '1', '-1', '-7', '256', '999999999', '1234567890123456789', '0.25', '1.5', '1e5', '1E+5', '12e-3', '9007199254740993', '1e308', '1e400', '-0.0e0',
];

function space(random: Random): string {
  return random.next() < 0.8 ? '' : random.of([' ', '\n', '\t', '\r\n', '  ']);
}

function randomValue(random: Random, depth: number): string {
  const choice = depth <= 0 ? random.below(3) : random.below(6);
  switch (choice) {
    case 0:
      return spell(random, randomText(random));
    case 1:
      return random.of(numbers);
    case 2:
      return random.of(['true', 'false', 'null']);
    case 3:
      return randomArray(random, depth);
    default:
      return randomObject(random, depth);
  }
}

function randomArray(random: Random, depth: number): string {
  const items = Array.from(
    { length: random.below(5) },
    () => space(random) + randomValue(random, depth - 1) + space(random),
  );
  return `[${items.join(',')}]`;
}

function randomObject(random: Random, depth: number): string {
  const members = Array.from({ length: random.below(12) }, (_, i) => {
    const name = randomText(random) + (random.next() < 0.9 ? i : '');
    const key = space(random) + spell(random, name) + space(random);
    return `${key}:${space(random)}${randomValue(random, depth - 1)}${space(random)}`;
  });
  return `{${members.join(',')}}`;
}

function randomDocument(random: Random): Buffer {
  return Buffer.from(space(random) + randomObject(random, 1 + random.below(4)) + space(random));
}

// biome-ignore format: a list
const pieces = [
  '"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', 'u', 'true', 'null', ' ', '\n', '\u0000',
  '\u001f', '\u00a0', '"a":1,', '\\u0061', '\\ud800', '\xff', '\xc0', '\x80', '\xef\xbb\xbf',
];

function mutate(random: Random, body: Buffer): Buffer {
  const at = random.below(body.length + 1);
  const end = Math.min(body.length, at + random.below(4));
  const piece = Buffer.from(random.of(pieces), 'latin1');
  switch (random.below(4)) {
    case 0:
      return Buffer.concat([body.subarray(0, at), piece, body.subarray(at)]);
    case 1:
      return Buffer.concat([body.subarray(0, at), body.subarray(end)]);
    case 2:
      return Buffer.concat([body.subarray(0, at), piece, body.subarray(end)]);
    default:
      return Buffer.concat([body.subarray(0, end), body.subarray(at)]);
  }
}

type Reading = { readonly value: unknown } | { readonly code: string };

function readStrictly(body: Buffer): Reading {
  try {
    const document = parseStrictJson(body);
    return { value: document.value(document.root) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { code: error.code };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readLoosely(body: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(utf8.decode(body)) };
  } catch {
    return undefined;
  }
}

describe('against JSON.parse, on random bodies', () => {
  test('what is accepted has the same value there, and what is refused there is refused here', () => {
    const random = createRandom(20_240_917);
    const seen: Record<string, number> = {};

    for (let round = 0; round < scale(1_500, 6_000); round += 1) {
      let body = randomDocument(random);
      const mutations = random.below(4);
      for (let i = 0; i < mutations; i += 1) body = mutate(random, body);

      const strict = readStrictly(body);
      const loose = readLoosely(body);

      const outcome = 'value' in strict ? 'accepted' : strict.code;
      seen[outcome] = (seen[outcome] ?? 0) + 1;
      if ('value' in strict) expect(strict.value, body.toString('latin1')).toEqual(loose?.value);
      // Of what JSON.parse takes, only these are refused; the syntax is the same.
      else if (outcome === 'request.invalid_json' && loose !== undefined) {
        expect(typeof loose.value !== 'object' || loose.value === null || Array.isArray(loose.value)).toBe(
          true,
        );
      }
      if (loose === undefined) expect('value' in strict, body.toString('latin1')).toBe(false);
    }

    // The fuzz has to reach every kind of outcome, or it shows nothing.
    expect(seen.accepted).toBeGreaterThan(scale(250, 1_000));
    for (const code of [
      'request.invalid_json',
      'request.encoding',
      'request.duplicate_key',
      'request.field',
    ]) {
      expect(seen[code], code).toBeGreaterThan(scale(4, 30));
    }
  });

  test('every entry has its pointer, its kind and its value', () => {
    const random = createRandom(7);
    let entries = 0;

    for (let round = 0; round < scale(100, 400); round += 1) {
      const body = randomDocument(random);
      if (!('value' in readStrictly(body))) continue;
      const document = parseStrictJson(body);
      const whole = document.value(document.root);
      for (let entry = 0; entry < document.count; entry += 1) {
        entries += 1;
        const found = resolve(whole, document.pointer(entry));
        if (document.isKey(entry)) expect(document.pointer(entry + 1)).toBe(document.pointer(entry));
        else expect(document.value(entry)).toEqual(found);
      }
    }

    expect(entries).toBeGreaterThan(scale(500, 2_000));
  });
});

/** RFC 6901, written apart from the code under test. */
function resolve(value: unknown, pointer: string): unknown {
  if (pointer === '') return value;
  let at = value;
  for (const token of pointer.slice(1).split('/')) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name))
      throw new Error(`nothing at ${pointer}`);
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

const read = (body: string): JsonDocument => parseStrictJson(Buffer.from(body));

describe('looking into a document', () => {
  test('children are walked by next, keys before their values', () => {
    const document = read('{"a":[1,{"b":2}],"c":"d"}');

    const seen: [string, number][] = [];
    for (let at = document.root + 1; at < document.next(document.root); at = document.next(at)) {
      seen.push([document.raw(at), document.kind(at)]);
    }

    expect(seen).toEqual([
      ['a', kinds.string],
      ['[1,{"b":2}]', kinds.array],
      ['c', kinds.string],
      ['d', kinds.string],
    ]);
  });

  test('a member is found by its plain and by its escaped spelling, and only as a whole', () => {
    const document = read('{"models":1,"mode":2,"\\u006dodel":"x","nested":{"deep":3}}');

    expect(document.memberText(document.root, 'model')).toBe('x');
    expect(document.member(document.root, 'deep')).toBeUndefined();
    expect(document.member(document.root, 'mod')).toBeUndefined();
    expect(document.memberText(document.root, 'mode')).toBeUndefined();
  });

  test('values that are not objects have no members', () => {
    const document = read('{"a":["model"]}');
    const array = document.member(document.root, 'a') ?? 0;

    expect(document.member(array, 'model')).toBeUndefined();
    expect(document.member(array + 1, 'model')).toBeUndefined();
  });

  test('short texts are decoded each for itself, however alike their bytes are', () => {
    const random = createRandom(7);
    // Of many pairs the first and the last byte are the same; one is the Latin-1 reading of another.
    const letters = ['a', 'b', 'é', 'Ã', '©', 'Ã©', '漢', '😀', 'x'];
    const texts = Array.from({ length: scale(2_000, 20_000) }, () =>
      Array.from({ length: random.below(9) }, () => letters[random.below(letters.length)]).join(''),
    );
    for (const list of [texts, texts.filter((text) => /^[a-z]*$/.test(text))]) {
      const document = parseStrictJson(Buffer.from(JSON.stringify({ list })));
      const read = Array.from({ length: list.length }, (_, at) => document.text(3 + at));

      expect(read).toEqual(list);
    }
  });

  test('the next key and the next of a kind are those at or after an entry, or the count', () => {
    const document = read('{"a":[1,{"b":2}],"c":{}}');
    const entries = Array.from({ length: document.count }, (_, entry) => entry);

    expect(entries.map((entry) => document.nextKey(entry))).toEqual([1, 1, 5, 5, 5, 5, 7, 7, 9]);
    expect(entries.map((entry) => document.nextOfKind(entry, kinds.object))).toEqual([
      0, 4, 4, 4, 4, 8, 8, 8, 8,
    ]);
  });

  test.each(['{"a":1}', `{"a":[${'1,'.repeat(9_999)}1]}`])(
    'a small document and a large one are the same in another thread (%#)',
    (body) => {
      const document = parseStrictJson(Buffer.from(body));
      const parts = document.toParts();
      const sent = structuredClone(parts, { transfer: [...memoryOf(parts.tape)] });
      const other = JsonDocument.fromParts(sent);

      expect(other.count).toBe(body.length > 100 ? 10_003 : 3);
      expect(other.value(other.root)).toEqual(JSON.parse(body));
      expect(other.end(other.count - 1)).toBe(body.lastIndexOf('1') + 1);
    },
  );

  test('a body of many members has the same ones each time, here and in another thread', () => {
    const values = Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]);
    const body = `{${values.map(([name, at]) => `"${name}":{"k1":${at}}`).join()}}`;
    const document = parseStrictJson(Buffer.from(body));
    const found = (each: JsonDocument) =>
      ['k0', 'k19999', 'none', 'k1'].map((name) => {
        const value = each.member(each.root, name);
        return value === undefined ? undefined : each.value(value);
      });
    const expected = [{ k1: 0 }, { k1: 19_999 }, undefined, { k1: 1 }];

    expect([found(document), found(document)]).toEqual([expected, expected]);
    const other = JsonDocument.fromParts(structuredClone(document.toParts()));
    expect([found(other), found(other)]).toEqual([expected, expected]);
    expect(other.member(other.member(other.root, 'k7') as number, 'k1')).toBeGreaterThan(0);
    expect(other.memberText(other.root, 'k2')).toBeUndefined();
  });
});

test.each([
  ['0', 0],
  ['-0', 0],
  ['0.0', 0],
  ['0e99', 0],
  ['1', 1],
  ['-7', -7],
  ['1e3', 1_000],
  ['1E+3', 1_000],
  ['10.0', 10],
  ['1.5e1', 15],
  ['1000e-3', 1],
  ['9007199254740991', 9_007_199_254_740_991],
  [`${'1'}${'0'.repeat(50_000)}e-50000`, 1],
])('%s is %i', (text, expected) => {
  expect(exactInteger(text)).toBe(expected);
});

test.each([
  '1.5',
  '1e-1',
  '0.99999999999999999999',
  '1000.0000000000000000001',
  '9007199254740992',
  '9007199254740993',
  '1e16',
  '1e99999999999999999999',
  '1e-400',
  '',
  'abc',
])('%s is no integer that is sure', (text) => {
  expect(exactInteger(text)).toBeUndefined();
});

test('converting a number of many digits is linear', () => {
  const convert = () => {
    exactInteger(`0.${'0'.repeat(1_000_000)}1`);
    exactInteger(`${'1'.repeat(1_000_000)}`);
  };

  // Half a second; one that is not linear takes hours.
  expect(cpuMs(convert)).toBeLessThan(10_000);
});
