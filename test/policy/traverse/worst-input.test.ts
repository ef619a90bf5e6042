import { describe, expect, test } from 'vitest';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { worstInputTokens } from '../../../src/policy/traverse/worst-input.ts';
import { growth } from '../../kit/growth.ts';

const count = (value: unknown) => worstInputTokens(parseStrictJson(Buffer.from(JSON.stringify(value))));
const message = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const frame = JSON.stringify(message('')).length;

describe('the worst case of input', () => {
  test('is a token for three bytes of ASCII', () => {
    expect(count(message('a'.repeat(300)))).toBe(Math.ceil((frame + 300) / 3));
  });

  test.each([
    ['Chinese', '漢', 3],
    ['Tibetan', 'ༀ', 3],
    ['Cyrillic', 'Ж', 2],
    ['emoji', '🌵', 4],
  ])(
    'is a token for each byte of %s, as which it is counted where a tokenizer does not know it',
    (_what, character, bytes) => {
      expect(count(message(character.repeat(5_000)))).toBe(Math.ceil(frame / 3) + 5_000 * bytes);
    },
  );

  test('of few characters beyond ASCII among many others is a token for each of their bytes', () => {
    const prose = 'a'.repeat(5_000);

    expect(count(message(`${prose}漢${prose}…`))).toBe(Math.ceil((frame + 10_000) / 3) + 6);
  });

  test('is the same whether characters are escaped or not', () => {
    const plain = '漢'.repeat(500);
    const escaped = `{"messages":[{"role":"user","content":"${'\\u6f22'.repeat(500)}"}]}`;

    expect(worstInputTokens(parseStrictJson(Buffer.from(escaped)))).toBe(count(message(plain)));
  });

  const base64 = (length: number) => 'iVBORw0K'.repeat(length);
  const dataUrl = (length: number) => `data:image/png;base64,${base64(length)}`;
  const images: readonly (readonly [string, (length: number) => object])[] = [
    ['messages', (length) => ({ type: 'image', source: { media_type: 'image/png', data: base64(length) } })],
    ['chat', (length) => ({ type: 'image_url', image_url: { url: dataUrl(length) } })],
    ['responses', (length) => ({ type: 'input_image', image_url: dataUrl(length) })],
  ];

  test.each(images)(
    'of an image in %s is a share of its bytes, of few bytes many points',
    (_dialect, image) => {
      const [large, small] = [count(message([image(10_000)])), count(message([image(12)]))];

      expect(large).toBeGreaterThan(4_000);
      expect(large).toBeLessThan(4_200);
      expect(small).toBeGreaterThan(1_600);
      expect(small).toBeLessThan(1_700);
    },
  );

  test.each([
    ['a link', { type: 'image_url', image_url: { url: `https://host.example/${'a'.repeat(200)}` } }],
    ['a short text', { type: 'text', text: base64(12) }],
    ['short data', { type: 'tool_use', id: 't', name: 'n', input: { data: 'iVBORw0K' } }],
  ])('of %s is that of text', (_what, part) => {
    expect(count(message([part]))).toBeLessThan(200);
  });

  test.each([
    ['base64 in a text', { type: 'text', text: base64(10_000) }],
    ['a text without blanks', { type: 'text', text: '漢字'.repeat(5_000) }],
    [
      'a text where an image is expected',
      { type: 'image', source: { data: 'what is this? '.repeat(5_000) } },
    ],
  ])('of %s is that of text', (_what, part) => {
    expect(count(message([part]))).toBeGreaterThan(23_000);
  });

  test('of a list of tokens is at least their number', () => {
    expect(count({ input: Array.from({ length: 3_000 }, () => 0) })).toBeGreaterThanOrEqual(3_000);
    expect(count({ input: Array.from({ length: 3_000 }, () => 100_256) })).toBeLessThan(7_100);
  });

  test('reads a backslash before it as another escape', () => {
    const escaped = `{"messages":[{"role":"user","content":"${'\\\\u6f22'.repeat(500)}"}]}`;

    expect(worstInputTokens(parseStrictJson(Buffer.from(escaped)))).toBe(Math.ceil(escaped.length / 3));
  });

  test.each([
    ['strings with an escape', '"\\n"'],
    ['strings with an escaped character', '"\\u6f22"'],
    ['strings of one wide character', '"漢"'],
    ['objects with an escaped key', '{"\\n":1}'],
  ])('is counted in one pass over %s', (_what, unit) => {
    const body = (count: number) =>
      parseStrictJson(Buffer.from(`{"messages":[${Array.from({ length: count }, () => unit).join()}]}`));
    const limit = 24;

    expect(growth(worstInputTokens, { small: body(5_000), large: body(40_000), limit })).toBeLessThan(limit);
  });
});
