import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';

export interface SendOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
  /** False: a connection of its own; Node's own agent, which keeps connections, if absent. */
  readonly agent?: Agent | false;
  readonly payload?: string | undefined;
  readonly signal: AbortSignal;
  /** How long the server may send nothing; unlimited if absent. */
  readonly silenceMs?: number;
}

/**
 * The head of an answer with any status: redirects are not followed. Rejects with the signal's reason or with the
 * connection's error. By node:http, because loading Node's fetch costs more than the rest of a command.
 */
export async function send(
  target: URL,
  { method, headers, agent, payload, signal, silenceMs }: SendOptions,
): Promise<IncomingMessage> {
  const open = target.protocol === 'https:' ? process.getBuiltinModule('node:https').request : httpRequest;
  return new Promise((resolve, reject) => {
    const request = open(target, { method, headers, ...(agent === undefined ? {} : { agent }) }, resolve);
    // Not the option `signal`, which takes 2 ms to set up.
    const stop = () => request.destroy(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    request.on('close', () => signal.removeEventListener('abort', stop));
    request.on('error', (cause) => reject(signal.aborted ? signal.reason : cause));
    if (silenceMs !== undefined) {
      const silent = Object.assign(new Error(`silent for ${silenceMs} ms`), { code: 'ETIMEDOUT' });
      request.setTimeout(silenceMs, () => request.destroy(silent));
    }
    request.end(payload);
  });
}

/** The rest of an answer. Rejects if it breaks off. */
export async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
