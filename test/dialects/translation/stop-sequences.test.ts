import { describe, expect, test } from 'vitest';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import { createTranslation, type Translation } from '../../../src/dialects/translate.ts';
import { textDialects } from '../../kit/dialects.ts';
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

interface Seen {
  readonly text: string;
  readonly reason: unknown;
  readonly stop: unknown;
  readonly state: string;
}

/** The answer as a client of the dialect reads it from a stream. */
function streamed(client: Client, stops: readonly string[], pieces: readonly string[]): Seen {
  const { text, state } = runStream(started(client, 'responses', stops).translation, [
    responsesStream(pieces),
  ]);
  const datas = text.split('\n').filter((line) => line.startsWith('data: {'));
  // biome-ignore lint/suspicious/noExplicitAny: JSON of whatever shape
  const events: any[] = datas.map((line) => JSON.parse(line.slice('data: '.length)));
  const seen = {
    messages: () => ({
      text: events.map(({ delta }) => delta?.text ?? '').join(''),
      reason: events.find(({ type }) => type === 'message_delta')?.delta.stop_reason,
      stop: events.find(({ type }) => type === 'message_delta')?.delta.stop_sequence,
    }),
    chat: () => ({
      text: events.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
      reason: events.map(({ choices }) => choices[0]?.finish_reason).find((reason) => reason),
      stop: undefined,
    }),
    gemini: () => ({
      text: events.map(({ candidates }) => candidates[0]?.content?.parts?.[0]?.text ?? '').join(''),
      reason: events.map(({ candidates }) => candidates[0]?.finishReason).find((reason) => reason),
      stop: undefined,
    }),
  };
  return { ...seen[client](), state };
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
          reason: 'stop_sequence',
          stop: ' STOP',
          state: 'cut',
        });
      }
    }
  });

  test.each([
    ['chat', 'stop'],
    ['gemini', 'STOP'],
  ] as const)('has its stream ended for a %s client, which only gets "%s"', (client, reason) => {
    expect(streamed(client, ['STOP'], ['one S', 'T', 'OP two'])).toEqual({
      text: 'one ',
      reason,
      stop: undefined,
      state: 'cut',
    });
  });

  test('has its whole answer cut, over parts of it too, with what it used', () => {
    const messages = whole(started('messages', 'responses', ['STOP']).translation, ['one ST', 'OP two']);
    const chat = whole(started('chat', 'responses', ['STOP']).translation, ['one ST', 'OP two']);
    const gemini = whole(started('gemini', 'responses', ['STOP']).translation, ['one ST', 'OP two']);

    expect(messages.body).toMatchObject({
      content: [{ type: 'text', text: 'one ' }],
      stop_reason: 'stop_sequence',
      stop_sequence: 'STOP',
      usage: { input_tokens: 7, output_tokens: 9 },
    });
    expect(chat.body).toMatchObject({
      choices: [{ message: { content: 'one ' }, finish_reason: 'stop' }],
    });
    expect(JSON.stringify(chat.body)).not.toContain('tool_calls');
    expect(gemini.body).toMatchObject({
      candidates: [{ content: { parts: [{ text: 'one ' }] }, finishReason: 'STOP' }],
    });
    expect(JSON.stringify(gemini.body)).not.toContain('functionCall');
  });

  test('is unchanged if nothing matches, even if its end is the beginning of one', () => {
    expect(streamed('messages', ['STOP'], ['one ', 'STO'])).toEqual({
      text: 'one STO',
      reason: 'end_turn',
      stop: null,
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

  test('may answer nothing before the cut', () => {
    expect(streamed('messages', ['one'], ['one'])).toMatchObject({ text: '', reason: 'stop_sequence' });
  });

  test('is not cut at an empty sequence', () => {
    expect(streamed('messages', [''], ['one'])).toMatchObject({ text: 'one', state: 'complete' });
  });
});

test('a chat host gets four sequences, and its answer is cut at the others', () => {
  const { translation, body, dropped } = started('messages', 'chat', ['a', 'b', 'c', 'd', 'END']);

  const { body: answer } = translation.answer({
    choices: [{ message: { content: 'so END it is' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });

  expect(body.stop).toEqual(['a', 'b', 'c', 'd']);
  expect(dropped).toEqual([]);
  expect(answer).toMatchObject({
    content: [{ text: 'so ' }],
    stop_reason: 'stop_sequence',
    stop_sequence: 'END',
  });
});

test('a gemini host gets five sequences, and its answer is cut at the others', () => {
  const { translation, body, dropped } = started('messages', 'gemini', ['a', 'b', 'c', 'd', 'e', 'END']);

  const { body: answer } = translation.answer({
    candidates: [{ content: { parts: [{ text: 'so END it is' }] }, finishReason: 'STOP' }],
  });

  expect(body).toMatchObject({ generationConfig: { stopSequences: ['a', 'b', 'c', 'd', 'e'] } });
  expect(dropped).toEqual([]);
  expect(answer).toMatchObject({
    content: [{ text: 'so ' }],
    stop_reason: 'stop_sequence',
    stop_sequence: 'END',
  });
});

test('a messages host gets no blank sequence, and its answer is cut there', () => {
  const translation = createTranslation(dialects.chat, dialects.messages, newContext());
  const { body } = translation.request({
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    stop: ['\n', 'END'],
  });

  const { body: answer } = translation.answer({
    content: [{ type: 'text', text: 'one\ntwo' }],
    stop_reason: 'end_turn',
  });

  expect(body).toMatchObject({ stop_sequences: ['END'] });
  expect(answer).toMatchObject({ choices: [{ message: { content: 'one' }, finish_reason: 'stop' }] });
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
  const translation = createTranslation(dialects.chat, dialects.messages, newContext());
  const { body } = translation.request({
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    stop: stops,
  });

  expect(body).toMatchObject({ stop_sequences: { length: stops.length } });
  expect(() =>
    started(
      'messages',
      'responses',
      Array.from({ length: 500 }, () => 'END'),
    ),
  ).not.toThrow();
});
