import type { DialectName } from '../dialects/registry.ts';
import type { TextDialect } from '../dialects/translate.ts';
import type { Provider } from '../providers/provider.ts';
import type { ModelEndpoint } from './endpoints.ts';

/** What a request is translated to where the provider lacks its dialect: the nearest first. */
const alternatives: Readonly<Record<TextDialect, readonly TextDialect[]>> = {
  messages: ['chat', 'responses'],
  chat: ['messages', 'responses'],
  responses: ['chat', 'messages'],
};

/** The dialect in which a provider takes requests of an endpoint: its own, else another; undefined where none. */
export function dialectAt(
  { options: { endpoints } }: Provider,
  { name, dialectName }: Pick<ModelEndpoint, 'name' | 'dialectName'>,
): DialectName | undefined {
  if (endpoints.has(name)) return dialectName;
  if (name === 'count_tokens' || name === 'embeddings') return undefined;
  return alternatives[name].find((other) => endpoints.has(other));
}
