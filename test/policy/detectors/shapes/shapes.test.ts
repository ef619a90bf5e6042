import { describe, expect, test } from 'vitest';
import { keyChecksum } from '../../../../src/policy/detectors/secrets/key-checksum.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { expandFormat, readFormat } from '../../../../src/policy/detectors/shapes/format.ts';
import { services } from '../../../../src/policy/detectors/shapes/shape.ts';
import { scale } from '../../../kit/scale.ts';
import { found } from '../found.ts';
import { drawKey } from '../labelled-set/draw-key.ts';
import { base62, createRandom } from '../labelled-set/random.ts';

const formats = services.flatMap(({ name, formats }) =>
  formats.flatMap(expandFormat).map((format) => [name, format] as const),
);

/** One or two keys of each format: as literals they would look like somebody's. */
const examples = formats.flatMap(([name, format], index) =>
  scale([0], [0, 1]).map((each) => [name, drawKey(createRandom(7000 + 2 * index + each), format)] as const),
);

describe('the table of shapes', () => {
  test('knows at least 200 services, each once, each with a page', () => {
    const names = services.map(({ name }) => name);

    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThanOrEqual(200);
    expect(services.filter(({ formats }) => formats.length === 0 || formats.includes(''))).toEqual([]);
    expect(services.filter(({ page }) => page !== 'github' && !page.startsWith('https://'))).toEqual([]);
    expect(services.filter(({ confirmed = '2026-11' }) => !/^20\d\d-\d\d$/.test(confirmed))).toEqual([]);
  });

  test('is refused if a format is not understood', () => {
    expect(() => readFormat('acme_<hx:32>')).toThrow('not a part of a key: <hx:32>');
    expect(() => readFormat('acme_<hex:32-16>')).toThrow('not a part of a key: <hex:32-16>');
  });
});

test.each(examples)('finds a key of %s', (_name, key) => {
  const missed = [
    key,
    `use ${key}.`,
    `KEY="${key}"`,
    `{\\"key\\": \\"${key}\\"}`,
    `первый ключ:${key}，`,
  ].filter((text) => !found(secrets, text).some((value) => value.includes(key)));

  expect(missed).toEqual([]);
});

describe('what only looks like a key', () => {
  const random = createRandom(11);

  test.each([
    ['words behind a short prefix', 'as-well-as-the-other-one pa-rameters-of-the-connection-settings-2'],
    ['a name in small letters', 'md-outlined-text-field-2 sk-estimator-doc-link-fitted-with-2-columns'],
    ['a prefix inside a word', `task-${random.text(40, base62)} xghp_`],
    ['a key cut short', `sntryu_${random.hex(40)}`],
    [
      'an example',
      `sntryu_${'0'.repeat(32)}${'a'.repeat(32)} ghp_EXAMPLE${'example'.repeat(5).slice(0, 29)}`,
    ],
    ['a place holder', 'dp.pt.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
  ])('%s is none', (_name, text) => {
    expect(found(secrets, text)).toEqual([]);
  });
});

test('a key that continues is not one of its service', () => {
  const [finding] = secrets.find(`npm_${createRandom(13).text(50, base62)}`);

  expect(finding?.why).toBe('unlisted service, shape');
});

describe('how sure a key is', () => {
  const random = createRandom(12);
  const first = (text: string) => secrets.find(text)[0];

  test('certain by its checksum', () => {
    const body = random.text(30, base62);
    const checksum = keyChecksum(body);

    expect(first(`ghs_${body}${checksum}`)).toMatchObject({ confidence: 'certain', why: 'GitHub, checksum' });
    expect(first(`ghs_${body}${checksum.slice(1)}0`)?.why).toBe('GitHub, shape');
  });

  test('certain where nothing else looks like it', () => {
    expect(first(`dop_v1_${random.hex(64)}`)).toMatchObject({
      confidence: 'certain',
      why: 'DigitalOcean, shape',
    });
  });

  test('likely where its prefix is short', () => {
    expect(first(`SK${random.hex(32)}`)).toMatchObject({ confidence: 'likely', why: 'Twilio, shape' });
  });
});
