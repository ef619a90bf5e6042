import { describe, expect, test } from 'vitest';
import { json, requestFor, stream } from '../kit/answers.ts';
import { projects } from '../kit/gateway.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { postRaw } from '../kit/raw.ts';
import { answerOf, eventsOf } from './masking/saying.ts';

const { openai, gateway } = await startHosts(
  json('{}'),
  ({ anthropic, openai }) => `
providers:
  claude: { dialect: anthropic, base_url: "${anthropic}" }
  gpt: { dialect: openai, base_url: "${openai}/v1" }
models:
  - { match: "claude-*", provider: claude }
  - { match: "gpt-*", provider: gpt }
policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, apply_to: [response], when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }
      - { id: place, action: redact, apply_to: [response], when: { text: { phrases: ["harbour seven"] } }, reason: content.place }
      - { id: seen, action: block, mode: monitor, apply_to: [response], when: { text: { phrases: ["moonrise"] } }, reason: content.seen }
plants: { store: { enabled: false } }
${projects}`,
);

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
  test('with a forbidden text is refused whole', async () => {
    openai.script(json(chatAnswer('about Project  Nightfall, then')));

    const got = await askChat(false);

    expect(got.status).toBe(403);
    expect(JSON.parse(got.text)).toMatchObject({ error: { reason: 'content.codename' } });
    expect(got.text.toLowerCase()).not.toContain('nightfall');
  });

  test('with a text to take out keeps the rest', async () => {
    openai.script(json(chatAnswer('meet at harbour seven at noon')));

    const got = await askChat(false);

    expect(got.status).toBe(200);
    expect(got.text).toContain('meet at [REDACTED:content.place] at noon');
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

test("a provider's error is read by the rules on answers too", async () => {
  openai.script(json('{"error":{"message":"no project nightfall here","type":"x"}}', 400));

  const got = await askChat(false);

  expect(got.status).toBe(403);
  expect(got.text.toLowerCase()).not.toContain('nightfall');
});

describe('what clients read in different ways', () => {
  test('cuts a stream loudly, before a text that is split over two such events is out', async () => {
    const [, first, second] = chatEvents(['see: project ', 'nightfall is on']).map((each) =>
      each.replace('{', '{"choices":[],'),
    );
    openai.script(stream([`${first}${second}`, 'data: [DONE]\n\n']));

    const got = await askChat(true);

    expect(got.text).toContain('"reason":"content.unreadable"');
    expect(got.text).not.toMatch(/project|nightfall/);
    expect(got.isWhole).toBe(false);
    expect(await got.record()).toMatchObject({ outcome: 'refused', reason: 'content.unreadable' });
  });
});

describe('a stream', () => {
  test('that arrives in one piece with its last event is cut as loudly', async () => {
    openai.script(stream([chatEvents(['see: project nightfall is on']).join('')]));

    const got = await askChat(true);

    expect(got.text).toContain('"reason":"content.codename"');
    expect(got.text).not.toContain('[DONE]');
    expect(got.isWhole).toBe(false);
    expect(await got.record()).toMatchObject({ outcome: 'refused', reason: 'content.codename' });
  });

  test('has a text removed from its deltas', async () => {
    openai.script(stream(chatEvents(['meet at har', 'bour se', 'ven at noon'])));

    const got = await askChat(true);

    expect(chatText(got.text)).toBe('meet at [REDACTED:content.place] at noon');
    expect(got.text).toContain('data: [DONE]');
    expect(got.isWhole).toBe(true);
  });

  test('is checked after translation too', async () => {
    openai.script(stream(chatEvents(['see: project ', 'nightfall is on'])));

    const got = await ask('/v1/messages', requestFor('messages', 'gpt-test', { stream: true }));

    expect(got.text).toContain('event: error');
    expect(got.text).toContain('content.codename');
    expect(got.text.toLowerCase()).not.toContain('nightfall');
    expect(got.text).not.toContain('message_stop');
    expect(got.isWhole).toBe(false);
  });

  test('that fails after a forbidden text ends with an error event, and the text is not sent', async () => {
    const failure = 'data: {"error":{"message":"boom","type":"server_error"}}\n\n';
    const events = chatEvents(['see: project nightfall']).slice(0, 2);
    // In pieces, so that the failure is known before the stream ends.
    openai.script(stream([...events, failure]));

    const got = await askChat(true);

    expect(got.text).toContain('"reason":"content.codename"');
    expect(got.text).not.toContain('nightfall');
    expect(got.isWhole).toBe(false);
  });
});
