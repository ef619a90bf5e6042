import { describe, expect, test } from 'vitest';
import { type Dialect, methodFor, type TextDialect } from '../../../src/dialects/dialect.ts';
import { createPathFinder, targetOf } from '../../../src/dialects/model-path.ts';
import { alternativesTo, dialects } from '../../../src/dialects/registry.ts';
import { StreamObserver } from '../../../src/dialects/stream-observer.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import { readFields } from '../../../src/gateway/request.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { compile, subjectOf } from '../../policy/deciding.ts';
import { newContext, sseOf } from '../translation/run-translation.ts';
import { toy } from './toy.ts';

// What the one line in the registry would say.
const all = { ...dialects, toy } satisfies Record<string, Dialect>;

test('a new dialect is read, watched and offered for translation', () => {
  const document = parseStrictJson(Buffer.from('{"model":"m","prompt":"hello","stream":true}'));
  const observer = new StreamObserver(toy);
  observer.observe(Buffer.from('data: {"said":"hi"}\n\ndata: {"end":true,"tokens":2}\n\n'));

  expect(readFields(document, toy)).toMatchObject({ model: 'm', stream: true });
  expect(observer).toMatchObject({ isComplete: true, events: 2 });
  expect(alternativesTo(toy, all)).toEqual([dialects.chat]);
  expect(alternativesTo(dialects.messages, all)).toEqual([
    dialects.chat,
    dialects.responses,
    dialects.gemini,
    toy,
  ]);
  expect(alternativesTo(dialects.responses, all)).toEqual([
    dialects.chat,
    dialects.messages,
    dialects.gemini,
  ]);
});

test('its requests and answers are translated to a dialect that it knows', () => {
  const translation = createTranslation(toy, dialects.chat, newContext());

  const { body, dropped } = translation.request({ model: 'm', prompt: 'hello', mood: 'good', stream: true });
  const answer = translation.answer({
    choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  });

  expect(body).toMatchObject({ model: 'target-model', messages: [{ role: 'user', content: 'hello' }] });
  expect(dropped).toEqual(['mood']);
  expect(answer.body).toEqual({ said: 'hi', tokens: 2 });
  expect(translation.error(500, 'oh no')).toEqual({ problem: 'oh no' });
});

test("so are requests and streams of a dialect that doesn't know it", () => {
  const translation = createTranslation(dialects.messages, toy, newContext());
  const { body } = translation.request({
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'hello' }],
    stream: true,
  });
  const stream = translation.stream();

  const text = sseOf([
    ...stream.event(undefined, '{"said":"hi"}'),
    ...stream.event(undefined, '{"end":true,"tokens":2}'),
  ]);

  expect(body).toEqual({ model: 'target-model', prompt: 'hello', stream: true });
  expect(text).toContain('"text_delta","text":"hi"');
  expect(text).toContain('event: message_stop');
  expect(stream.tally.usage).toMatchObject({ outputTokens: 2 });
});

describe('with its model in the path', () => {
  const whole = { path: '/v1/toy/{model}:say', stream: false } as const;
  const streamed = { path: '/v1/toy/{model}:stream', stream: true } as const;
  const { buildRequest } = toy.codec;
  const pathToy: TextDialect = {
    ...toy,
    methods: [whole, streamed],
    codec: {
      ...toy.codec,
      buildRequest: (...args) => {
        const {
          model: _,
          stream: _s,
          ...body
        } = buildRequest(...args) as { model?: string; stream?: boolean };
        return body;
      },
    },
  };
  const find = createPathFinder(pathToy.methods);
  const body = Buffer.from('{"prompt":"project nightfall","limit":200}');
  const decide = (rule: object) => {
    const { item, model } = find('/v1/toy/a/b:stream') ?? {};
    const { model: name, stream } = readFields(parseStrictJson(body), pathToy, {
      model,
      stream: item?.stream ?? false,
    });
    const set = compile({ house: { rules: [{ id: 'rule', action: 'block', when: rule }] } }).select([
      'house',
    ]);
    const subject = subjectOf(body, { dialect: pathToy, model: name, targetModels: [name] });
    return { action: set.decide(subject).action, name, stream };
  };

  test('it is found, named and asked at the path of the method', () => {
    expect(find('/v1/toy/a/b:say')).toEqual({ item: whole, model: 'a/b' });
    expect(find('/v1/toy/:say')).toBeUndefined();
    expect(targetOf(methodFor(pathToy, true), 'a/b')).toBe('/v1/toy/a/b:stream');
    expect(() => targetOf(whole, '../a')).toThrow('cannot stand in a path');
  });

  test.each([
    [{ text: { phrases: ['project nightfall'] } }],
    [{ model: ['a/*'] }],
    [{ max_output_tokens: { over: 100 } }],
  ])('rules see it whole: %j', (rule) => {
    expect(decide(rule)).toEqual({ action: 'block', name: 'a/b', stream: true });
  });

  test('it is translated to, with whether to stream in the path alone', () => {
    const translation = createTranslation(dialects.messages, pathToy, newContext({ isStreaming: true }));
    const sent = translation.request({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hello' }],
    });
    const stream = translation.stream();

    const text = sseOf([
      ...stream.event(undefined, '{"said":"hi"}'),
      ...stream.event(undefined, '{"end":true,"tokens":2}'),
    ]);

    expect(sent.body).toEqual({ prompt: 'hello' });
    expect(text).toContain('event: message_stop');
  });
});

test('two dialects that know nothing of each other are not translated', () => {
  expect(() => createTranslation(dialects.responses, toy, newContext())).toThrow(
    'responses cannot be translated to toy',
  );
});
