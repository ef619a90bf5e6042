import { isText, tableBetween } from '../../src/dialects/dialect.ts';
import { type DialectName, dialects, type TextDialectName } from '../../src/dialects/registry.ts';

// What generators go through: a dialect in the registry is in all of them. One that leaves a dialect out says why.

export const dialectNames = Object.keys(dialects) as readonly DialectName[];

/** Those of conversations. */
export const textDialects = dialectNames.filter((name): name is TextDialectName => isText(dialects[name]));

/** Client and provider of each translation of a conversation. */
export const directions = pairsOf(textDialects);

/** The same with those of embeddings. */
export const allDirections = pairsOf(dialectNames).filter(
  ([client, provider]) => tableBetween(dialects[client], dialects[provider]) !== undefined,
);

function pairsOf<Name>(names: readonly Name[]): readonly (readonly [client: Name, provider: Name])[] {
  return names.flatMap((client) =>
    names.filter((provider) => provider !== client).map((provider) => [client, provider] as const),
  );
}
