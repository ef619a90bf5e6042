import { expect, test } from 'vitest';
import type { Mark, RuleDetail } from '../../src/inspector/contract/exchange-detail.ts';
import {
  createTextFinder,
  findMarks,
  findRedactions,
  withoutOverlap,
} from '../../src/inspector/detail/marks.ts';

const marked = (text: string, marks: readonly Mark[]) =>
  marks.map(({ kind, rule, start, end }) => `${kind} ${rule ?? '-'}: ${text.slice(start, end)}`);

const redacting = (rule: string, reason: string, more: Partial<RuleDetail> = {}): RuleDetail => ({
  rule,
  reason,
  action: 'redact',
  mode: 'enforce',
  matched: true,
  on: 'request',
  matches: [],
  ...more,
});

const noMail = redacting('no-mail', 'data.email');

test('each range of a text is marked where its JSON is, whatever it is escaped as', () => {
  const said = '\u00e9 "\n\ud83d\ude00 ann@example.org or\tbob@example.org';
  const ranges = ['ann@example.org', 'bob@example.org'].map((one) => ({
    start: said.indexOf(one),
    end: said.indexOf(one) + one.length,
  }));
  const plain = JSON.stringify({ said });
  const escaped = plain.replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

  for (const text of [plain, escaped, escaped.replaceAll('@', '\\u0040')]) {
    const marks = findMarks(text, [{ kind: 'match', at: '/said', rule: 'no-mail', ranges }]);

    expect(marked(text, marks).map((one) => one.replaceAll('\\u0040', '@'))).toEqual([
      'match no-mail: ann@example.org',
      'match no-mail: bob@example.org',
    ]);
  }
});

test('a value without ranges, or that is no text, is marked as a whole', () => {
  const text = '{"model":"m","max_tokens":9000}';
  const ranges = [{ start: 0, end: 1 }];

  const marks = findMarks(text, [
    { kind: 'match', at: '/max_tokens', rule: 'long', ranges },
    { kind: 'match', at: '/model', rule: 'known' },
  ]);

  expect(marked(text, marks)).toEqual(['match known: "m"', 'match long: 9000']);
});

test('ranges beyond the end of a text mark nothing outside it', () => {
  const text = '{"a":"xy","b":"z"}';

  const marks = findMarks(text, [{ kind: 'match', at: '/a', rule: 'r', ranges: [{ start: 1, end: 500 }] }]);

  expect(marked(text, marks)).toEqual(['match r: y']);
});

test('a label that a rule put there is marked, in another dialect and inside a text of JSON too', () => {
  const received =
    '{"messages":[{"content":"from ann@example.org"}],"input":"{\\"to\\":\\"bob@example.org\\"}"}';
  const sent = '{"contents":"from [REDACTED:data.email]","args":"{\\"to\\":\\"[REDACTED:data.email]\\"}"}';

  expect(marked(sent, findRedactions(sent, received, [noMail]))).toEqual([
    'redacted no-mail: [REDACTED:data.email]',
    'redacted no-mail: [REDACTED:data.email]',
  ]);
});

test('a label that the client wrote is not marked, unless something else of its text was replaced', () => {
  const received = '{"a":"\\u00e9 [REDACTED:data.email]","b":"new: ann@example.org"}';
  const sent = '{"a":"\u00e9 [REDACTED:data.email]","b":"new: [REDACTED:data.email]"}';

  const marks = findRedactions(sent, received, [noMail]);

  expect(marks).toHaveLength(1);
  expect(marks[0]?.start).toBe(sent.lastIndexOf('[REDACTED'));
});

test.each([
  ['quotes', '\\"'],
  ['escapes', '\\\\'],
])('of a text of %s that is cut, what is there of a label is marked, in time', (_, filling) => {
  const cut = `{"a":"[REDACTED:data.email] ${filling.repeat(250_000)}`;

  // Each quote could be taken for the beginning of a string that ends nowhere.
  expect(findRedactions(cut, cut.replace('[REDACTED:data.email]', 'ann'), [noMail])).toMatchObject([
    { start: 6, end: 27 },
  ]);
});

test('without a rule that redacts nothing is marked as redacted', () => {
  const sent = '{"a":"[REDACTED:data.email]"}';

  expect(findRedactions(sent, '{}', [])).toEqual([]);
  expect(findRedactions(sent, '{}', [redacting('dry', 'data.email', { mode: 'monitor' })])).toEqual([]);
  expect(findRedactions(sent, '{}', [redacting('other', 'data.phone')])).toMatchObject([{ start: 6 }]);
});

test('rules with one reason are named together', () => {
  const sent = '{"a":"[REDACTED:data.email]"}';

  const marks = findRedactions(sent, '{}', [noMail, redacting('mail-too', 'data.email')]);

  expect(marks.map(({ rule }) => rule)).toEqual(['no-mail, mail-too']);
});

test('of marks that overlap the first one stays, in order and bounded in number', () => {
  const mark = (start: number, end: number, rule: string): Mark => ({ kind: 'match', start, end, rule });
  const many = Array.from({ length: 5_000 }, (_, i) => mark(i * 2, i * 2 + 1, 'many'));

  expect(withoutOverlap([mark(5, 9, 'a'), mark(0, 6, 'b'), mark(1, 2, 'c')]).map(({ rule }) => rule)).toEqual(
    ['c', 'a'],
  );
  expect(withoutOverlap(many)).toHaveLength(1_000);
});

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

test.each<[texts: string[], body: string, found: string[]]>([
  [['ann', 'ann@x'], 'to ann@x and ann', ['ann@x', 'ann']],
  [['a', 'ab', 'abcd', 'abce'], 'abcf a', ['ab', 'a']],
  [['aa'], 'aaaaa', ['aa', 'aa']],
  [['a'], 'b', []],
  [['a"b'], inJson(inJson('a"b')), ['a\\\\\\"b']],
])('of %j in %s the longest is found at each place: %j', (texts, body, found) => {
  const marks = createTextFinder(texts, { kind: 'restored' })(body);

  expect(marks.map(({ start, end }) => body.slice(start, end))).toEqual(found);
});

test('ten thousand texts are found in one pass', () => {
  const texts = Array.from({ length: 10_000 }, (_, at) => `user${at}@customers.example`);
  const body = texts.join(' ').repeat(4);
  const find = createTextFinder(texts, { kind: 'restored' });
  const other = createTextFinder(texts, { kind: 'restored' });

  expect(find(body).length).toBe(1_000);
  const before = process.cpuUsage();
  expect(other(body.replaceAll('@', '+'))).toEqual([]);
  const { user } = process.cpuUsage(before);

  // A search for each text takes several seconds.
  expect(user / 1_000).toBeLessThan(1_500);
});
