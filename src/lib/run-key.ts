/** One start of an agent by `gateway run`, and what it may use. */
export interface Run {
  readonly id: string;
  /** In US$. */
  readonly budget?: number | undefined;
  readonly requests?: number | undefined;
}

/** Runs within runs that a key may name. */
const maxRuns = 8;
const noRuns: readonly Run[] = [];
const lastRun = /~(run-[0-9a-f]{12})(?:~usd-(\d{1,6}(?:\.\d{1,6})?))?(?:~requests-(\d{1,16}))?$/;

/**
 * The project key that `gateway run` gives an agent: it says which run a request belongs to and what that may use. In the
 * key, because settings of an agent can change any header of a request but this one, without which it is refused.
 */
export function toRunKey(key: string, { id, budget, requests }: Run): string {
  const limits = [
    ...(budget === undefined ? [] : [`~usd-${budget}`]),
    ...(requests === undefined ? [] : [`~requests-${requests}`]),
  ];
  return `${key}~${id}${limits.join('')}`;
}

/** The project key in a presented key, and the runs that it names: the innermost first, none for a plain key. */
export function parseRunKey(presented: string): { readonly key: string; readonly runs: readonly Run[] } {
  let key = presented;
  let runs = noRuns;
  while (runs.length < maxRuns) {
    const found = lastRun.exec(key);
    if (found === null) break;
    const [whole, id = '', usd, requests] = found;
    key = key.slice(0, -whole.length);
    const limits = {
      ...(usd !== undefined && { budget: Number(usd) }),
      ...(requests !== undefined && { requests: Number(requests) }),
    };
    runs = [...runs, { id, ...limits }];
  }
  return { key, runs };
}
