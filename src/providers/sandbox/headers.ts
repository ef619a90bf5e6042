import type { OutgoingHttpHeaders } from 'node:http';

const requestLimit = 10_000;
const tokenLimit = 2_000_000;

/** Headers of every answer in the Messages dialect: its request id and what is left of a made-up allowance. */
export function messagesHeaders(requestId: string): OutgoingHttpHeaders {
  const reset = new Date(Date.now() + 1_000).toISOString().replace(/\.\d+/, '');
  return {
    'request-id': requestId,
    'anthropic-organization-id': '00000000-0000-4000-8000-000000000000',
    'anthropic-ratelimit-requests-limit': requestLimit,
    'anthropic-ratelimit-requests-remaining': requestLimit - 1,
    'anthropic-ratelimit-requests-reset': reset,
    'anthropic-ratelimit-tokens-limit': tokenLimit,
    'anthropic-ratelimit-tokens-remaining': tokenLimit - 1_000,
    'anthropic-ratelimit-tokens-reset': reset,
  };
}

/** The same in the OpenAI dialects. */
export function openaiHeaders(requestId: string): OutgoingHttpHeaders {
  return {
    'x-request-id': requestId,
    'openai-version': '2020-10-01',
    'openai-organization': 'sandbox',
    'openai-processing-ms': 1,
    'x-ratelimit-limit-requests': requestLimit,
    'x-ratelimit-remaining-requests': requestLimit - 1,
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': tokenLimit,
    'x-ratelimit-remaining-tokens': tokenLimit - 1_000,
    'x-ratelimit-reset-tokens': '30ms',
  };
}
