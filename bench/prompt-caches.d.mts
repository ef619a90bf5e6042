export interface CacheOutcome {
  readonly bytes: number;
  readonly cached: number;
}

export function messagesCache(options?: {
  readonly nowMs?: () => number;
}): (request: {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly target: string;
  readonly body: object;
}) => CacheOutcome;
