import { connect } from 'node:net';
import type { KeyRecord } from '../config/build/keys.ts';
import type { ModelEntry } from '../config/build/models.ts';
import type { GatewayConfig } from '../gateway/gateway.ts';
import { serveGateway } from '../gateway/serve.ts';
import { madeUpBody, madeUpModel, madeUpStream } from '../gateway/warm-up/made-up.ts';
import { defaultListenLimits, listen } from '../http/listen.ts';
import { compilePolicies } from '../policy/compile.ts';
import type { ProviderOptions } from '../providers/provider.ts';

const host = '127.0.0.1';
const rounds = 1;
const waitMs = 1_000;
const limits = { ...defaultListenLimits, drainMs: 0 };

/**
 * Sends a made-up request through a gateway that exists for them alone, with a provider of its own, as far as
 * no client waits: V8 has then compiled the code from socket to socket, and nothing of the real gateway is touched. Its
 * policies are empty, as the real ones are warmed by themselves. Returns how many were answered; never rejects.
 */
export async function exchangeWithItself(config: GatewayConfig, isBusy: () => boolean): Promise<number> {
  let answered = 0;
  if (isBusy()) return answered;
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const stream = Buffer.concat(madeUpStream());
    const provider = await listen({
      host,
      port: 0,
      limits,
      onRequest: (_request, response) => {
        response.writeHead(200, ['content-type', 'text/event-stream']);
        response.end(stream);
      },
    });
    closing.push(() => provider.drain());
    const key: KeyRecord = {
      id: 'warm-up',
      project: 'warm-up',
      policies: compilePolicies({}, []).select([]),
    };
    const gateway = await serveGateway({
      host,
      port: 0,
      limits,
      record: () => undefined,
      config: {
        ...config,
        keys: { find: (presented) => (presented === madeUpKey ? key : undefined) },
        policySets: () => [],
        providers: [optionsOf(provider.url)],
        models: [model],
        findModel: () => model,
        secrets: [],
        policySource: { policies: {}, secrets: [] },
        recordsBodies: false,
      },
    });
    closing.unshift(() => gateway.drain());
    for (let round = 0; round < rounds && !isBusy(); round += 1) {
      if (await ask(gateway.port)) answered += 1;
    }
  } catch {
    // Requests then find cold code.
  } finally {
    for (const close of closing) await close().catch(() => undefined);
  }
  return answered;
}

const madeUpKey = 'gateway-warm-up-key';
const model: ModelEntry = { match: madeUpModel, isPattern: false, targets: [{ provider: 'warm-up' }] };

function optionsOf(baseUrl: string): ProviderOptions {
  return {
    name: 'warm-up',
    dialect: 'anthropic',
    baseUrl,
    apiKey: 'made-up',
    credentials: 'api_key',
    endpoints: new Set(['messages']),
    forwardHeaders: new Set(),
    timeouts: { connectMs: waitMs, headersMs: waitMs, idleMs: waitMs, totalMs: waitMs, queueMs: waitMs },
    connections: 1,
    retries: { attempts: 1, budget: 0 },
    breaker: { failures: rounds + 1, openMs: waitMs },
  };
}

/** Whether it is answered with 200. */
function ask(port: number): Promise<boolean> {
  const body = Buffer.from(JSON.stringify(madeUpBody('messages', true)));
  const head = [
    'POST /v1/messages HTTP/1.1',
    `host: ${host}:${port}`,
    `x-api-key: ${madeUpKey}`,
    'anthropic-version: 2023-06-01',
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ];
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.setTimeout(waitMs, () => socket.destroy());
    let isAnswered = false;
    socket.once('data', (first) => {
      isAnswered = first.toString('latin1', 0, 12) === 'HTTP/1.1 200';
    });
    socket.on('error', () => undefined).on('close', () => resolve(isAnswered));
    // Not ended: a client that ends its side has left.
    socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
  });
}
