import { describe, expect, test } from 'vitest';
import { policyOf, saying } from './deciding.ts';

// That no disguise, field or split hides a phrase is tested in gateway/bypass.test.ts.
const decide = policyOf(
  { id: 'codename', action: 'block', when: { text: { phrases: ['project nightfall'] } } },
  { id: 'cards', action: 'block', when: { text: { detect: ['credit_card'] } } },
  { id: 'ticket', action: 'block', when: { text: { regex: ['^top secret$'] } }, reason: 'content.ticket' },
);
const turn = (content: unknown) => ({ messages: [{ role: 'user', content }] });

test('a phrase is found', () => {
  expect(decide(saying('about project nightfall')).action).toBe('block');
});

describe('patterns', () => {
  test('see the single strings of JSON inside a string', () => {
    const body = {
      messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: '{"q":"top secret"}' } }] }],
    };

    expect(decide(body, { endpoint: 'chat' }).refusal?.reason).toBe('content.ticket');
  });

  test('with anchors match a whole text only', () => {
    expect(decide(saying('top secret')).action).toBe('block');
    expect(decide(saying('a top secret')).action).toBe('allow');
  });
});

describe('harmless requests pass', () => {
  test.each([
    ['the words apart', saying('the project ended; nightfall came')],
    ['the words in the wrong order', saying('nightfall project')],
    ['letters that are not enough', saying('project nightfal')],
    [
      'blocks that do not belong together',
      turn([
        { type: 'text', text: 'project' },
        { type: 'text', text: 'or nightfall' },
      ]),
    ],
    ['a long number that is no card', saying('4111 1111 1111 1112')],
    ['a timestamp', saying('2024-01-01T12:34:56.789Z 1704112496789')],
    ['code', saying('if (x[0] === "\\u0070") { return [1, 2, 3].map((n) => n * 0x7fffffff); }')],
    ['Japanese', saying('プロジェクトは夜に終わりました。')],
    ['emoji', saying('👩‍👩‍👧‍👦 🏳️‍🌈 done ✅')],
  ])('%s', (_name, body) => {
    expect(decide(body)).toMatchObject({ action: 'allow', verdicts: [] });
  });
});
