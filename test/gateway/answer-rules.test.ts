import { describe, expect, test } from 'vitest';
import { json, requestFor, stream } from '../kit/answers.ts';
import { projects } from '../kit/gateway.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { postRaw } from '../kit/raw.ts';

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
  const { status, isWhole, body: bytes } = await postRaw(gateway, path, body);
  return { status, isWhole, text: bytes.toString() };
}

const askChat = (isStream: boolean) =>
  ask('/v1/chat/completions', requestFor('chat', 'gpt-test', isStream ? { stream: true } : {}));

function chatAnswer(content: string): string {
  return JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-test',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
}

/** A chat stream whose text comes in these pieces, each an event. */
function chatEvents(pieces: readonly string[]): string[] {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-test', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...pieces.map((content) => chunk({ content }, null)),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ];
}

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
    const before = gateway.records.length;

    const got = await askChat(false);

    expect(got.text).toBe(body);
    const record = (await gateway.recorded(before + 1))[before];
    expect(record).toMatchObject({
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
    const before = gateway.records.length;

    const got = await askChat(true);

    expect(got.text).toContain('"reason":"content.unreadable"');
    expect(got.text).not.toMatch(/project|nightfall/);
    expect(got.isWhole).toBe(false);
    const record = (await gateway.recorded(before + 1))[before];
    expect(record).toMatchObject({ outcome: 'refused', reason: 'content.unreadable' });
  });
});

describe('a stream', () => {
  test('that arrives in one piece with its last event is cut as loudly', async () => {
    openai.script(stream([chatEvents(['see: project nightfall is on']).join('')]));
    const before = gateway.records.length;

    const got = await askChat(true);

    expect(got.text).toContain('"reason":"content.codename"');
    expect(got.text).not.toContain('[DONE]');
    expect(got.isWhole).toBe(false);
    const record = (await gateway.recorded(before + 1))[before];
    expect(record).toMatchObject({ outcome: 'refused', reason: 'content.codename' });
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
