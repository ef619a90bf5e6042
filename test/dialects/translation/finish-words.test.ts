import { describe, expect, test } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { runStream, startTranslation } from './run-translation.ts';

const chunk = (choice: object) =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
const chat = (reason: string) => ({
  whole: { choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: reason }] },
  stream: [
    chunk({ delta: { content: 'hi' }, finish_reason: null }),
    chunk({ delta: {}, finish_reason: reason }),
    Buffer.from('data: [DONE]\n\n'),
  ],
});
const event = (type: string, fields: object) =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
const messages = (reason: string) => ({
  whole: {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'hi' }],
    stop_reason: reason,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  stream: [
    event('message_start', { message: { usage: { input_tokens: 1, output_tokens: 0 } } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: 'hi' } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: reason }, usage: { output_tokens: 1 } }),
    event('message_stop', {}),
  ],
});
const gemini = (reason: string) => {
  const whole = {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: reason }],
  };
  return { whole, stream: [Buffer.from(`data: ${JSON.stringify(whole)}\n\n`)] };
};

const hosts: Readonly<
  Partial<Record<TextDialectName, (reason: string) => { whole: object; stream: Buffer[] }>>
> = { chat, messages, gemini };

/** The client's own word, by what a host's word means. */
const said = { stop: 'end_turn', length: 'max_tokens', filter: 'refusal' } as const;
const chatSaid = { stop: 'stop', length: 'length', filter: 'content_filter' } as const;

// biome-ignore format: a case a line
const known: readonly (readonly [TextDialectName, string, keyof typeof said])[] = [
  ['chat', 'stop', 'stop'], ['chat', 'eos', 'stop'], ['chat', 'length', 'length'], ['chat', 'model_length', 'length'],
  ['chat', 'max_tokens', 'length'], ['chat', 'model_context_window_exceeded', 'length'],
  ['chat', 'content_filter', 'filter'], ['chat', 'sensitive', 'filter'],
  ['messages', 'end_turn', 'stop'], ['messages', 'max_tokens', 'length'], ['messages', 'pause_turn', 'length'],
  ['messages', 'compaction', 'length'], ['messages', 'model_context_window_exceeded', 'length'], ['messages', 'refusal', 'filter'],
  ['gemini', 'STOP', 'stop'], ['gemini', 'MAX_TOKENS', 'length'], ['gemini', 'SAFETY', 'filter'], ['gemini', 'PROHIBITED_CONTENT', 'filter'],
];
// biome-ignore format: a case a line
const failures: readonly (readonly [TextDialectName, string])[] = [
  ['chat', 'insufficient_system_resource'], ['chat', 'error'], ['chat', 'network_error'], ['chat', 'abort'], ['chat', 'word_of_tomorrow'],
  ['messages', 'word_of_tomorrow'], ['gemini', 'MALFORMED_FUNCTION_CALL'], ['gemini', 'UNEXPECTED_TOOL_CALL'], ['gemini', 'WORD_OF_TOMORROW'], ['gemini', 'OTHER'],
];

function answersOf(dialect: TextDialectName, reason: string) {
  const client = dialect === 'chat' ? 'messages' : 'chat';
  const host = hosts[dialect]?.(reason);
  if (host === undefined) throw new Error(`no host of ${dialect}`);
  return {
    client,
    whole: () => JSON.stringify(startTranslation(client, dialect).answer(host.whole).body),
    stream: runStream(startTranslation(client, dialect), host.stream),
  };
}

describe('the reason of an ending', () => {
  test.each(known)('of %s, %s, means the same in another dialect', (dialect, reason, meaning) => {
    const { client, whole, stream } = answersOf(dialect, reason);
    const word =
      client === 'chat' ? `"finish_reason":"${chatSaid[meaning]}"` : `"stop_reason":"${said[meaning]}"`;

    expect(whole()).toContain(word);
    expect(stream.text).toContain(word);
    expect(stream.state).toBe('complete');
  });

  test.each(failures)('of %s, %s, is a failure that says so', (dialect, reason) => {
    const { whole, stream } = answersOf(dialect, reason);
    const failure = expect.objectContaining({
      reason: 'provider.broken_response',
      message: expect.stringContaining(reason),
    });

    expect(whole).toThrow(failure as Error);
    expect(stream.thrown).toEqual(failure);
    expect(stream.state).toBe('open');
  });

  test.each(['end_turn', 'stop_sequence'])('of Messages, %s beside a call, is the call', (reason) => {
    const call = { type: 'tool_use', id: 't', name: 'look', input: {} };
    const { whole, stream: events } = messages(reason);
    const stream = [...events];
    stream[1] = event('content_block_start', { index: 0, content_block: call });

    const answer = startTranslation('chat', 'messages').answer({ ...whole, content: [call] });

    expect(JSON.stringify(answer.body)).toContain('"finish_reason":"tool_calls"');
    expect(runStream(startTranslation('chat', 'messages'), stream).text).toContain(
      '"finish_reason":"tool_calls"',
    );
  });

  test('that is no word is not quoted', () => {
    expect(answersOf('chat', 'the key is sk-123').whole).toThrow('ended for an unknown reason');
  });

  test('is the failure of a choice in the host’s words', () => {
    const pieces = [
      chunk({ delta: { content: 'hi' } }),
      chunk({ delta: {}, finish_reason: 'error', error: { code: 502, message: 'upstream died' } }),
    ];

    const { text, state } = runStream(startTranslation('messages', 'chat'), pieces);

    expect(state).toBe('failed');
    expect(text).toContain('upstream died');
    expect(text).not.toContain('message_stop');
  });
});
