import { expect, test } from 'vitest';
import type { Dialect } from '../../../src/dialects/dialect.ts';
import { alternativesTo, dialects } from '../../../src/dialects/registry.ts';
import { readFields } from '../../../src/dialects/request-fields.ts';
import { StreamObserver } from '../../../src/dialects/stream-observer.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { newContext } from '../translation/run-translation.ts';
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

  const text = stream.event(undefined, '{"said":"hi"}') + stream.event(undefined, '{"end":true,"tokens":2}');

  expect(body).toEqual({ model: 'target-model', prompt: 'hello', stream: true });
  expect(text).toContain('"text_delta","text":"hi"');
  expect(text).toContain('event: message_stop');
  expect(stream.tally.usage).toMatchObject({ outputTokens: 2 });
});

test('two dialects that know nothing of each other are not translated', () => {
  expect(() => createTranslation(dialects.responses, toy, newContext())).toThrow(
    'responses cannot be translated to toy',
  );
});
