import { expect, test } from 'vitest';
import { policyOf, saying } from '../deciding.ts';

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

  const [ann = '', bob = ''] = decision.masked?.keys() ?? [];
  expect(decision.action).toBe('mask');
  expect(ann).toMatch(/^EMAIL_[A-Z]{13}$/);
  expect(decision.redacted?.value(0)).toMatchObject({
    messages: [{ content: `mail ${ann}, then ${bob}, then ${ann}` }],
  });
  expect([...(decision.masked ?? [])]).toEqual([
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
  for (const value of decision.masked?.values() ?? []) {
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
  expect([...(decision.masked?.values() ?? [])]).toEqual([password]);
});

test('a request that goes on with a conversation kept by its provider is refused', () => {
  const going = { input: 'hello', previous_response_id: 'resp_1' };

  expect(decide(going, { endpoint: 'responses' })).toMatchObject({
    action: 'block',
    refusal: { reason: 'content.stored_conversation', at: '/previous_response_id' },
  });
  expect(decide({ ...going, previous_response_id: null }, { endpoint: 'responses' }).action).toBe('allow');
});
