import { describe, expect, test } from 'vitest';
import type { DetectorName } from '../../../src/policy/detectors/names.ts';
import { compile, saying, subjectOf } from '../deciding.ts';
import { drawKey } from './labelled-set/draw-key.ts';
import { createRandom } from './labelled-set/random.ts';

const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

const values = {
  secrets: drawKey(createRandom(91), 'sk-ant-api03-<key:95>'),
  credit_card: '5555555555554444',
  iban: 'DE89370400440532013000',
  us_ssn: '536-22-1234',
  email: 'maria.lopez@corp.example.com',
  national_id: 'RSSMRA85T10A562S',
} as const satisfies Partial<Record<DetectorName, string>>;

/** What stands around a value, or how it is written, where people and programs send it. */
const carriers: Readonly<Record<string, (value: string) => unknown>> = {
  'behind é': (value) => `clé${value}`,
  'behind a letter with a combining mark': (value) => `cle\u0301${value}`,
  'behind Chinese': (value) => `密钥${value}`,
  'behind Cyrillic': (value) => `ключ:${value}`,
  'behind an emoji': (value) => `🔑${value}`,
  'behind a byte order mark': (value) => `\ufeff${value}`,
  'behind a full-width colon': (value) => `key：${value}`,
  'with an invisible character in it': (value) => `${value.slice(0, 9)}\u200b${value.slice(9)}`,
  'with escapes of JSON': (value) => `{"k": "${escaped(value)}"}`,
  'in JSON inside JSON': (value) => JSON.stringify({ a: JSON.stringify({ b: value }) }),
  'in Markdown': (value) => `**${value}** or \`${value}\``,
  'in a tuple': (value) => `('${value}',)`,
  'in two blocks': (value) => [
    { type: 'text', text: value.slice(0, 9) },
    { type: 'text', text: value.slice(9) },
  ],
  'in a file in base64': (value) => [
    {
      type: 'document',
      source: {
        type: 'base64',
        media_type: 'text/plain',
        data: Buffer.from(`# notes\n\nkey: ${value}\n${'more\n'.repeat(200)}`).toString('base64'),
      },
    },
  ],
};

function escaped(value: string): string {
  return Array.from(value, (each, at) =>
    at % 5 === 0 ? `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}` : each,
  ).join('');
}

function decider(name: string) {
  const rule = { id: 'r', action: 'block', when: { text: { detect: [{ [name]: 'possible' }] } } };
  const set = compile({ house: { rules: [rule] } }).select(['house']);
  return (content: unknown) => set.decide(subjectOf(saying(content))).action;
}

describe.each(Object.entries(values))('%s', (name, value) => {
  const decide = decider(name);

  test.each(Object.entries(carriers))('is found %s', (_carrier, write) => {
    expect(decide(write(value))).toBe('block');
    expect(decide(write('nothing to be found here'))).toBe('allow');
  });
});

test.each(['https://h.example/x?k={}&b=1', 'https://h.example/{}/x', 'https://{}@h.example/x'])(
  'a key is found in %s',
  (url) => {
    expect(decider('secrets')(url.replace('{}', values.secrets))).toBe('block');
  },
);

describe('numbers that are wrapped where a group ends', () => {
  test.each<[DetectorName, string]>([
    ['credit_card', 'card 4111 1111\n1111 1111'],
    ['credit_card', 'card 4111 1111\n    1111 1111'],
    ['iban', 'IBAN DE89 3704 0044\n0532 0130 00'],
  ])('%s in %j', (name, text) => {
    expect(decider(name)(text)).toBe('block');
  });
});

describe('a seed phrase', () => {
  const decide = decider('seed_phrase');

  test.each([
    ['in the middle of a text about something else', `In the second paragraph we read ${phrase} and more.`],
    ['with a wrong checksum', `My seed phrase: ${phrase.replace(/yellow$/, 'winner')}`],
    ['with a word too few', `My seed phrase: ${phrase.replace(/ \w+$/, '')}`],
  ])('is none %s', (_where, text) => {
    expect(decide(text)).toBe('allow');
  });
});

test('megabytes of what is nearly a key are no key, and decided', () => {
  const nearly = ['sk-ant-api03-', 'ghp_', 'AKIA', 'xoxb-1', 'eyJhbGciOi', 'SG.', 'password = "'].join('a1 ');

  expect(decider('secrets')(nearly.repeat(40_000))).toBe('allow');
});
