import { describe, expect, test } from 'vitest';
import { promptDialects, textTurn } from '../../src/client/conversation.ts';
import { phrasings } from '../../src/client/prompt.ts';
import { requestBody } from '../../src/client/request-body.ts';
import { methodFor } from '../../src/dialects/dialect.ts';
import { targetOf } from '../../src/dialects/model-path.ts';
import { dialects } from '../../src/dialects/registry.ts';

const prompt = { model: 'm', turns: [textTurn('user', 'hello')], stream: false };
const full = { ...prompt, system: 'be brief', maxTokens: 9, stream: true };

describe('a prompt is asked', () => {
  test.each([
    ['messages', { model: 'm', max_tokens: 4_096, messages: [{ role: 'user', content: 'hello' }] }],
    ['chat', { model: 'm', messages: [{ role: 'user', content: 'hello' }] }],
    ['responses', { model: 'm', input: 'hello' }],
    ['gemini', { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }],
  ] as const)('in %s, plain', (dialect, body) => {
    expect(requestBody(dialect, prompt)).toEqual(body);
  });

  test.each(
    // biome-ignore format: a case a line
    [
      ['messages', { model: 'm', max_tokens: 9, system: 'be brief', messages: [{ role: 'user', content: 'hello' }], stream: true }],
      [
        'chat',
        {
          model: 'm',
          max_tokens: 9,
          messages: [
            { role: 'system', content: 'be brief' },
            { role: 'user', content: 'hello' },
          ],
          stream: true,
          stream_options: { include_usage: true },
        },
      ],
      ['responses', { model: 'm', max_output_tokens: 9, instructions: 'be brief', input: 'hello', stream: true }],
      ['gemini', { systemInstruction: { parts: [{ text: 'be brief' }] }, contents: [{ role: 'user', parts: [{ text: 'hello' }] }], generationConfig: { maxOutputTokens: 9 } }],
    ] as const,
  )('in %s, with everything', (dialect, body) => {
    expect(requestBody(dialect, full)).toEqual(body);
  });
});

describe('an answer is read', () => {
  const answers = {
    messages: {
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    chat: {
      choices: [{ message: { content: 'ab' }, finish_reason: 'end_turn' }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    },
    responses: {
      output: [
        { type: 'reasoning', summary: [] },
        {
          type: 'message',
          content: [
            { type: 'output_text', text: 'a' },
            { type: 'output_text', text: 'b' },
          ],
        },
      ],
      status: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    gemini: {
      candidates: [
        {
          content: { parts: [{ text: 'hm', thought: true }, { text: 'a' }, { text: 'b' }] },
          finishReason: 'end_turn',
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
    },
  };

  test.each(promptDialects)('of %s', (dialect) => {
    const answer = answers[dialect];

    expect(phrasings[dialect].answerText(answer)).toBe('ab');
    expect(phrasings[dialect].finishReason(answer)).toBe('end_turn');
    expect(phrasings[dialect].usage(answer)).toMatchObject({ inputTokens: 1, outputTokens: 2 });
    for (const stream of [false, true]) {
      const path = phrasings[dialect].path({ model: 'a/b:c', stream });
      expect(path).toBe(targetOf(methodFor(dialects[dialect], stream), 'a/b:c'));
    }
  });

  test.each(promptDialects)('of %s, whatever it is', (dialect) => {
    for (const rubbish of [
      null,
      undefined,
      1,
      'x',
      [],
      {},
      { choices: [] },
      { content: null },
      { output: [null, { content: [null] }] },
      { candidates: [null, { content: { parts: [null] } }] },
    ]) {
      expect(phrasings[dialect].answerText(rubbish)).toBe('');
      expect(phrasings[dialect].deltaText(rubbish)).toBe('');
      expect(phrasings[dialect].finishReason(rubbish)).toBeUndefined();
      expect(phrasings[dialect].usage(rubbish)).toBeUndefined();
    }
  });
});

describe('an event adds its text', () => {
  test.each([
    ['messages', { type: 'content_block_delta', delta: { type: 'text_delta', text: 'a' } }, 'a'],
    ['messages', { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{' } }, ''],
    ['messages', { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'hm' } }, ''],
    ['chat', { choices: [{ delta: { content: 'a' } }] }, 'a'],
    ['chat', { choices: [{ delta: { content: null } }] }, ''],
    ['chat', { choices: [] }, ''],
    ['responses', { type: 'response.output_text.delta', delta: 'a' }, 'a'],
    ['responses', { type: 'response.output_text.done', text: 'a' }, ''],
    ['gemini', { candidates: [{ content: { parts: [{ text: 'hm', thought: true }, { text: 'a' }] } }] }, 'a'],
    ['gemini', { candidates: [{ finishReason: 'STOP' }] }, ''],
    ['responses', { type: 'response.function_call_arguments.delta', delta: '{' }, ''],
  ] as const)('%s %j: %j', (dialect, event, text) => {
    expect(phrasings[dialect].deltaText(event)).toBe(text);
  });
});
