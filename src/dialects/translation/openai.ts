import type { ProviderFailure } from '../conversation.ts';
import type { RateLimit } from '../dialect.ts';
import { type Fields, isFields, toCount, toFields } from '../fields.ts';
import { toCacheWrites, toModes, toTokens, type Usage } from '../usage.ts';

const types: Readonly<Record<string, string>> = {
  rate_limit_error: 'rate_limit_exceeded',
  overloaded_error: 'server_error',
  api_error: 'server_error',
  timeout_error: 'server_error',
};

/** `{error: {message}}`: of anything else, SDKs show nothing but the status. */
export function isOpenAiErrorBody(body: unknown): boolean {
  return typeof toFields(toFields(body).error).message === 'string';
}

/** The error body of OpenAI's dialects. The gateway's own failures keep the names that all of its errors have. */
export function openAiErrorBody({ type, message, code, param, requestId }: ProviderFailure) {
  const isOwn = requestId !== undefined;
  const error: Fields = {
    message,
    type: isOwn ? type : (types[type] ?? type),
    ...(isOwn ? { reason: code } : {}),
    code: code ?? null,
    param: param ?? null,
  };
  return { error, ...(isOwn ? { request_id: requestId } : {}) };
}

/** OpenAI's rate-limit headers, for `Dialect.limitHeaders`: `x-ratelimit-*`, with the time until the reset. */
export function openAiLimitHeaders({ unit, max, remaining, resetMs }: RateLimit): readonly string[] {
  return [
    `x-ratelimit-limit-${unit}`,
    String(max),
    `x-ratelimit-remaining-${unit}`,
    String(remaining),
    `x-ratelimit-reset-${unit}`,
    `${Math.ceil(resetMs / 1_000)}s`,
  ];
}

/**
 * The usage of OpenAI's dialects, in which only the names of the counts differ, and of hosts that have the same dialects:
 * Moonshot (`cached_tokens`) and DeepSeek (`prompt_cache_hit_tokens`) report what was cached beside the other counts,
 * proxies as Anthropic does, and DashScope so among the details. `answer` is the object that names the tier.
 */
export function parseOpenAiUsage(
  usage: unknown,
  names: { readonly input: string; readonly output: string },
  answer: Fields,
): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const tokens = toTokens({
    input: usage[names.input],
    output: usage[names.output],
    total: usage.total_tokens,
  });
  if (tokens === undefined) return undefined;
  const input = toFields(usage[`${names.input}_details`]);
  const output = toFields(usage[`${names.output}_details`]);
  const written = toCacheWrites(input.cache_creation);
  const heard = toCount(input.audio_tokens) > 0 || toCount(output.audio_tokens) > 0;
  const isPicture = toCount(output.image_tokens) > 0;
  const longCacheWriteTokens = toCount(written.long);
  // What is optional comes first: V8 takes a slow path for a spread behind other members.
  return {
    ...toModes(answer, heard ? 'audio_tokens' : isPicture ? 'image_tokens' : undefined),
    ...(longCacheWriteTokens > 0 && { longCacheWriteTokens }),
    ...tokens,
    cacheReadTokens: firstCount(
      input.cached_tokens,
      usage.cached_tokens,
      usage.prompt_cache_hit_tokens,
      usage.cache_read_input_tokens,
    ),
    cacheWriteTokens: firstCount(
      input.cache_write_tokens,
      input.cache_creation_tokens,
      input.cache_creation_input_tokens,
      usage.cache_creation_input_tokens,
      written.all,
    ),
    reasoningTokens: toCount(output.reasoning_tokens),
  };
}

/** The first that is reported; hosts that report it twice may report zero in OpenAI's place. */
function firstCount(...counts: readonly unknown[]): number {
  for (const count of counts) if (toCount(count) > 0) return toCount(count);
  return 0;
}
