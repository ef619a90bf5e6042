import { toFields } from '../../dialects/fields.ts';
import type { SourceDocument } from './document.ts';

type Path = readonly PropertyKey[];

/**
 * A file in which each list of `api_keys` is the map that it stands for: a key has the name of its variable in lower
 * case, or `key-2` if it is the second and comes from no variable alone. By a name that doesn't depend on the others, a
 * key that is taken out of the list moves no session of theirs. Places stay those of the list.
 */
export function withListedKeys(source: SourceDocument): SourceDocument {
  const root = toFields(source.value);
  const listed = Object.entries(toFields(root.providers)).filter(([, provider]) =>
    Array.isArray(toFields(provider).api_keys),
  );
  if (listed.length === 0) return source;
  const named = listed.map(([provider, settings]) => {
    const { api_keys, ...rest } = settings as { readonly api_keys: readonly unknown[] }; // as it was filtered
    const names = namesOf(api_keys);
    const keys = Object.fromEntries(names.map((name, i) => [name, api_keys[i]]));
    return { provider, names, settings: { ...rest, api_keys: keys } };
  });
  const inList = (path: Path): Path => {
    const [section, provider, setting, name, ...rest] = path;
    if (section !== 'providers' || setting !== 'api_keys' || name === undefined) return path;
    const index = named.find((each) => each.provider === provider)?.names.indexOf(String(name)) ?? -1;
    return index < 0 ? path : [section, provider as string, setting, index, ...rest];
  };
  const providers = named.map(({ provider, settings }) => [provider, settings] as const);
  return {
    ...source,
    value: { ...root, providers: { ...toFields(root.providers), ...Object.fromEntries(providers) } },
    locate: (path, part) => source.locate(inList(path), part),
    has: (path) => source.has(inList(path)),
  };
}

function namesOf(keys: readonly unknown[]): readonly string[] {
  const names: string[] = [];
  for (const [i, key] of keys.entries()) {
    const variable = /^\$\{([A-Za-z][A-Za-z0-9_]{0,63})\}$/.exec(String(key))?.[1]?.toLowerCase();
    names.push(variable === undefined || names.includes(variable) ? `key-${i + 1}` : variable);
  }
  return names;
}
