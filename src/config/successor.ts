import type { Config } from './config.ts';

/** What of a followed configuration must not be lost by a reload; plain data, kept in the state file too. */
export interface Protection {
  readonly is_sandbox: boolean;
  readonly has_projects: boolean;
  readonly keys: number;
  readonly policies: number;
}

export function protectionOf({ isSandboxMode, needsLocalKey, keys, policySource }: Config): Protection {
  return {
    is_sandbox: isSandboxMode,
    has_projects: !needsLocalKey,
    // A local key is the gateway's own, not the file's.
    keys: needsLocalKey ? 0 : keys.size,
    policies: Object.keys(policySource.policies).length,
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
    (current.policies > 0 && next.policies === 0 && 'it has no policies any more');
  return lost ? `${lost}; restart the gateway if that is intended` : undefined;
}

/** Whether a changed file looks like the old one in the middle of being written, and that costs it policies. */
export function looksCut(current: FollowedText, next: FollowedText): boolean {
  const isBeginning = next.text.length < current.text.length && current.text.startsWith(next.text);
  return isBeginning && current.rules.some((rule) => !next.rules.includes(rule));
}

export interface FollowedText {
  readonly text: string;
  /** Every policy, and every rule as policy and id. */
  readonly rules: readonly string[];
}

export function rulesOf({ policySource }: Config): readonly string[] {
  return Object.entries(policySource.policies).flatMap(([name, { rules }]) => [
    name,
    ...rules.map(({ id }) => `${name}\0${id}`),
  ]);
}
