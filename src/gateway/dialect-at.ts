import { alternativesTo, type DialectName, dialects } from '../dialects/registry.ts';
import type { Provider } from '../providers/provider.ts';
import type { ModelEndpoint } from './endpoints.ts';

/** What a request of each dialect is translated to where the provider lacks it: the nearest first. */
const alternatives: ReadonlyMap<string, readonly DialectName[]> = new Map(
  Object.values(dialects).map((dialect) => [
    dialect.name,
    alternativesTo(dialect).map(({ name }) => name as DialectName), // they come from the registry
  ]),
);

/** The dialect in which a provider takes requests of an endpoint: its own, else another; undefined where none. */
export function dialectAt(
  { options: { endpoints } }: Provider,
  { name, dialectName }: Pick<ModelEndpoint, 'name' | 'dialectName'>,
): DialectName | undefined {
  if (endpoints.has(name)) return dialectName;
  if (name === 'count_tokens') return undefined;
  return alternatives.get(name)?.find((other) => endpoints.has(other));
}
