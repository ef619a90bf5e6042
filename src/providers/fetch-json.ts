import { dialects } from '../dialects/registry.ts';
import { GatewayError } from '../errors.ts';
import { Lifetime } from '../lib/lifetime.ts';
import { authorized } from './credentials/authorizer.ts';
import { type AnswerHeaders, requestHeaders } from './headers.ts';
import type { Provider } from './provider.ts';
import { decodedAnswer, readWhole } from './read-whole.ts';
import { type HostRequest, Upstream } from './transport/pool.ts';

interface FetchLimits {
  readonly timeoutMs: number;
  readonly limitBytes: number;
}

interface Asked {
  readonly body?: Buffer | undefined;
  /** For hosts that have it in the path. */
  readonly model?: string;
}

/** A whole answer with any status. */
export interface FetchedResponse {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
  /** What authorized the request, which what the host says may repeat. */
  readonly secrets: readonly string[];
}

/** GETs a JSON document from a provider, with a timeout. Throws a provider.… error for anything else. */
export async function fetchJson(
  provider: Provider,
  gatewayPath: string,
  limits: FetchLimits,
): Promise<unknown> {
  const { status, body } = await fetchAnswer(provider, gatewayPath, limits);
  if (status !== 200) throw new GatewayError('provider.broken_response', `status ${status}`);
  return parse(body);
}

/**
 * GETs a provider's answer with any status, or POSTs a body to it, with a timeout. Throws a provider.… error if it
 * doesn't answer.
 */
export async function fetchAnswer(
  provider: Provider,
  gatewayPath: string,
  { timeoutMs, limitBytes, body, model = 'none' }: FetchLimits & Asked,
): Promise<FetchedResponse> {
  const lifetime = new Lifetime();
  const timer = setTimeout(
    () => lifetime.end(new GatewayError('provider.timeout', `no answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const { upstream, secrets } = await ask(provider, { path: gatewayPath, body, model }, lifetime);
    const answer = decodedAnswer(upstream);
    const { status, headers } = answer;
    return { status, headers, secrets, body: await readWhole(answer, limitBytes, lifetime) };
  } finally {
    clearTimeout(timer);
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw new GatewayError('provider.broken_response', 'the answer is not JSON', { cause });
  }
}

async function ask(
  provider: Provider,
  { path, body, model }: Asked & { readonly path: string; readonly model: string },
  lifetime: Lifetime,
): Promise<{ readonly upstream: Upstream; readonly secrets: readonly string[] }> {
  const type = body === undefined ? [] : ['content-type', 'application/json'];
  const headers = requestHeaders(['accept', 'application/json', ...type], {
    dialect: provider.options.dialect === 'anthropic' ? dialects.messages : {},
    own: provider.ownHeaders,
  });
  const request: HostRequest = {
    path: provider.pathFor({ path, model, stream: false }),
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body !== undefined && { body }),
  };
  const { headers: added, secrets } =
    provider.authorizer === undefined
      ? { headers: [], secrets: [provider.options.apiKey ?? ''] }
      : await authorized(provider.authorizer, request);
  if (lifetime.reason !== undefined) throw lifetime.reason;
  return new Promise((resolve, reject) => {
    const upstream = new Upstream((failure) =>
      failure === undefined ? resolve({ upstream, secrets }) : reject(failure.error),
    );
    lifetime.onEnd(() => {
      upstream.abort();
      reject(lifetime.reason);
    });
    provider.pool.send({ ...request, headers: [...headers, ...added] }, upstream);
  });
}
