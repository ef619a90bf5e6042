import { expect, test } from 'vitest';
import { sseOf, startTranslation } from './translation/run-translation.ts';

test.each([
  [
    'OpenAI',
    429,
    { error: { message: 'slow down', type: 'rate_limit_exceeded', code: 'rate_limit' } },
    'slow down',
  ],
  ['a bare string', 404, { error: 'model not found' }, 'model not found'],
  ['FastAPI', 422, { detail: [{ msg: 'field required', loc: ['body'] }] }, 'field required'],
  ['a message', 500, { message: 'boom' }, 'boom'],
  ['plain text', 502, 'Bad Gateway\n', 'Bad Gateway'],
  ['nothing', 503, undefined, 'the provider answered with 503'],
])('an error as %s keeps its words', (_name, status, body, message) => {
  const { error } = startTranslation('messages', 'chat').error(status, body) as { error: object };

  expect(error).toMatchObject({ message, type: expect.stringMatching(/_error$|^request_too_large$/) });
});

test.each([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])('status %i is %s for a messages client', (status, type) => {
  const body = startTranslation('messages', 'chat').error(status, {
    error: { message: 'x', type: 'whatever' },
  });

  expect(body).toMatchObject({ type: 'error', error: { type, message: 'x', code: 'whatever', param: null } });
});

test.each(['chat', 'responses'] as const)(
  "Anthropic's error is one of OpenAI's for a %s client",
  (client) => {
    const body = {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'slow down' },
      request_id: 'req_x',
    };

    expect(startTranslation(client, 'messages').error(429, body)).toEqual({
      error: { message: 'slow down', type: 'rate_limit_exceeded', code: null, param: null },
    });
  },
);

test('a prompt that is too long has the code that agents compact on', () => {
  const body = {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 9 > 8' },
  };

  expect(startTranslation('responses', 'messages').error(400, body)).toMatchObject({
    error: { code: 'context_length_exceeded', message: 'prompt is too long: 9 > 8' },
  });
});

test.each([
  ['rate_limit_error', 'rate_limit_exceeded'],
  ['overloaded_error', 'server_error'],
  ['invalid_request_error', 'invalid_prompt'],
])('in a responses stream %s has the code %s', (type, code) => {
  const stream = startTranslation('responses', 'messages').stream();

  const error = JSON.stringify({ type: 'error', error: { type, message: 'no' } });
  const text = sseOf(stream.event('error', error));

  expect(text).toContain('event: response.failed');
  expect(text).toContain(`"code":"${code}"`);
});

test.each([
  ['prompt is too long: 9 > 8', 'prompt is too long: 9 > 8'],
  ['the maximum context length is 8', 'prompt is too long: the maximum context length is 8'],
])('a messages client is told in its words, once: %s', (message, expected) => {
  const body = startTranslation('messages', 'chat').error(400, { error: { message } });

  expect(body).toMatchObject({ error: { message: expected } });
});
