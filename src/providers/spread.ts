import type { ModelTarget } from '../config/build/models.ts';

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
interface Place {
  readonly entry: number;
  readonly index: number;
  readonly provider: string;
  readonly model: string;
  readonly keyName?: string | undefined;
}

/** The share of a target; undefined if it has all requests to itself. */
export function shareOf(
  { targets }: { readonly targets: readonly ModelTarget[] },
  { entry, index, provider, model, keyName }: Place,
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
