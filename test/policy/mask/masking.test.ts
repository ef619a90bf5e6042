import { expect, test } from 'vitest';
import { noValues, pairsOf } from '../../../src/policy/mask/masked-values.ts';
import { Restorer } from '../../../src/policy/mask/restorer.ts';
import { StreamRestorer } from '../../../src/policy/mask/stream-restorer.ts';
import { chatChunk } from '../../kit/stream-events.ts';
import { policyOf, saying } from '../deciding.ts';
import { eventsOf } from '../streams.ts';

const emails = {
  id: 'emails',
  action: 'mask',
  when: { text: { detect: ['email'] } },
  reason: 'content.email',
};
const secrets = {
  id: 'keys',
  action: 'mask',
  when: { text: { detect: [{ secrets: 'possible' }] } },
  reason: 'content.secret',
};
const decide = policyOf(emails, secrets);

test('each value becomes a placeholder of its kind, the same one wherever it is', () => {
  const decision = decide(saying('mail ann@example.com, then bob@example.com, then ann@example.com'));

  const [[ann] = [''], [bob] = ['']] = pairsOf(decision.masked ?? noValues);
  expect(decision.action).toBe('mask');
  expect(ann).toMatch(/^EMAIL_[A-Z]{13}$/);
  expect(decision.redacted?.value(0)).toMatchObject({
    messages: [{ content: `mail ${ann}, then ${bob}, then ${ann}` }],
  });
  expect([...pairsOf(decision.masked ?? noValues)]).toEqual([
    [ann, 'ann@example.com'],
    [bob, 'bob@example.com'],
  ]);
});

test.each([
  'API_KEY=sk-proj-abc123def456ghi789jkl012mno345pqr678stu901vwx234',
  '{"a": {"ann@example.com": "x\\n"}, "list": ["bob@example.com"]}',
  '{"a": "ann@example.com", "broken \\n',
  '[INFO] C:\\new ann@example.com',
])('nothing that rules find leaves, wherever it is in a text: %s', (text) => {
  const decision = decide(saying([{ type: 'text', text }]));

  expect(decision.action).toBe('mask');
  for (const [, value] of pairsOf(decision.masked ?? noValues)) {
    expect(decision.redacted?.bytes.toString()).not.toContain(value);
  }
  expect(decision.redacted?.bytes.toString()).not.toMatch(/example\.com|sk-proj/);
});

test('a masked request is not masked again', () => {
  const first = decide(saying('PASSWORD=hunter2-Kx81!, mail ann@example.com'));

  const second = decide(JSON.parse(first.redacted?.bytes.toString() ?? ''));

  expect(second).toMatchObject({ action: 'allow', verdicts: [] });
});

test('what was recognized in one place is masked wherever it is', () => {
  const password = 'hunter2xKx81q';
  const decision = decide({
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: `why does ${password} not work?` },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 't', name: 'sh', input: { c: `curl -u me:${password} x`, [password]: 1 } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't', content: `DB_PASSWORD=${password}\n` }],
      },
    ],
  });

  expect(decision).toMatchObject({ action: 'mask' });
  expect(decision.redacted?.bytes.toString()).not.toContain(password);
  expect([...pairsOf(decision.masked ?? noValues)].map(([, value]) => value)).toEqual([password]);
});

test('a request that goes on with a conversation kept by its provider is refused', () => {
  const going = { input: 'hello', previous_response_id: 'resp_1' };

  expect(decide(going, { endpoint: 'responses' })).toMatchObject({
    action: 'block',
    refusal: { reason: 'content.stored_conversation', at: '/previous_response_id' },
  });
  expect(decide({ ...going, previous_response_id: null }, { endpoint: 'responses' }).action).toBe('allow');
});

test('a request with an item that only its provider knows is refused', () => {
  const said = { role: 'user', content: 'hello' };
  const refused = (item: object) => decide({ input: [said, item] }, { endpoint: 'responses' });

  for (const item of [{ type: 'item_reference', id: 'msg_1' }, { id: 'msg_1' }]) {
    expect(refused(item)).toMatchObject({
      action: 'block',
      refusal: { reason: 'content.stored_conversation', at: '/input/1' },
    });
  }
  expect(refused({ ...said, id: 'msg_1' }).action).toBe('allow');
});

const masking = (id: string, regex: readonly string[], placeholder?: string) => ({
  ...{ id, action: 'mask', when: { text: { regex } }, placeholder },
});
const names = masking('names', ['«[^»]*»'], 'CUSTOMER');
const decideAll = policyOf(
  emails,
  names,
  masking('letter', ['ß'], 'LETTER'),
  masking('overlapping', ['abcd', 'cdef', 'bc']),
);

test.each(
  Object.entries({
    'twelve thousand values': Array.from({ length: 12_000 }, (_, at) => `user${at}@customers.example`).join(
      ' ',
    ),
    'values that contain one another':
      'ann@example.com joann@example.com ann@example.com.au «ann@example.com» «a «b» c»',
    'values that overlap': 'abcdef abcdcdef bcd abcd',
    'values side by side': '«a»«b»«a»ann@example.com«ann@example.com»ß«ß»',
    'values that look like placeholders':
      'EMAIL_ABCDEFGHIJKLM@example.com «CUSTOMER_ABCDEFGHIJKLM» CUSTOMER_ABCDEFGHIJKLM',
    'a broken placeholder of the client': 'EMAIL_ABCDEFGHIJKL EMAIL_ email_abcdefghijklm and ann@example.com',
    'a value of 100 KB': `before «${'long '.repeat(20_000)}» after`,
    'quotes, lines, emoji and NUL': '«"\\" \n\r\t\u0000 🌿 \u2028» «\\u0000» «\\\\»',
    'the same in other case and escapes': 'ann@example.com ANN@EXAMPLE.COM ann\\u0040example.com «A» «a»',
    'JSON in the text': JSON.stringify({ a: 'ann@example.com', b: JSON.stringify({ c: '«"q"»', d: ['ß'] }) }),
  }),
)('none leaves and all come back, whole and in pieces: %s', (_name, text) => {
  const { redacted, masked = noValues } = decideAll(saying(text));
  const [{ content: sent }] = JSON.parse(redacted?.bytes.toString() ?? '').messages;
  const stream = new StreamRestorer(new Restorer(masked));

  const pieces: string[] = sent.match(/[\s\S]{1,7}/gu);
  const streamed = eventsOf(pieces.map((content) => chatChunk({ content }))).flatMap((event) =>
    stream.push([event]),
  );
  const texts = [...streamed, ...stream.end()].map(
    ({ written }) => JSON.parse(written).choices[0].delta.content,
  );

  expect(sent).not.toMatch(/[a-z]@[a-z]|«|ß|abcd|cdef/);
  expect([new Restorer(masked).text(sent) === text, texts.join('') === text]).toEqual([true, true]);
});

test('rules that changed between two turns: what still is masked has the same placeholder', () => {
  const before = decideAll(saying('ann@example.com and «Muster AG»'));
  const [[email] = [''], [customer] = ['']] = pairsOf(before.masked ?? noValues);

  const after = policyOf(names)(saying(`ann@example.com and «Muster AG», ${email}`));

  expect(after.redacted?.bytes.toString()).toContain(`ann@example.com and ${customer}, ${email}`);
});

// Gemini signs a part beside its text, and sends a call's arguments as an object.
test('a Gemini answer comes back but for its signatures, and the next turn begins with the same bytes', () => {
  const value = 'ann@example.com and «quote " and \\ backslash,\n🌿»';
  const user = { role: 'user', parts: [{ text: value }] };
  const partsOf = (heard: string, thoughtSignature: string) => [
    { text: `thinking of ${heard}`, thought: true, thoughtSignature },
    { text: `saying ${heard}`, thoughtSignature },
    {
      functionCall: {
        id: 'call_1',
        name: 'run',
        args: { command: `mail ${heard}`, list: [heard], json: JSON.stringify({ deep: heard }), id: heard },
      },
      thoughtSignature,
    },
  ];
  const turnsSent = (...contents: readonly object[]) => {
    const { redacted, masked = noValues } = decideAll({ contents }, { endpoint: 'gemini' });
    const sent = redacted?.bytes.toString() ?? '';
    return { sent, masked, turns: JSON.parse(sent).contents };
  };
  const first = turnsSent(user);
  const [[email] = ['']] = pairsOf(first.masked);
  const said = partsOf(first.turns[0].parts[0].text, `sig${email}`);
  const answerOf = (parts: readonly object[]) => ({
    candidates: [{ content: { role: 'model', parts }, index: 0 }],
  });
  const dataOf = (parts: readonly object[]) => Buffer.from(JSON.stringify(answerOf(parts)));

  const whole = new Restorer(first.masked).body(dataOf(said));
  const stream = new StreamRestorer(new Restorer(first.masked));
  const events = eventsOf(said.map((part) => answerOf([part]))).flatMap((event) => stream.push([event]));
  const restored = partsOf(value, `sig${email}`);
  const next = turnsSent(user, { role: 'model', parts: restored }, user);

  expect(JSON.parse(whole.toString())).toEqual(answerOf(restored));
  expect([...events, ...stream.end()].map(({ written }) => JSON.parse(written))).toEqual(
    restored.map((part) => answerOf([part])),
  );
  expect(next.sent.startsWith(first.sent.slice(0, first.sent.indexOf(']')))).toBe(true);
  expect(next.sent).not.toMatch(/ann@|quote/);
  // What the model is shown of its own answer is what it said.
  expect(next.turns[1].parts).toEqual(said);
});
