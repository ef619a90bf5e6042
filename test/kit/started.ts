const hosts: (() => Promise<unknown>)[] = [];
const gateways: (() => Promise<unknown>)[] = [];

/** Has a host closed at the end of the file that started it, if it is not closed before. */
export function closeAtEnd(close: () => Promise<unknown>): void {
  hosts.push(close);
}

/** The same for a gateway, after all hosts: a stream that hangs there would hold up its draining. */
export function stopAtEnd(stop: () => Promise<unknown>): void {
  gateways.push(stop);
}

/** Ends what a test file started; every file does so at its end (leftovers.ts). */
export async function endStarted(): Promise<void> {
  for (const started of [hosts, gateways]) await Promise.all(started.splice(0).map((end) => end()));
}
