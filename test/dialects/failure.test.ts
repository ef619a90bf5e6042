import { expect, test } from 'vitest';
import { isAboutCredentials, isAboutScope } from '../../src/dialects/failure.ts';
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

const missingScope =
  "You have insufficient permissions for this operation. Missing scopes: api.responses.write. Check that you have the correct role in your organization, and if you're using a restricted API key, that it has the necessary scopes.";

test.each([
  ['Forbidden', true],
  ['<html><h1>403 Forbidden</h1></html>', true],
  [{ error: { message: 'Access denied.' } }, true],
  [{ error: { message: 'Your API key is not valid' } }, true],
  [{ error: { message: 'The prompt was flagged by moderation' } }, false],
  [
    { error: { message: 'Your project does not have access to the model m', code: 'model_not_found' } },
    false,
  ],
])('a 403 of %j is about the credentials: %s', (body, expected) => {
  expect(isAboutCredentials(body)).toBe(expected);
});

test.each([
  [{ error: { message: missingScope, type: 'invalid_request_error', code: 'missing_scope' } }, true],
  [{ error: { message: 'no', code: 'missing_scope' } }, true],
  [{ error: { message: missingScope } }, true],
  ['You have insufficient permissions for this operation.', true],
  [{ error: { message: 'Incorrect API key provided: sk-…', code: 'invalid_api_key' } }, false],
  [{ error: { message: 'Insufficient permissions: the key was revoked' } }, false],
  ['Unauthorized', false],
  [undefined, false],
])('a refusal of %j is about what a key may do: %s', (body, expected) => {
  expect(isAboutScope(body)).toBe(expected);
  if (expected) expect(isAboutCredentials(body)).toBe(false);
});

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

test.each([
  ['Anthropic', { message: 'prompt is too long: 215000 tokens > 200000 maximum' }],
  [
    'Anthropic with its cap',
    {
      message:
        'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length',
    },
  ],
  ['Bedrock', { message: 'Input is too long for requested model.' }],
  [
    "OpenAI's chat",
    {
      message:
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
    },
  ],
  [
    "OpenAI's responses",
    {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    },
  ],
  [
    'Google',
    { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' },
  ],
  [
    'an older vLLM',
    { message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.' },
  ],
  ['SGLang', { message: "The input (5000 tokens) is longer than the model's context length (4096 tokens)." }],
  [
    'llama.cpp',
    {
      message: 'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
      type: 'exceed_context_size_error',
    },
  ],
  ['llama.cpp, by its type alone', { message: 'no', type: 'exceed_context_size_error' }],
  [
    'LM Studio',
    {
      message:
        'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 4500 >= n_ctx: 4096).',
    },
  ],
  [
    'an older LM Studio',
    {
      message:
        'Trying to keep the first 4500 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    },
  ],
  ['Ollama', { message: 'prompt too long; exceeded max context length by 904 tokens' }],
  ["Ollama's embeddings", { message: 'the input length exceeds the context length' }],
  ['TGI', { message: 'Input validation error: `inputs` must have less than 4096 tokens. Given: 5000' }],
  [
    'TGI with its cap',
    { message: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000' },
  ],
  ['Groq', { message: 'Please reduce the length of the messages or completion.' }],
  [
    'xAI',
    { message: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." },
  ],
  [
    'Kimi',
    { message: 'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)' },
  ],
  ['MiniMax', { message: 'invalid params, context window exceeds limit (2013)' }],
  ['GLM', { message: 'Prompt exceeds max length', code: '1261' }],
  [
    'DashScope',
    { message: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]' },
  ],
  [
    "GitHub's models",
    {
      message: 'prompt token count of 150000 exceeds the limit of 128000',
      code: 'model_max_prompt_tokens_exceeded',
    },
  ],
  [
    'Cohere',
    { message: 'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.' },
  ],
])('a prompt too long for %s starts the compaction of every agent', (_host, error) => {
  const body = { error: { type: 'invalid_request_error', ...error } };

  expect(startTranslation('messages', 'chat').error(400, body)).toMatchObject({
    error: { message: expect.stringMatching(/prompt is too long/i) },
  });
  expect(startTranslation('responses', 'chat').error(400, body)).toMatchObject({
    error: { code: 'context_length_exceeded' },
  });
});

test.each([
  'Rate limit reached: too many tokens per minute',
  'max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for this model',
  'string too long. Expected a string with maximum length 64, but got a string with length 80 instead.',
  "The model's context window is described in the documentation.",
])('other failures start none: %s', (message) => {
  const body = startTranslation('messages', 'chat').error(400, { error: { message } });

  expect(body).toMatchObject({ error: { message, code: null } });
});
