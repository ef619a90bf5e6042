import type { HeaderFields } from '../http/respond.ts';

const requestLimit = 10_000;
const tokenLimit = 2_000_000;
const limits = { requests: String(requestLimit), tokens: String(tokenLimit) };
const left = { requests: String(requestLimit - 1), tokens: String(tokenLimit - 1_000) };

/** Headers of every answer in the Messages dialect: its request id and the rest of a made-up rate limit. */
export function messagesHeaders(requestId: string): HeaderFields {
  const reset = new Date(Date.now() + 1_000).toISOString().replace(/\.\d+/, '');
  return {
    'request-id': requestId,
    'anthropic-organization-id': '00000000-0000-4000-8000-000000000000',
    'anthropic-ratelimit-requests-limit': limits.requests,
    'anthropic-ratelimit-requests-remaining': left.requests,
    'anthropic-ratelimit-requests-reset': reset,
    'anthropic-ratelimit-tokens-limit': limits.tokens,
    'anthropic-ratelimit-tokens-remaining': left.tokens,
    'anthropic-ratelimit-tokens-reset': reset,
  };
}

/** The same in the OpenAI dialects. */
export function openaiHeaders(requestId: string): HeaderFields {
  return {
    'x-request-id': requestId,
    'openai-version': '2020-10-01',
    'openai-organization': 'sandbox',
    'openai-processing-ms': '1',
    'x-ratelimit-limit-requests': limits.requests,
    'x-ratelimit-remaining-requests': left.requests,
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-limit-tokens': limits.tokens,
    'x-ratelimit-remaining-tokens': left.tokens,
    'x-ratelimit-reset-tokens': '30ms',
  };
}
