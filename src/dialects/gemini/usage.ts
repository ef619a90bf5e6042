import { type Fields, isFields, toCount, toFields, toKnownCount, toList } from '../fields.ts';
import { toModes, toTokens, type Usage } from '../usage.ts';

/**
 * `promptTokenCount` has what was cached in it and not what the provider's tools added; `candidatesTokenCount` is without
 * the thoughts. A stream repeats the counts with every event, as far as they are known by then.
 */
export function parseGeminiUsage(usage: unknown): Usage | undefined {
  if (!isFields(usage)) return undefined;
  const tokens = toTokens({
    input: sum(usage.promptTokenCount, usage.toolUsePromptTokenCount),
    output: sum(usage.candidatesTokenCount, usage.thoughtsTokenCount),
    total: usage.totalTokenCount,
  });
  if (tokens === undefined) return undefined;
  return {
    cacheReadTokens: toCount(usage.cachedContentTokenCount),
    cacheWriteTokens: 0,
    reasoningTokens: toCount(usage.thoughtsTokenCount),
    ...tokens,
    ...toModes(usage, findModality(usage)),
  };
}

/**
 * The usage of a whole answer or an event. What searches cost depends on the model's generation, by request or by query,
 * so that an answer which rests on one has no known price.
 */
export function parseGeminiAnswerUsage(answer: Fields, known?: Usage): Usage | undefined {
  const usage = parseGeminiUsage(answer.usageMetadata) ?? known;
  const isGrounded = toList(answer.candidates).some((each) => {
    const { webSearchQueries, groundingChunks } = toFields(toFields(each).groundingMetadata);
    return toList(webSearchQueries).length > 0 || toList(groundingChunks).length > 0;
  });
  const surcharge = usage?.surcharge ?? (isGrounded ? 'groundingMetadata' : known?.surcharge);
  return usage === undefined || surcharge === undefined ? usage : { ...usage, surcharge };
}

/** Tokens with prices of their own: audio input, and any output other than text. */
const pricedApart: readonly (readonly [details: string, modalities: readonly unknown[]])[] = [
  ['promptTokensDetails', ['AUDIO']],
  ['cacheTokensDetails', ['AUDIO']],
  ['toolUsePromptTokensDetails', ['AUDIO']],
  ['candidatesTokensDetails', ['AUDIO', 'IMAGE', 'VIDEO']],
];

// With loops, as streams have these details in each event.
function findModality(usage: Fields): string | undefined {
  for (const [name, modalities] of pricedApart) {
    const details = usage[name];
    if (!Array.isArray(details)) continue;
    for (const each of details) {
      const { modality, tokenCount } = toFields(each);
      if (modalities.includes(modality) && toCount(tokenCount) > 0) return name;
    }
  }
  return undefined;
}

function sum(one: unknown, other: unknown): number | undefined {
  const [first, second] = [toKnownCount(one), toKnownCount(other)];
  return first === undefined || second === undefined ? (first ?? second) : first + second;
}

export function buildGeminiUsage(usage: Usage): Fields {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = usage;
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - reasoningTokens),
    totalTokenCount: inputTokens + outputTokens,
    ...(cacheReadTokens > 0 ? { cachedContentTokenCount: cacheReadTokens } : {}),
    ...(reasoningTokens > 0 ? { thoughtsTokenCount: reasoningTokens } : {}),
  };
}
