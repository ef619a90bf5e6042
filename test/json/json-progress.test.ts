import { expect, test } from 'vitest';
import { escapeAt, JsonDepth, JsonProgress } from '../../src/json/json-progress.ts';

test.each(['{}', '{"a":{"b":[1,{"c":"}"}]}}', '{"quote":"\\"}"}', '{"both":"\\\\\\"{"}'])(
  '%s is complete with its last brace and not before',
  (text) => {
    const progress = new JsonProgress();
    const last = text.lastIndexOf('}');

    for (let at = 0; at < text.length; at += 1) {
      expect(progress.isComplete).toBe(at > last);
      progress.add(text.charAt(at));
    }
    expect(progress.isComplete).toBe(true);
  },
);

/** The depths behind each letter. */
function depthsOf(text: string): string {
  const depth = new JsonDepth();
  return Array.from(text, (letter) => {
    depth.add(letter);
    return depth.depth;
  }).join('');
}

test.each([
  ['{"a":"bc"}', '0110011100'],
  ['no {"json"}', '00000000000'],
  ['["a" x "b"]', '01100000000'],
  [String.raw`["{\"k\":\"v\"}"]`, '01112221112221100'],
])('%s: in how many strings each letter stands', (text, expected) => {
  expect(depthsOf(text)).toBe(expected);
});

test('a value at a depth is written so that it is read back there', () => {
  const depth = new JsonDepth();
  depth.add(String.raw`["{\"k\":\"`);

  const written = escapeAt(depth.depth, 'say "no"');

  expect(JSON.parse(JSON.parse(String.raw`["{\"k\":\"${written}\"}"]`)[0])).toEqual({ k: 'say "no"' });
});
