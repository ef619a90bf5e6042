import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';
import { cpuMs } from '../kit/growth.ts';

function refusal(body: string | Buffer): { code: string; param: string | undefined; message: string } {
  try {
    parseStrictJson(Buffer.from(body as string));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { code: error.code, param: error.param, message: error.message };
  }
  throw new Error('it was accepted');
}

function readValue(body: string): unknown {
  const document = parseStrictJson(Buffer.from(body));
  return document.value(document.root);
}

/** Latin-1 text as bytes, for bodies that are no UTF-8. */
const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('what is accepted', () => {
  test.each(
    // biome-ignore format: a case a line
    [
      ['white space of all four kinds everywhere', ' \t\r\n{ \t\r\n"a" \t\r\n: \t\r\n[ \t\r\n1 \t\r\n, 2 ] \n} \t\r\n'],
      ['unicode escapes in both cases', '{"a":"\\u00e9\\u00E9\\uD83D\\uDE00"}'],
      ['a lone surrogate in a text', '{"a":"\\ud800"}'],
      ['text of every width', '{"é":"é € 😀 \u007f\u2028\u2029\ufeff"}'],
      ['noncharacters', '{"a":"\ufffe\uffff"}'],
      ['an underflowing number', '{"a":1e-400}'],
      ['the largest number', '{"a":1.7976931348623157e308}'],
      ['a very long number', `{"a":0.${'1'.repeat(1_000)}}`],
      ['empty containers in containers', '{"a":[[],{},[{}],{"a":[]}]}'],
      ['an empty key', '{"":1}'],
      ['the same key in different objects', '{"a":{"a":1},"b":{"a":{"a":2}},"c":[{"a":1},{"a":1}]}'],
      ['keys that differ in case only', '{"a":1,"A":2}'],
      ['keys that differ in normalisation only', '{"\u00e9":1,"e\u0301":2}'],
      ['keys that are like __proto__', '{"__proto":1,"_proto__":2,"__Proto__":3,"__proto__ ":4,"constructor":5}'],
      ['__proto__ as a text', '{"a":"__proto__"}'],
    ],
  )('%s', (_name, body) => {
    expect(readValue(body)).toEqual(JSON.parse(body));
  });

  test('100 levels', () => {
    const body = `{"a":${'['.repeat(99)}${']'.repeat(99)}}`;

    expect(readValue(body)).toEqual(JSON.parse(body));
  });

  test('nine and more keys, where duplicates are looked for in a set', () => {
    const body = '{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"\\u006a":10}';

    expect(readValue(body)).toEqual(JSON.parse(body));
  });
});

describe('bodies that are not JSON', () => {
  test.each([
    ['nothing', '', 'where the body ends'],
    ['white space alone', ' \n', 'where the body ends'],
    ['an array', '[]', 'expected a JSON object at byte 0'],
    ['a string', '"a"', 'expected a JSON object at byte 0'],
    ['a number', '1', 'expected a JSON object at byte 0'],
    ['null', 'null', 'expected a JSON object at byte 0'],
    ['a brace alone', '{', 'where the body ends'],
    ['an open string', '{"a', 'a string does not end where the body ends'],
    ['an open array', '{"a":[1', 'expected , or ] where the body ends'],
    ['a key without a value', '{"a"}', 'expected : after a key at byte 4'],
    ['a colon without a value', '{"a":}', 'expected a value at byte 5'],
    ['a trailing comma in an object', '{"a":1,}', 'expected a key in double quotes at byte 7'],
    ['a trailing comma in an array', '{"a":[1,]}', 'expected a value at byte 8'],
    ['a missing comma', '{"a":1 "b":2}', 'expected , or } at byte 7'],
    ['the wrong bracket', '{"a":[1}', 'expected , or ] at byte 7'],
    ['a bare key', '{a:1}', 'expected a key in double quotes at byte 1'],
    ['single quotes', "{'a':1}", 'expected a key in double quotes at byte 1'],
    ['bytes after the object', '{} x', 'expected nothing after the object at byte 3'],
    ['a NUL after the object', '{}\u0000', 'expected nothing after the object at byte 2'],
    ['a NUL instead of white space', '{\u0000}', 'at byte 1'],
    ['a no-break space as white space', '{\u00a0}', 'at byte 1'],
    ['a comment', '{/**/}', 'at byte 1'],
    ['a raw line feed in a string', '{"a":"\n"}', 'a control character must be escaped at byte 6'],
    ['a raw unit separator in a key', '{"\u001f":1}', 'a control character must be escaped at byte 2'],
    ['an escape that does not exist', '{"a":"\\x41"}', 'this escape does not exist in JSON at byte 6'],
    ['an octal escape', '{"a":"\\0"}', 'this escape does not exist in JSON'],
    ['a short unicode escape', '{"a":"\\u004"}', 'four hexadecimal digits'],
    ['no hexadecimal digits', '{"a":"\\u00g0"}', 'four hexadecimal digits'],
    ['a backslash at the end', '{"a":"\\', 'this escape does not exist in JSON'],
    ['a leading zero', '{"a":01}', 'a number may not begin with 0'],
    ['a leading zero after a minus', '{"a":-01}', 'a number may not begin with 0'],
    ['a plus', '{"a":+1}', 'expected a value at byte 5'],
    ['a minus alone', '{"a":-}', 'expected a digit after -'],
    ['a leading point', '{"a":.5}', 'expected a value at byte 5'],
    ['a trailing point', '{"a":5.}', 'expected a digit at byte 7'],
    ['an empty exponent', '{"a":1e}', 'expected a digit at byte 7'],
    ['a hexadecimal number', '{"a":0x1}', 'expected , or } at byte 6'],
    ['NaN', '{"a":NaN}', 'expected a value'],
    ['Infinity', '{"a":Infinity}', 'expected a value'],
    ['full-width digits', '{"a":１}', 'expected a value'],
    ['a cut word', '{"a":tru}', 'expected a value'],
    ['a word that goes on', '{"a":nullx}', 'expected , or } at byte 9'],
  ])('%s', (_name, body, message) => {
    expect(() => JSON.parse(body) as unknown).toSatisfy(
      (parse: () => unknown) => throws(parse) || typeof parse() !== 'object' || !isPlainObject(parse()),
    );
    expect(refusal(body)).toMatchObject({
      code: 'request.invalid_json',
      message: expect.stringContaining(message),
    });
  });

  test('every prefix of a document', () => {
    const body = '{"a": [1.5e3, "\\u00e9é", {"b": null}, true, false], "c": -0}';
    const whole = Buffer.from(body);

    for (let end = 0; end < whole.length; end += 1) {
      const { code } = refusal(whole.subarray(0, end));

      expect(['request.invalid_json', 'request.encoding']).toContain(code);
    }
  });
});

describe('bodies that are not UTF-8', () => {
  test.each([
    ['a lone continuation byte', '{"a":"\x80"}'],
    ['a cut sequence', '{"a":"\xc3"}'],
    ['a cut sequence at the end', '{"a":"\xe2\x82'],
    ['an overlong quote', '{"a":"\xc0\xa2"}'],
    ['an overlong slash of three bytes', '{"a":"\xe0\x80\xaf"}'],
    ['an overlong NUL', '{"a":"\xc0\x80"}'],
    ['an encoded surrogate', '{"a":"\xed\xa0\x80"}'],
    ['an encoded surrogate pair', '{"a":"\xed\xa0\xbd\xed\xb8\x80"}'],
    ['a code point above the last', '{"a":"\xf4\x90\x80\x80"}'],
    ['five bytes', '{"a":"\xf8\x88\x80\x80\x80"}'],
    ['0xff', '{"a":"\xff"}'],
    ['Latin-1', '{"a":"caf\xe9"}'],
    ['a bad byte outside strings', '{\xff"a":1}'],
    ['UTF-16, little-endian', '\xff\xfe{\x00}\x00'],
    ['UTF-16, big-endian', '\xfe\xff\x00{\x00}'],
    ['a byte order mark', '\xef\xbb\xbf{}'],
  ])('%s', (_name, text) => {
    expect(refusal(bytes(text)).code).toBe('request.encoding');
  });

  test('UTF-16 without a mark is refused as JSON', () => {
    expect(refusal(Buffer.from('{"a":1}', 'utf16le')).code).toBe('request.invalid_json');
  });

  test('a byte order mark after white space or within is refused as JSON', () => {
    expect(refusal(' \ufeff{}').code).toBe('request.invalid_json');
    expect(refusal('{\ufeff}').code).toBe('request.invalid_json');
  });
});

describe('keys that stand twice', () => {
  const many = [...'abcdefghijkl'].map((key) => `"${key}":0`).join();

  test.each([
    ['plain', '{"a":1,"a":2}', '/a'],
    ['with an equal value', '{"a":1,"a":1}', '/a'],
    ['spelled with an escape', '{"a":1,"\\u0061":2}', '/a'],
    ['spelled with an escape first', '{"\\u0061":1,"a":2}', '/a'],
    ['both escaped, differently', '{"\\u00e9":1,"\\u00E9":2}', '/é'],
    ['a slash and an escaped slash', '{"a/b":1,"a\\/b":2}', '/a~1b'],
    ['wide and escaped', '{"é":1,"\\u00e9":2}', '/é'],
    ['a pair as it is and as escapes', '{"😀":1,"\\ud83d\\ude00":2}', '/😀'],
    ['not next to each other', '{"a":1,"b":{"a":1},"a":2}', '/a'],
    ['empty', '{"":1,"":2}', '/'],
    ['at depth', '{"x":[0,{"y":{"a":1,"a":2}}]}', '/x/1/y/a'],
    ['in the last of its siblings', '{"p":{"q":1},"r":[[],[{"s":{}},{"t":0,"t":0}]]}', '/r/1/1/t'],
    ['among many', `{${many},"c":0}`, '/c'],
    ['among many, escaped', `{${many},"\\u0063":0}`, '/c'],
    // Readers that can't hold a lone surrogate put U+FFFD in its place, and then these are one key.
    ['alike where lone surrogates are replaced', '{"\\ud800":1,"\\udfff":2}', '/\udfff'],
    ['a lone surrogate and its replacement', '{"\ufffd":1,"\\ud800":2}', '/\ud800'],
    ['with ~ and / in the way', '{"~/":{"a~b/c":{"d":1,"d":2}}}', '/~0~1/a~0b~1c/d'],
  ])('%s', (_name, body, param) => {
    expect(refusal(body)).toMatchObject({ code: 'request.duplicate_key', param });
  });
});

describe('other refusals', () => {
  test.each([
    ['plain', '{"__proto__":1}', '/__proto__'],
    ['one letter escaped', '{"\\u005f_proto__":1}', '/__proto__'],
    [
      'all letters escaped',
      `{"${[...'__proto__'].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('')}":1}`,
      '/__proto__',
    ],
    ['at depth', '{"a":[{"b":0},{"c":{"__proto__":{}}}]}', '/a/1/c/__proto__'],
    ['behind closed siblings', '{"a":{"b":[1,2]},"c":[{}, {"d":{}, "__proto__":1}]}', '/c/1/__proto__'],
  ])('a __proto__ key: %s', (_name, body, param) => {
    expect(refusal(body)).toMatchObject({ code: 'request.field', param });
  });

  test.each([
    ['101 levels of arrays', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
    ['101 levels of objects', `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`],
    ['levels that never end', '{"a":'.repeat(50_000)],
  ])('%s', (_name, body) => {
    expect(refusal(body).code).toBe('request.too_deep');
  });

  test.each([
    ['an exponent', '{"a":[0,1e309]}', '/a/1'],
    ['a negative one', '{"a":{"b":-1e309}}', '/a/b'],
    ['many digits', `{"a":1${'0'.repeat(309)}}`, '/a'],
    ['many digits and a negative exponent that does not save it', `{"a":1${'0'.repeat(320)}e-5}`, '/a'],
  ])('a number that no double can hold: %s', (_name, body, param) => {
    expect(refusal(body)).toMatchObject({ code: 'request.field', param });
  });

  test('no message quotes the body', () => {
    for (const body of ['{"secret":secret}', '{"secret":1,"secret":2}', '{"a":"secret\n"}', '{"secret" 1}']) {
      expect(refusal(body).message).not.toContain('secret');
    }
  });
});

describe('hostile bodies cost no more than their length', () => {
  // Generous: what is quadratic here takes minutes.
  const generousMs = 5_000;

  const keys = (names: readonly unknown[]) => `{${names.map((name) => `"${name}":0`).join()}}`;
  const numbered = Array.from({ length: 100_000 }, (_, i) => `key${i}`);
  const sameLowBits = Array.from({ length: 65_535 }, (_, i) => ((i + 1) * 65_536) >>> 0);
  const alike = Array.from({ length: 8 }, (_, i) => 'x'.repeat(125_000) + i);

  test.each([
    ['100,000 keys', keys(numbered), undefined],
    ['65,535 keys that are numbers with the same low bits', keys(sameLowBits), undefined],
    ['eight long keys that differ at their end', keys(alike), undefined],
    ['100,000 objects of two keys', `{"a":[${'{"k":1,"l":2},'.repeat(100_000)}{}]}`, undefined],
    ['a megabyte of escapes', `{"a":"${'\\u0041'.repeat(175_000)}"}`, undefined],
    ['a megabyte of escapes in a key', `{"${'\\u0041'.repeat(175_000)}":1}`, undefined],
    ['a million opening brackets', `{"a":${'['.repeat(1_000_000)}`, 'request.too_deep'],
    ['a megabyte of digits', `{"a":${'1'.repeat(1_000_000)}}`, 'request.field'],
    ['a megabyte of white space', `{${' '.repeat(1_000_000)}`, 'request.invalid_json'],
    ['a megabyte that does not end', `{"a":"${'x'.repeat(1_000_000)}`, 'request.invalid_json'],
    [
      'a duplicate key behind 100,000 others at depth',
      `${'{"a":'.repeat(98)}${keys([...numbered, 'key0'])}${'}'.repeat(98)}`,
      'request.duplicate_key',
    ],
  ])('%s', (_name, text, code) => {
    const body = Buffer.from(text);
    const parse = () => {
      if (code === undefined) parseStrictJson(body);
      else expect(refusal(body).code).toBe(code);
    };

    expect(cpuMs(parse)).toBeLessThan(generousMs);
  });
});

describe('reading can be given up', () => {
  const keys = (count: number, make: (at: number) => string) =>
    `{${Array.from({ length: count }, (_, at) => `"${make(at)}":0`).join()}}`;

  test.each([
    ['nested arrays', `{"a":[${`${'['.repeat(50)}${']'.repeat(50)},`.repeat(1_000)}0]}`],
    ['short texts', `{"a":[${'"text",'.repeat(20_000)}0]}`],
    ['numbers', `{"a":[${'12,'.repeat(40_000)}0]}`],
  ])('every few bytes of %s', (_name, text) => {
    let calls = 0;

    parseStrictJson(Buffer.from(text), () => {
      calls += 1;
    });

    expect(calls).toBeGreaterThan(text.length / 2_048);
  });

  test.each([
    ['keys', keys(10_000, (at) => `k${at}`)],
    ['escaped keys', keys(10_000, (at) => `\\u006b${at}`)],
  ])('at each of many %s that are compared', (_name, text) => {
    let calls = 0;

    parseStrictJson(Buffer.from(text), () => {
      calls += 1;
    });

    expect(calls).toBeGreaterThanOrEqual(10_000);
  });

  test('with what the checkpoint throws', () => {
    const enough = new Error('enough');
    let calls = 0;
    const parse = () =>
      parseStrictJson(Buffer.from(`{"a":[${'0,'.repeat(10_000)}0]}`), () => {
        calls += 1;
        if (calls === 3) throw enough;
      });

    expect(parse).toThrow(enough);
    expect(calls).toBe(3);
  });
});

function throws(parse: () => unknown): boolean {
  try {
    parse();
    return false;
  } catch {
    return true;
  }
}

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

describe('a string is read four bytes at a time, wherever it begins and whatever it contains', () => {
  const every = Array.from({ length: 9 }, (_, length) => 'x'.repeat(length));
  // biome-ignore format: a list
  const inside = [
    '!', '#', '[', ']', '~', '\u007f', 'é', '日', '🚀', '\\"', '\\\\', '\\n', '\\u0041', '\\ud83d',
  ];

  test('texts and what is known of them', () => {
    for (const key of every) {
      for (const before of every) {
        for (const special of inside) {
          for (const after of every) {
            const written = before + special + after;
            const body = `{"${key}":"${written}"}`;

            const document = parseStrictJson(Buffer.from(body));

            expect(document.text(2)).toBe(JSON.parse(body)[key]);
            expect(document.end(2)).toBe(Buffer.byteLength(body) - 2);
            expect(document.isEscaped(2)).toBe(special.startsWith('\\'));
            expect(document.isWide(2)).toBe(/[^\0-\x7f]/.test(written));
          }
        }
      }
    }
  });

  test('a wide character counts for its own string only', () => {
    for (const before of every) {
      const document = parseStrictJson(Buffer.from(`{"${before}":"é","b${before}":"c"}`));

      expect([1, 2, 3, 4].map((entry) => document.isWide(entry))).toEqual([false, true, false, false]);
    }
  });

  test('what must not stand in it, with its byte', () => {
    for (const before of every) {
      for (const byte of ['\0', '\t', '\n', '\u001f']) {
        const { message } = refusal(`{"a":"é${before}${byte}${before}"}`);
        expect(message).toContain(`a control character must be escaped at byte ${8 + before.length}`);
      }
      expect(refusal(`{"a":"${before}\\x"}`).message).toContain(
        `this escape does not exist in JSON at byte ${6 + before.length}`,
      );
      expect(refusal(`{"a":"${before}`).message).toContain('a string does not end where the body ends');
    }
  });
});
