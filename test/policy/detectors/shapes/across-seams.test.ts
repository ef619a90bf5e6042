import { describe, expect, test } from 'vitest';
import { keyChecksum } from '../../../../src/policy/detectors/secrets/key-checksum.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';
import { drawKey } from '../labelled-set/draw-key.ts';
import { createRandom } from '../labelled-set/random.ts';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const random = createRandom(77);
const token = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: random.hex(30), iat: 1_700_000_000 })}.${random.hex(43)}`;
const body = drawKey(createRandom(80), '<alnum:32>');
const keys = {
  DigitalOcean: drawKey(createRandom(78), 'dop_v1_<hex:64>'),
  Anthropic: drawKey(createRandom(79), 'sk-ant-api03-<key:95>'),
  'a web token': token,
  'this gateway': `gw_${body}${keyChecksum(body)}`,
};

/** Each writes a key in pieces, as programs, terminals and editors do. */
const seams: Readonly<Record<string, (key: string) => string>> = {
  'over two lines': (key) => `key: ${cut(key, 2).join('\n')}\n\nThe next paragraph`,
  'over lines of an editor, indented': (key) => `key: >\n  ${cut(key, 3).join('\n  ')}\nother: 1\n`,
  'over lines with Windows endings': (key) => `key ${cut(key, 2).join('\r\n')}\r\n`,
  'in a quoted mail': (key) => `> ${cut(key, 2).join('\n> ')}\n`,
  'with continued lines': (key) => `export KEY=${cut(key, 2).join('\\\n')}\n`,
  'with escaped line ends': (key) => `{"text": "${cut(key, 2).join('\\n')}\\n"}`,
  'as a sum': (key) => `const key = '${cut(key, 3).join("' + '")}';`,
  'as a sum over lines': (key) => `key = "${cut(key, 2).join('" +\n      "')}"`,
  'as adjacent literals': (key) => `key = ("${cut(key, 2).join('"\n       "')}")`,
  'as a sum of PHP': (key) => `$key = '${cut(key, 2).join("' . '")}';`,
  'as a sum of SQL': (key) => `SELECT '${cut(key, 2).join("' || '")}';`,
  'as a sum inside JSON': (key) => `{"code": "key = \\"${cut(key, 2).join('\\" + \\"')}\\""}`,
  'in a shell': (key) => `echo "${cut(key, 2).join('""')}"`,
};

/** Into so many pieces of at least sixteen characters. */
function cut(key: string, most: number): readonly string[] {
  const pieces = Math.min(most, Math.floor(key.length / 16));
  const length = Math.ceil(key.length / pieces);
  return Array.from({ length: pieces }, (_, piece) => key.slice(piece * length, (piece + 1) * length));
}

describe.each(Object.entries(keys))('a key: %s', (_name, key) => {
  test.each(Object.entries(seams))('is found %s, from its beginning to its end', (_seam, write) => {
    const text = write(key);
    const values = found(secrets, text);

    expect(values).toHaveLength(1);
    expect(values[0]?.startsWith(key.slice(0, 12))).toBe(true);
    expect(values[0]?.endsWith(key.slice(-12))).toBe(true);
  });
});

test('a key found in pieces is likely, with that reason', () => {
  const [finding] = secrets.find(`'${cut(keys.DigitalOcean, 2).join("' + '")}'`);

  expect(finding).toMatchObject({ confidence: 'likely', why: 'DigitalOcean, shape, in pieces' });
});

test('two whole keys on two lines are two', () => {
  const lines = [1, 2].map((seed) => drawKey(createRandom(seed), 'dop_v1_<hex:64>'));

  expect(found(secrets, lines.join('\n'))).toEqual(lines);
});

test.each([
  [
    'a prefix at the end of a line',
    'Keys begin with sk-ant-api03-\nor with another prefix, as the documentation says.',
  ],
  ['a prefix in a list', '- dop_v1_\n- doo_v1_\n- dor_v1_\n- ghp_\n'],
  ['an example over lines', `dop_v1_${'x'.repeat(30)}\n${'x'.repeat(34)}`],
  ['an expression of a scanner', '"(dop_v1_[a-f0-9]{64})" + "|(ghp_[A-Za-z0-9]{36})"'],
  [
    'another value on the next line',
    `dop_v1_${'0a1b2c3d4e5f6071'}\ncommit 9fceb02d0ae598e95dc970b74767f19372d61af8`,
  ],
])('%s is no key', (_name, text) => {
  expect(found(secrets, text)).toEqual([]);
});
