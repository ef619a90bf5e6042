/** What one check of `doctor` says. */
export interface Diagnosis {
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
    ok: (message: string): Diagnosis => ({ subject, status: 'ok', message }),
    warning: (message: string, remedy: string): Diagnosis => ({
      subject,
      status: 'warning',
      message,
      remedy,
    }),
    error: (message: string, remedy: string): Diagnosis => ({ subject, status: 'error', message, remedy }),
  };
}

/** Whether an agent's base URL is that of the gateway. */
export function isHere(url: string, gatewayUrl: string | undefined): boolean {
  return gatewayUrl !== undefined && url.replace(/\/+$/, '') === `${gatewayUrl}/v1`;
}

/** What is wrong with an agent's file whose list of exceptions replaces that of `gateway run`, and what to do. */
export function proxyFault(
  file: string,
  setting: string,
  gatewayUrl: string,
): [message: string, remedy: string] {
  return [
    `${file} sets NO_PROXY without the gateway's host, so that a proxy gets its requests`,
    `add ${new URL(gatewayUrl).hostname} to ${setting} in it`,
  ];
}
