import { describe, expect, test } from 'vitest';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import { createTranslation, type Translation } from '../../../src/dialects/translate.ts';
import { textDialects } from '../../kit/dialects.ts';
import { readStrictly } from './read-strictly.ts';
import { newContext, runStream } from './run-translation.ts';

/** The dialects whose requests have stop sequences; those of Responses have none. */
const clients = textDialects.filter((name) => name !== 'responses');
type Client = Exclude<TextDialectName, 'responses'>;

function started(client: Client, provider: TextDialectName, stops: readonly string[]) {
  const translation = createTranslation(dialects[client], dialects[provider], newContext());
  const turns = [{ role: 'user', content: 'hello' }];
  const requests = {
    messages: { model: 'm', max_tokens: 99, messages: turns, stop_sequences: stops, stream: true },
    chat: { model: 'm', messages: turns, stop: stops, stream: true, stream_options: { include_usage: true } },
    gemini: {
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
      generationConfig: { stopSequences: stops },
    },
  };
  const { body, dropped } = translation.request(requests[client]);
  return { translation, body: body as Record<string, unknown>, dropped };
}

function responsesStream(pieces: readonly string[]): Buffer {
  const text = pieces.join('');
  const item = { type: 'message', id: 'm_1', content: [{ type: 'output_text', text }] };
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    ...pieces.map((delta) => ({
      type: 'response.output_text.delta',
      output_index: 0,
      content_index: 0,
      delta,
    })),
    {
      type: 'response.completed',
      response: { status: 'completed', output: [item], usage: { input_tokens: 7, output_tokens: 9 } },
    },
  ];
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}

/** The answer as a client of the dialect reads it from a stream. */
function streamed(client: Client, stops: readonly string[], pieces: readonly string[]) {
  const { translation } = started(client, 'responses', stops);
  const { text: output, state } = runStream(translation, [responsesStream(pieces)]);
  const { text, finish } = readStrictly(client, output);
  return { text, finish, stop: /"stop_sequence":"([^"]*)"/.exec(output)?.[1], state };
}

function whole(translation: Translation, texts: readonly string[]) {
  const content = texts.map((text) => ({ type: 'output_text', text }));
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
  return translation.answer({
    status: 'completed',
    output: [{ type: 'message', content }, call],
    usage: { input_tokens: 7, output_tokens: 9 },
  });
}

describe('a host without stop sequences', () => {
  test.each(clients)('is not told of those of a %s client', (client) => {
    const { body, dropped } = started(client, 'responses', ['END']);

    expect(JSON.stringify(body)).not.toContain('END');
    expect(dropped).toEqual([]);
  });

  test('has its stream cut at one for a messages client, wherever pieces part it', () => {
    const text = 'one two STOP three ST four';
    for (let at = 0; at <= text.length; at += 1) {
      for (let next = at; next <= text.length; next += 3) {
        const pieces = [text.slice(0, at), text.slice(at, next), text.slice(next)].filter(
          (piece) => piece !== '',
        );

        expect(streamed('messages', ['never', ' STOP'], pieces), `at ${at} and ${next}`).toEqual({
          text: 'one two',
          finish: 'stop_sequence',
          stop: ' STOP',
          state: 'cut',
        });
      }
    }
  });

  test.each([
    ['chat', 'stop'],
    ['gemini', 'STOP'],
  ] as const)('has its stream ended for a %s client, which only gets "%s"', (client, finish) => {
    expect(streamed(client, ['STOP'], ['one S', 'T', 'OP two'])).toEqual({
      text: 'one ',
      finish,
      stop: undefined,
      state: 'cut',
    });
  });

  test.each([
    [
      'messages',
      {
        content: [{ type: 'text', text: 'one ' }],
        stop_reason: 'stop_sequence',
        stop_sequence: 'STOP',
        usage: { input_tokens: 7, output_tokens: 9 },
      },
    ],
    ['chat', { choices: [{ message: { content: 'one ' }, finish_reason: 'stop' }] }],
    ['gemini', { candidates: [{ content: { parts: [{ text: 'one ' }] }, finishReason: 'STOP' }] }],
  ] as const)('has its whole answer cut for a %s client, over parts of it too', (client, expected) => {
    const { body } = whole(started(client, 'responses', ['STOP']).translation, ['one ST', 'OP two']);

    expect(body).toMatchObject(expected);
    expect(JSON.stringify(body)).not.toMatch(/tool_calls|functionCall|tool_use/);
  });

  test('is unchanged if nothing matches, even if its end is the beginning of one', () => {
    expect(streamed('messages', ['STOP'], ['one ', 'STO'])).toEqual({
      text: 'one STO',
      finish: 'end_turn',
      stop: undefined,
      state: 'complete',
    });
    expect(whole(started('messages', 'responses', ['STOP']).translation, ['one STO']).body).toMatchObject({
      content: [{ type: 'text', text: 'one STO' }, { type: 'tool_use' }],
      stop_reason: 'tool_use',
    });
  });

  test('is cut at the sequence that is complete first, whatever the pieces', () => {
    for (const pieces of [['xabcdy'], ['xab', 'cdy'], [...'xabcdy']]) {
      expect(streamed('messages', ['abcd', 'bc'], pieces)).toMatchObject({ text: 'xa', stop: 'bc' });
      expect(streamed('messages', ['bc', 'abc'], pieces)).toMatchObject({ text: 'x', stop: 'abc' });
    }
  });
});

test.each([
  [
    'chat',
    4,
    (stop: readonly string[]) => ({ stop }),
    { choices: [{ message: { content: 'so END it is' }, finish_reason: 'stop' }] },
  ],
  [
    'gemini',
    5,
    (stopSequences: readonly string[]) => ({ generationConfig: { stopSequences } }),
    { candidates: [{ content: { parts: [{ text: 'so END it is' }] }, finishReason: 'STOP' }] },
  ],
] as const)(
  'a %s host gets %i sequences, and its answer is cut at the others',
  (provider, most, sent, answer) => {
    const stops = ['a', 'b', 'c', 'd', 'e'].slice(0, most);
    const { translation, body, dropped } = started('messages', provider, [...stops, 'END']);

    expect(body).toMatchObject(sent(stops));
    expect(dropped).toEqual([]);
    expect(translation.answer(answer).body).toMatchObject({
      content: [{ text: 'so ' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
  },
);

test('a messages host gets no blank sequence, and its answer is cut there', () => {
  const { translation, body } = started('chat', 'messages', ['\n', 'END']);

  const { body: answer } = translation.answer({
    content: [{ type: 'text', text: 'one\ntwo' }],
    stop_reason: 'end_turn',
  });

  expect(body).toMatchObject({ stop_sequences: ['END'] });
  expect(answer).toMatchObject({ choices: [{ message: { content: 'one' }, finish_reason: 'stop' }] });
});

// vLLM and others name what they stopped at, which may be a mark of their own.
test.each([
  ['END', 'stop_sequence', 'END'],
  ['end_turn', 'end_turn', null],
  ['<|im_end|>', 'end_turn', null],
])('a host that says it stopped at %s ends with %s', (said, reason, sequence) => {
  const { translation } = started('messages', 'chat', ['END']);
  const choice = { index: 0, finish_reason: 'stop', stop_reason: said };
  const chunk = (fields: object) => Buffer.from(`data: ${JSON.stringify({ choices: [fields] })}\n\n`);
  const pieces = [chunk({ delta: { content: 'so' } }), chunk({ ...choice, delta: {} })];

  const { body } = translation.answer({ choices: [{ ...choice, message: { content: 'so' } }] });
  const { text } = runStream(translation, [...pieces, Buffer.from('data: [DONE]\n\n')]);

  expect(body).toMatchObject({ stop_reason: reason, stop_sequence: sequence });
  expect(text).toContain(JSON.stringify({ stop_reason: reason, stop_sequence: sequence }).slice(1, -1));
});

test('a call is to be run, whatever sequence its host stopped at', () => {
  const { translation } = started('messages', 'chat', ['END']);
  const tool_calls = [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }];
  const choice = {
    index: 0,
    finish_reason: 'stop',
    stop_reason: 'END',
    message: { content: null, tool_calls },
  };

  expect(translation.answer({ choices: [choice] }).body).toMatchObject({ stop_reason: 'tool_use' });
});

test.each([
  ['so many', Array.from({ length: 101 }, (_, at) => `END${at}`)],
  ['so long', ['x'.repeat(10_001)]],
])('%s sequences are refused where the gateway would have to search for them', (_name, stops) => {
  for (const client of clients)
    expect(() => started(client, 'responses', stops)).toThrow(/too many or too long stop sequences/);
});

test('a host that acts on them itself gets any number of sequences, and one twice is one', () => {
  const stops = Array.from({ length: 100_000 }, (_, at) => `END${at}`);
  const { body } = started('chat', 'messages', stops);

  expect(body).toMatchObject({ stop_sequences: { length: stops.length } });
  expect(() => started('messages', 'responses', Array(500).fill('END'))).not.toThrow();
});
