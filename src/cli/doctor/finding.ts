/** The result of one check. */
export interface Finding {
  /** What was checked: `configuration`, `provider openai`, `port 4100`. */
  readonly subject: string;
  /** Only an error means that something does not work. */
  readonly status: 'ok' | 'warning' | 'error';
  readonly message: string;
  /** What the user should do; absent if nothing is wrong. */
  readonly remedy?: string;
}

/** Makes findings about one subject. */
export function about(subject: string) {
  return {
    ok: (message: string): Finding => ({ subject, status: 'ok', message }),
    warning: (message: string, remedy: string): Finding => ({ subject, status: 'warning', message, remedy }),
    error: (message: string, remedy: string): Finding => ({ subject, status: 'error', message, remedy }),
  };
}
