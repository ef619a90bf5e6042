import { describe, expect, test } from 'vitest';
import { json, requestFor, stream } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { postRaw } from '../kit/raw.ts';
import { answerOf, eventsOf } from './masking/saying.ts';

const more = `
policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, apply_to: [response], when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }
      - { id: place, action: redact, apply_to: [response], when: { text: { phrases: ["harbour seven"] } }, reason: content.place }
      - { id: seen, action: block, mode: monitor, apply_to: [response], when: { text: { phrases: ["moonrise"] } }, reason: content.seen }
`;
const { openai, gateway } = await startHosts(json('{}'), (urls) => twoHosts({ ...urls, more }));

/** Asks, and takes whatever comes until the connection ends. */
async function ask(path: string, body: object) {
  const { status, isWhole, headers, body: bytes } = await postRaw(gateway, path, body);
  const id = headers.get('x-request-id')?.[0];
  const record = () => gateway.recordWhere(({ request_id }) => request_id === id);
  return { status, isWhole, record, text: bytes.toString() };
}

const askChat = (isStream: boolean) =>
  ask('/v1/chat/completions', requestFor('chat', 'gpt-test', isStream ? { stream: true } : {}));

const chatAnswer = (text: string) => answerOf('chat', { text });
/** A chat stream whose text comes in these pieces, each an event. */
const chatEvents = (pieces: readonly string[]) =>
  eventsOf('chat', { text: pieces.join('') }, (text) => (text === '' ? [] : pieces));

function chatText(events: string): string {
  return [...events.matchAll(/^data: (\{.*\})$/gm)]
    .map(([, data]) => JSON.parse(data as string) as { choices?: { delta?: { content?: string } }[] })
    .map((event) => event.choices?.[0]?.delta?.content ?? '')
    .join('');
}

describe('a plain answer', () => {
  const refusal = '{"error":{"message":"no project nightfall here","type":"x"}}';

  test.each([
    ['with a forbidden text is refused whole', json(chatAnswer('about Project  Nightfall, then')), 403],
    ['of an error with a forbidden text is refused too', json(refusal, 400), 403],
    ['with a text to take out keeps the rest', json(chatAnswer('meet at harbour seven at noon')), 200],
  ])('%s', async (_what, script, status) => {
    openai.script(script);

    const got = await askChat(false);

    const expected =
      status === 403 ? '"reason":"content.codename"' : 'meet at [REDACTED:content.place] at noon';
    expect(got.status).toBe(status);
    expect(got.text).toContain(expected);
    expect(got.text.toLowerCase()).not.toMatch(/nightfall|harbour/);
  });

  test('that only a monitored rule matches passes, and is recorded', async () => {
    const body = chatAnswer('at moonrise');
    openai.script(json(body));

    const got = await askChat(false);

    expect(got.text).toBe(body);
    expect(await got.record()).toMatchObject({
      would_block: ['seen'],
      rules: [{ id: 'seen', mode: 'monitor', on: 'answer' }],
    });
  });
});

describe('a stream', () => {
  const split = chatEvents(['see: project ', 'nightfall is on']);
  // Clients read such an event in different ways.
  const ambiguous = split.slice(1, 3).map((each) => each.replace('{', '{"choices":[],'));
  const failure = 'data: {"error":{"message":"boom","type":"server_error"}}\n\n';
  const whole = chatEvents(['see: project nightfall is on']);

  test.each([
    ['in one piece with its last event', [whole.join('')], 'chat', 'content.codename'],
    ['whose text is split over two ambiguous events', [ambiguous.join('')], 'chat', 'content.unreadable'],
    // In pieces, so that the failure is known before the stream ends.
    ['that fails after the text', [...whole.slice(0, 2), failure], 'chat', 'content.codename'],
    ['that is translated', split, 'messages', 'content.codename'],
  ] as const)(
    '%s is cut with an error, before a forbidden text is out',
    async (_what, events, client, reason) => {
      openai.script(stream(events));

      const got = await (client === 'chat'
        ? askChat(true)
        : ask('/v1/messages', requestFor('messages', 'gpt-test', { stream: true })));

      expect(got.text).toContain(`"${reason}"`);
      expect(got.text).not.toMatch(/nightfall|\[DONE\]|message_stop/i);
      expect(got.isWhole).toBe(false);
      expect(await got.record()).toMatchObject({ outcome: 'refused', reason });
    },
  );

  test('has a text removed from its deltas', async () => {
    openai.script(stream(chatEvents(['meet at har', 'bour se', 'ven at noon'])));

    const got = await askChat(true);

    expect(chatText(got.text)).toBe('meet at [REDACTED:content.place] at noon');
    expect(got.text).toContain('data: [DONE]');
    expect(got.isWhole).toBe(true);
  });
});
