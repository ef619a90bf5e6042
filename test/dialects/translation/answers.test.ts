import { describe, expect, test } from 'vitest';
import { plainAnswers, text } from './plain-answers.ts';
import { directions, type RecordedDialect, startTranslation } from './run-translation.ts';

const koeln = { city: 'Köln 🏰', days: 3 };
const bonn = { city: 'Bonn' };
const thought = 'The user asks about plants…';

// biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
function answer(client: RecordedDialect, provider: RecordedDialect, body: unknown): any {
  return startTranslation(client, provider).answer(body).body;
}

const call = (client: RecordedDialect, input: unknown) => {
  switch (client) {
    case 'messages':
      return { type: 'tool_use', id: expect.stringMatching(/^(call|toolu)_/), name: 'get_weather', input };
    case 'chat':
      return {
        id: expect.stringMatching(/^(call|toolu)_/),
        type: 'function',
        function: { name: 'get_weather', arguments: JSON.stringify(input) },
      };
    case 'responses':
      return {
        id: expect.stringMatching(/^fc_/),
        type: 'function_call',
        status: 'completed',
        call_id: expect.stringMatching(/^(call|toolu)_/),
        name: 'get_weather',
        arguments: JSON.stringify(input),
      };
  }
};

function expected(
  client: RecordedDialect,
  parts: { thinking?: string; text?: string; inputs?: unknown[] },
  end: string,
) {
  const calls = (parts.inputs ?? []).map((input) => call(client, input));
  const hasText = parts.text !== undefined;
  if (client === 'messages') {
    return {
      type: 'message',
      role: 'assistant',
      model: 'asked-for',
      content: [
        ...(parts.thinking === undefined
          ? []
          : [{ type: 'thinking', thinking: parts.thinking, signature: '' }]),
        ...(hasText ? [{ type: 'text', text: parts.text }] : []),
        ...calls,
      ],
      stop_reason: end,
      stop_sequence: null,
      usage: {
        input_tokens: 70,
        output_tokens: 25,
        cache_creation_input_tokens: 10,
        cache_read_input_tokens: 40,
      },
    };
  }
  if (client === 'chat') {
    const message = {
      role: 'assistant',
      content: parts.text ?? null,
      refusal: null,
      ...(parts.thinking === undefined ? {} : { reasoning_content: parts.thinking }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    return {
      object: 'chat.completion',
      created: 1_763_000_000,
      model: 'asked-for',
      choices: [{ index: 0, message, logprobs: null, finish_reason: end }],
      usage: { prompt_tokens: 120, completion_tokens: 25, total_tokens: 145 },
    };
  }
  return {
    object: 'response',
    model: 'asked-for',
    status: end === 'completed' ? 'completed' : 'incomplete',
    incomplete_details: end === 'completed' ? null : { reason: end },
    error: null,
    output: [
      ...(parts.thinking === undefined
        ? []
        : [{ type: 'reasoning', summary: [{ type: 'summary_text', text: parts.thinking }] }]),
      ...(hasText
        ? [
            {
              type: 'message',
              content: [{ type: 'output_text', text: parts.text, annotations: [], logprobs: [] }],
            },
          ]
        : []),
      ...calls,
    ],
    usage: {
      input_tokens: 120,
      input_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
      output_tokens: 25,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 145,
    },
  };
}

const ends = {
  messages: { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens' },
  chat: { stop: 'stop', calls: 'tool_calls', length: 'length' },
  responses: { stop: 'completed', calls: 'completed', length: 'max_output_tokens' },
};

describe.each(directions)('a %s client at a provider of %s', (client, provider) => {
  test.each([
    ['text', { text }, 'stop'],
    ['one tool', { inputs: [koeln] }, 'calls'],
    ['two tools', { inputs: [koeln, bonn] }, 'calls'],
    ['thinking', { text, thinking: thought }, 'stop'],
    ['length', { text }, 'length'],
  ] as const)('gets the answer with %s', (name, parts, end) => {
    const copy = { ...parts, inputs: 'inputs' in parts ? [...parts.inputs] : [] };

    expect(answer(client, provider, plainAnswers[provider][name])).toMatchObject(
      expected(client, copy, ends[client][end]),
    );
  });

  test('has the usage counted for the record', () => {
    const usage = startTranslation(client, provider).tally(
      plainAnswers[provider].text,
      Buffer.alloc(0),
    ).usage;

    expect(usage).toEqual({
      inputTokens: 120,
      outputTokens: 25,
      cacheReadTokens: 40,
      cacheWriteTokens: 10,
      reasoningTokens: 0,
    });
  });

  test.each([[null], [[]], ['text'], [{}], [{ error: { message: 'no' } }]])(
    'refuses %j as an answer',
    (body) => {
      expect(() => answer(client, provider, body)).toThrow(
        expect.objectContaining({ code: 'provider.broken_response' }),
      );
    },
  );
});

describe('refusals', () => {
  test.each([
    ['messages', 'chat', { content: [{ type: 'text', text: 'No.' }], stop_reason: 'refusal' }],
    ['messages', 'responses', { content: [{ type: 'text', text: 'No.' }], stop_reason: 'refusal' }],
    ['chat', 'messages', { choices: [{ message: { content: 'No.' }, finish_reason: 'content_filter' }] }],
    [
      'chat',
      'responses',
      { choices: [{ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' }] },
    ],
    [
      'responses',
      'chat',
      { status: 'completed', output: [{ content: [{ type: 'refusal', refusal: 'No.' }] }] },
    ],
    ['responses', 'messages', { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }],
  ] as const)('reach a %s client from %s', (client, provider, shape) => {
    expect(answer(client, provider, plainAnswers[provider].refusal)).toMatchObject(shape);
  });
});

describe('what models and hosts get wrong', () => {
  const withArguments = (value: unknown) => ({
    choices: [{ message: { tool_calls: [{ id: 'c.1', function: { name: 'f', arguments: value } }] } }],
  });

  test.each([
    ['nothing', '', {}],
    ['broken JSON', '{"city": ', { raw_arguments: '{"city": ' }],
    ['no object', '[1]', { raw_arguments: '[1]' }],
    ['the object itself', { a: 1 }, { a: 1 }],
  ])('arguments that are %s never throw', (_name, value, input) => {
    const { content, stop_reason } = answer('messages', 'chat', withArguments(value));

    expect(content).toEqual([{ type: 'tool_use', id: 'c2e1', name: 'f', input }]);
    expect(stop_reason).toBe('tool_use');
  });

  test('an answer with neither text nor calls has no blocks', () => {
    const body = { choices: [{ message: { content: '' }, finish_reason: null }] };

    expect(answer('messages', 'chat', body)).toMatchObject({ content: [], stop_reason: 'end_turn' });
  });

  test('a failed response is not an answer', () => {
    const body = { status: 'failed', error: { code: 'server_error', message: 'no' }, output: [] };

    expect(() => answer('chat', 'responses', body)).toThrow(
      expect.objectContaining({ code: 'provider.broken_response' }),
    );
  });

  test('a matched stop sequence is kept where the dialect has it', () => {
    const body = { ...plainAnswers.messages.text, stop_reason: 'stop_sequence', stop_sequence: 'END' };

    expect(answer('chat', 'messages', body)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
  });

  test('cached tokens never make the input negative', () => {
    const body = {
      choices: [{ message: { content: 'x' } }],
      usage: { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } },
    };

    expect(answer('messages', 'chat', body).usage).toMatchObject({
      input_tokens: 0,
      cache_read_input_tokens: 9,
    });
  });
});

test('a stop sequence that a host names reaches a messages client', () => {
  const choice = { message: { content: 'x' }, finish_reason: 'stop', stop_reason: 'END' };

  expect(answer('messages', 'chat', { choices: [choice] })).toMatchObject({
    stop_reason: 'stop_sequence',
    stop_sequence: 'END',
  });
});
