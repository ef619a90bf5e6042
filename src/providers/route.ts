import type { ModelEntry, ModelTarget } from '../config/build/models.ts';
import type { FindKnownModel, KnownModel } from '../limits/known-models.ts';
import type { Provider } from './provider.ts';

/** A provider, with one of its keys, and the name that the model has there. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
  /** The entry of the model list that names it, and what is said of it there. */
  readonly entry: ModelEntry;
  readonly choice: ModelTarget;
  /** What is known of the model without the entry. */
  readonly known?: KnownModel | undefined;
  /** Set if it is one of several among which requests are spread. */
  readonly share?: Share | undefined;
}

/**
 * Where a requested model goes: the targets in the order in which they are tried, those among which requests are spread
 * in that of the file (`spread` orders them for a session), and the entry that is taken first.
 */
export interface Route {
  readonly entry: ModelEntry;
  /** Those whose provider is configured. */
  readonly targets: readonly Target[];
}

/** Where one request goes, by the numbers and names that the configuration has. */
interface Chosen {
  readonly entries: readonly { readonly entry: number }[];
  readonly targets: readonly {
    readonly entry: number;
    readonly index: number;
    readonly provider: string;
    readonly model: string;
  }[];
}

export type Router = ReturnType<typeof createModelRouter>;

interface RouterParts {
  readonly models: readonly ModelEntry[];
  readonly findModel: (name: string) => ModelEntry | undefined;
  readonly findKnown: FindKnownModel;
  /** By their names, each with all of its keys. */
  readonly providers: ReadonlyMap<string, readonly Provider[]>;
}

// Clients choose the names, so the cache is bounded.
const maxNames = 1_000;

/** Finds the providers of models and of requests. */
export function createModelRouter({ models, findModel, findKnown, providers }: RouterParts) {
  /** A target with each key of its provider; none if that is not configured. */
  const withKeys = (entry: ModelEntry, place: Chosen['targets'][number]): readonly Target[] => {
    const choice = entry.targets[place.index];
    if (choice === undefined) return [];
    const { model } = place;
    const known = findKnown(model);
    return (providers.get(place.provider) ?? []).map((provider) => {
      const share = shareOf(entry, { ...place, keyName: provider.options.keyName });
      return { provider, model, entry, choice, ...(known && { known }), ...(share && { share }) };
    });
  };
  const known = new Map<string, Route | undefined>();
  // Where nothing depends on the request, all requests for a model have the same one.
  const followed = new WeakMap<Chosen, Route | undefined>();

  return {
    /** Where requests for a model go that no condition claims, memoized by name; undefined if no entry matches. */
    resolve: (name: string): Route | undefined => {
      if (known.has(name)) return known.get(name);
      if (known.size >= maxNames) known.clear();
      const entry = findModel(name);
      const route = entry && {
        entry,
        targets: entry.targets.flatMap(({ provider, model = name }, index) =>
          withKeys(entry, { entry: models.indexOf(entry), index, provider, model }),
        ),
      };
      known.set(name, route);
      return route;
    },
    /** Where a request goes; undefined if no entry takes it. */
    follow: (chosen: Chosen): Route | undefined => {
      const before = followed.get(chosen);
      if (before !== undefined) return before;
      const entry = models[chosen.entries[0]?.entry ?? -1];
      if (entry === undefined) return undefined;
      const route = {
        entry,
        targets: chosen.targets.flatMap((place) => withKeys(models[place.entry] ?? entry, place)),
      };
      followed.set(chosen, route);
      return route;
    },
  };
}

/** What is known of a target that shares requests with others, by which a session finds its own. */
export interface Share {
  /** The same for all that share requests. */
  readonly group: string;
  readonly weight: number;
  /** Of its provider and model. */
  readonly seed: number;
  /** Of the key, if its provider has several. */
  readonly keySeed: number | undefined;
}

interface Shared {
  readonly share?: Share | undefined;
}

/** A target of an entry of the model list, by the numbers of both. */
interface TargetPosition {
  readonly entry: number;
  readonly index: number;
  readonly provider: string;
  readonly model: string;
  readonly keyName?: string | undefined;
}

/** The share of a target; undefined if it has all requests to itself. */
export function shareOf(
  { targets }: { readonly targets: readonly ModelTarget[] },
  { entry, index, provider, model, keyName }: TargetPosition,
): Share | undefined {
  const { weight } = targets[index] ?? {};
  const isOneOfSeveral = weight !== undefined && targets[1]?.weight !== undefined;
  if (!isOneOfSeveral && keyName === undefined) return undefined;
  return {
    group: isOneOfSeveral ? `${entry}` : `${entry} ${index}`,
    weight: weight ?? 1,
    seed: hashOf(`${provider}/${model}`),
    keySeed: keyName === undefined ? undefined : hashOf(`${provider}/${keyName}`),
  };
}

/**
 * The targets in the order in which a session's requests try them: those that share requests change places among
 * themselves, first by target, then by key. It is rendezvous hashing: each has a number that depends on the session and its
 * own name alone, so a target that comes or goes moves no session between the others. A weight is the share of sessions
 * (Schindelhauer and Schomaker, "Weighted Distributed Hash Tables", 2005). Without a session each request is one of its own.
 */
export function spread<Each extends Shared>(
  targets: readonly Each[],
  session: string | undefined,
): readonly Each[] {
  if (!targets.some(({ share }) => share !== undefined)) return targets;
  const id = session === undefined ? Math.floor(Math.random() * 2 ** 32) : hashOf(session);
  // Few, and on the path of each request: they are sorted by insertion, with their distances beside them.
  const ordered = targets.slice();
  const own: number[] = [];
  const key: number[] = [];
  for (const [i, target] of targets.entries()) {
    const { share } = target;
    const toTarget = share === undefined ? 0 : distance(id, share.seed) / share.weight;
    const toKey = share?.keySeed === undefined ? 0 : distance(id, share.keySeed);
    let at = i;
    for (; at > 0; at -= 1) {
      const before = ordered[at - 1] as Each; // there is one
      if (share === undefined || before.share?.group !== share.group) break;
      const difference = toTarget - (own[at - 1] as number);
      if (difference > 0 || (difference === 0 && toKey >= (key[at - 1] as number))) break;
      ordered[at] = before;
      own[at] = own[at - 1] as number;
      key[at] = key[at - 1] as number;
    }
    ordered[at] = target;
    own[at] = toTarget;
    key[at] = toKey;
  }
  return ordered;
}

/** From 0 up, exponentially distributed over all sessions. */
function distance(id: number, seed: number): number {
  return -Math.log((mix(id ^ seed) + 0.5) / 2 ** 32);
}

/** FNV-1a, of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mix(hash);
}

/** MurmurHash3's last step: each bit of the input changes half of the output's. */
function mix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
