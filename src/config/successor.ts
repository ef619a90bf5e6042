import { decidesNothing } from './build/unused.ts';
import type { Config } from './config.ts';
import { isOfUser, type UserProtection } from './user-file.ts';

/** What of a followed configuration must not be lost by a reload; plain data, kept in the state file too. */
export interface Protection {
  readonly is_sandbox: boolean;
  readonly has_projects: boolean;
  /** Those that have not expired. */
  readonly keys: number;
  /** Those of the file that decide something and apply to a key. */
  readonly policies: number;
}

export function protectionOf(config: Config, nowMs = Date.now()): Protection {
  const { isSandboxMode, needsLocalKey, keys, policySource } = config;
  // A local key is the gateway's own, not the file's.
  const own = needsLocalKey ? [] : [...keys.records()];
  const applied = new Set(own.flatMap(({ policies }) => policies.names));
  return {
    is_sandbox: isSandboxMode,
    has_projects: !needsLocalKey,
    keys: own.filter(({ expiresMs = Number.POSITIVE_INFINITY }) => expiresMs > nowMs).length,
    policies: Object.entries(policySource.policies).filter(
      ([name, policy]) => !isOfUser(name) && (needsLocalKey || applied.has(name)) && !decidesNothing(policy),
    ).length,
  };
}

/**
 * Why a configuration can't take the place of the one in force, valid as it may be: a file that was emptied, cut
 * or half written must not turn a configured gateway into one without keys or policies. Taking away the last of
 * them is a decision, for which the gateway is restarted.
 */
export function refuseSuccessor(current: Protection, next: Protection): string | undefined {
  const lost =
    (!current.is_sandbox && next.is_sandbox && 'it has neither providers, models nor projects') ||
    (current.has_projects && !next.has_projects && 'it has no projects any more') ||
    (current.keys > 0 && next.keys === 0 && 'it has no usable key any more') ||
    (current.policies > 0 && next.policies === 0 && 'no policy with a rule applies to a key any more');
  return lost ? `${lost}; restart the gateway if that is intended` : undefined;
}

/**
 * Whether a changed file lacks rules and looks half written: it is the beginning of what it was, or has lost the
 * end of its last line.
 */
export function looksCut(current: FollowedFile, next: FollowedFile): boolean {
  const lost = lostRules(current.config, next.config);
  return lost.some((policy) => !isOfUser(policy)) && isCut(current.text, next.text);
}

/** Why a configuration can't take the place of the one in force because of the user's own file. */
export function refuseUserFile(current: FollowedFile, next: FollowedFile): string | undefined {
  if (current.user === undefined || current.user.policies.length === 0) return undefined;
  const { path, text } = current.user;
  if (next.user === undefined) return `${path} is gone; restart the gateway if that is intended`;
  if (next.user.policies.length === 0) {
    return `no policy of ${path} holds any more; restart the gateway if that is intended`;
  }
  const lost = lostRules(current.config, next.config);
  const isIncomplete = lost.some(isOfUser) && isCut(text, next.user.text);
  return isIncomplete ? `${path} ${endsEarly}` : undefined;
}

/** What is wrong with a file that looks cut. */
export const endsEarly =
  'ends early, and rules are missing: it seems to be incomplete; add a comment line at its end if that is intended';

function isCut(current: string, next: string): boolean {
  const isBeginning = next.length < current.length && current.startsWith(next);
  return isBeginning || (current.endsWith('\n') && !next.endsWith('\n'));
}

interface FollowedFile {
  readonly text: string;
  readonly config: Config;
  readonly user: UserProtection | undefined;
}

/** The policies that are gone, or lack a rule. */
function lostRules(current: Config, next: Config): readonly string[] {
  const kept = new Set(rulesOf(next).flat());
  return rulesOf(current)
    .filter((rules) => rules.some((rule) => !kept.has(rule)))
    .flatMap(([policy]) => policy ?? []);
}

/** Of every policy its name, and every rule as policy and id. */
function rulesOf({ policySource }: Config): readonly (readonly string[])[] {
  return Object.entries(policySource.policies).map(([name, { rules }]) => [
    name,
    ...rules.map(({ id }) => `${name}\0${id}`),
  ]);
}
