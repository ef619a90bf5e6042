import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { KeyRecord, KeyRing } from '../config/build/keys.ts';
import { GatewayError } from '../errors.ts';
import { version } from '../version.ts';
import { addBounded } from './access/sessions.ts';
import type { SendAgainResponse } from './contract/actions.ts';

const passMs = 10_000;
const maxPasses = 100;
/** A longer answer is abandoned: it isn't read here, and it costs. */
const answerLimitBytes = 64 * 1024 * 1024;

/**
 * One-time keys, with which the gateway can send a request again for a key that it knows only by its hash. Each
 * is valid for one request within seconds, and is sent only to the process's own port.
 */
export class KeyPasses {
  readonly #passes = new Map<string, { readonly key: string; readonly endsMs: number }>();

  issue(key: string): string {
    const pass = `pass_${randomBytes(32).toString('hex')}`;
    addBounded(this.#passes, pass, { key, endsMs: Date.now() + passMs }, maxPasses);
    return pass;
  }

  /** A key ring in which a pass can be used for its key, once. */
  over(ring: KeyRing): Pick<KeyRing, 'find'> {
    return {
      find: (presented) => {
        const known = ring.find(presented);
        if (known !== undefined || this.#passes.size === 0) return known;
        return this.#redeem(presented, ring);
      },
    };
  }

  #redeem(presented: string, ring: KeyRing): KeyRecord | undefined {
    const pass = this.#passes.get(presented);
    this.#passes.delete(presented);
    if (pass === undefined || pass.endsMs < Date.now()) return undefined;
    return [...ring.records()].find(({ id }) => id === pass.key);
  }
}

export interface SentAgain {
  readonly target: string;
  /** The key's id. */
  readonly key: string;
  /** The client's headers that affect a provider's answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Sends a request to the gateway itself, over its own port; resolves when the head of the answer is here. */
export async function sendToSelf(
  url: string,
  pass: string,
  { target, headers, body }: SentAgain,
): Promise<SendAgainResponse> {
  const { hostname, port } = new URL(url);
  const sending = request({
    host: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: target,
    method: 'POST',
    agent: false,
    headers: {
      ...headers,
      'user-agent': `gateway-inspector/${version}`,
      authorization: `Bearer ${pass}`,
      'content-type': 'application/json',
      'content-length': body.length,
    },
  });
  // One that comes after the head ends the answer too, and has no other handler.
  sending.on('error', () => undefined);
  sending.end(body);
  const [response] = (await once(sending, 'response').catch((cause) => {
    throw new GatewayError('gateway.unreachable', 'the gateway did not answer its own request', { cause });
  })) as [IncomingMessage]; // as node:http documents it
  response.on('error', () => undefined); // the list shows that the answer was cut
  let read = 0;
  response.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > answerLimitBytes) response.destroy();
  });
  return { id: String(response.headers['x-request-id'] ?? ''), status: response.statusCode ?? 0 };
}
