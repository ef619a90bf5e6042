import { describe, expect, test } from 'vitest';
import { type DialectName, dialects } from '../../../src/dialects/registry.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import { AnswerStream, ExactSource, TranslatedSource } from '../../../src/gateway/answer/answer-stream.ts';
import { RulesStage, SecretStage } from '../../../src/gateway/answer/stream-stages.ts';
import { Scrubber } from '../../../src/gateway/scrub.ts';
import { newContext } from '../../dialects/translation/run-translation.ts';
import { blockDelta, blockStart, blockStop, chatChunk } from '../../kit/stream-events.ts';
import { answerCheck } from '../../policy/deciding.ts';

const rule = {
  id: 'codename',
  action: 'block',
  apply_to: ['response'],
  when: { text: { phrases: ['project nightfall'] } },
  reason: 'content.codename',
};
const format = (dialect: DialectName, event: object) =>
  `${dialect === 'messages' ? `event: ${(event as { readonly type?: string }).type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
const ping = 'event: ping\ndata: {"type": "ping"}\n\n';
const comment = ': the host works on it\n\n';

const done = {
  messages:
    format('messages', { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} }) +
    format('messages', { type: 'message_stop' }),
  chat: 'data: [DONE]\n\n',
};

/** How a stream begins a call, goes on with it, and ends it, in each dialect whose calls are held until they are whole. */
const calls = {
  messages: [
    blockStart(0, { type: 'tool_use', id: 'c', name: 'write', input: {} }),
    blockDelta(0, { type: 'input_json_delta', partial_json: '{"text":"' }),
    [blockDelta(0, { type: 'input_json_delta', partial_json: 'long"}' }), blockStop(0)],
  ],
  chat: [
    chatChunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'write' } }] }),
    chatChunk({ tool_calls: [{ index: 0, function: { arguments: '{"text":"' } }] }),
    [chatChunk({ tool_calls: [{ index: 0, function: { arguments: 'long"}' } }] }, 'tool_calls')],
  ],
} as const;

function open(client: keyof typeof calls, host: keyof typeof calls, now?: () => number) {
  const scrubber = new Scrubber(['a-secret-of-the-gateway']);
  const stream = new AnswerStream({
    source:
      client === host
        ? new ExactSource(dialects[client])
        : new TranslatedSource(translationOf(client, host).stream()),
    stages: [new RulesStage(answerCheck(rule).stream()), new SecretStage(scrubber)],
    scrubber,
    ...(now !== undefined && { now }),
  });
  return (text: string) => stream.transform(Buffer.from(text)).toString();
}

function translationOf(client: keyof typeof calls, host: keyof typeof calls) {
  const translation = createTranslation(dialects[client], dialects[host], newContext());
  translation.request({
    model: 'm',
    max_tokens: 10,
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  });
  return translation;
}

/** A stream in the middle of a call's input, which the rule holds. */
function inCall(client: keyof typeof calls, host: keyof typeof calls, now?: () => number) {
  const send = open(client, host, now);
  const start = { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: {} } };
  if (host === 'messages') send(format(host, start));
  const [begin, piece, last] = calls[host];
  send(format(host, begin));
  expect(send(format(host, piece))).toBe('');
  return { send, end: () => send(last.map((event) => format(host, event)).join('') + done[host]) };
}

describe('while a rule holds a call, a sign of life passes at once', () => {
  test.each([
    ['messages', 'messages', ping, ping],
    ['messages', 'messages', comment, ': ping\n\n'],
    ['chat', 'chat', comment, ': ping\n\n'],
    ['messages', 'chat', comment, 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['chat', 'messages', ping, ': ping\n\n'],
    ['chat', 'messages', comment, ': ping\n\n'],
  ] as const)('to %s from %s: %j', (client, host, sent, expected) => {
    const { send, end } = inCall(client, host);

    expect(send(sent)).toBe(expected);
    expect(end()).toContain('long');
  });

  test('but nothing else does that only looks like one', () => {
    const { send } = inCall('messages', 'messages');

    expect(send('event: ping\ndata: {"type":"ping","text":"project nightfa"}\n\n')).toBe('');
  });

  test('one that comes first does not begin a translated answer', () => {
    const send = open('messages', 'chat');

    expect(send(comment)).toBe(': ping\n\n');
    expect(send(format('chat', chatChunk({ content: 'hi' })))).toMatch(/^event: message_start\n/);
  });

  test('none comes after a refusal', () => {
    const { send } = inCall('chat', 'chat');

    expect(() => send(format('chat', chatChunk({ content: 'project nightfall, then' })))).toThrow();
  });

  test('in its place where nothing is held', () => {
    const send = open('messages', 'messages');
    const stop = format('messages', { type: 'message_stop' });

    expect(send(ping + stop)).toBe(`event: ping\ndata: {"type": "ping"}\n\n${stop.replace(': {', ': {')}`);
  });
});

test.each(['messages', 'chat'] as const)(
  'a host of %s that sends, but no sign of life, gets one of the gateway every ten seconds',
  (dialect) => {
    let nowMs = 0;
    const { send, end } = inCall(dialect, dialect, () => nowMs);
    const piece = format(dialect, calls[dialect][1]);
    const came = Array.from({ length: 25 }, () => {
      nowMs += 1_000;
      return send(piece.replace('{\\"text\\":\\"', 'x'));
    });

    expect(came.flatMap((text, i) => (text === '' ? [] : [[i + 1, text]]))).toEqual([
      [10, ': ping\n\n'],
      [20, ': ping\n\n'],
    ]);
    expect(end()).toContain('long');
  },
);

test.each([
  ['messages', 'chat', 'event: ping\ndata: {"type":"ping"}\n\n'],
  ['chat', 'messages', ': ping\n\n'],
  ['gemini', 'chat', '\n\n'],
  ['responses', 'chat', 'event: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n'],
] as const)(
  'a client of %s at a silent host of %s gets what its own host would send',
  (client, host, sign) => {
    const scrubber = new Scrubber([]);
    const translation = createTranslation(dialects[client], dialects[host], newContext());
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
    const turns = client === 'gemini' ? { contents } : client === 'responses' ? { input: 'hi' } : undefined;
    translation.request({
      ...(client !== 'gemini' && { model: 'm', stream: true }),
      ...(turns ?? { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
    });
    const source = new TranslatedSource(translation.stream());
    const stream = new AnswerStream({ source, stages: [new SecretStage(scrubber)], scrubber });
    // Before the answer begins. Codex takes no comment for a sign of life, however long it waits.
    const first = stream.heartbeat().toString();
    if (client === 'responses')
      expect(first.match(/^event: .*$/gm)).toEqual([
        'event: response.created',
        'event: response.in_progress',
        'event: keepalive',
      ]);
    else expect(first).toBe(client === 'gemini' ? '\n\n' : ': ping\n\n');
    const begun =
      host === 'chat' ? chatChunk({ role: 'assistant' }) : { type: 'message_start', message: { usage: {} } };
    stream.transform(Buffer.from(format(host, begun)));

    expect(stream.heartbeat().toString()).toBe(sign);
  },
);
