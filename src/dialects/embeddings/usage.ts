import { toFields, toKnownCount } from '../fields.ts';
import { noUsage, type Usage } from '../usage.ts';

export function parseEmbeddingsUsage(usage: unknown): Usage | undefined {
  const { prompt_tokens: prompt, total_tokens: total } = toFields(usage);
  const inputTokens = toKnownCount(prompt) ?? toKnownCount(total);
  return inputTokens === undefined ? undefined : { ...noUsage, inputTokens };
}
