import { Agent, type IncomingMessage, type RequestOptions } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Fields, parseJson, toFields, toList } from '../dialects/fields.ts';
import { type FailureCode, GatewayError } from '../errors.ts';
import { isLoopbackHost } from '../lib/loopback.ts';
import { answerHeader, challengeHeader, type OwnerProof } from '../lib/owner-proof.ts';
import { version } from '../version.ts';
import { isRefused, unreachableBecause } from './connection-fault.ts';
import { readText, type SendOptions, send as sendRequest } from './http.ts';

/** Where a gateway listens and the key to call it with. */
export interface GatewayAddress {
  /** The prefix of each path, without a slash at its end. */
  readonly url: string;
  readonly key: string;
  /** The secret from the user's state file: the server has to prove that it is that gateway before it is sent anything. */
  readonly proof?: OwnerProof | undefined;
}

export interface CallOptions {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly signal: AbortSignal;
}

/** The head of the gateway's answer. Throws the gateway's error, and gateway.unreachable. */
export async function call(
  address: GatewayAddress,
  { method, path, body, signal }: CallOptions,
): Promise<IncomingMessage> {
  const { url, key } = address;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const agent = address.proof === undefined ? false : await provenConnection(address, signal);
  const headers = {
    authorization: `Bearer ${key}`,
    connection: 'close',
    // A look-up of the owner is not recorded.
    ...(address.proof === undefined || method === 'POST'
      ? {}
      : { [challengeHeader]: address.proof.challenge }),
    'user-agent': `gateway/${version}`,
    ...(payload === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
  };
  const response = await send(new URL(url + path), { method, headers, agent, payload, signal });
  if (header(response, 'x-request-id')?.startsWith('req_') !== true) {
    response.destroy();
    throw notAGateway(url, response);
  }
  if ((response.statusCode ?? 0) >= 400) throw await answeredError(response);
  return response;
}

/** Redirects are not followed: the key is for the address that was named. */
function notAGateway(
  url: string,
  { statusCode = 0, headers: { location = '' } }: IncomingMessage,
): GatewayError {
  const isRedirect = statusCode >= 300 && statusCode < 400 && URL.canParse(location, url);
  const message = isRedirect
    ? `what answers at ${url} redirects to ${new URL(location, url).origin}; set GATEWAY_URL to that if it is yours`
    : `what answers at ${url} is not a gateway; set GATEWAY_URL to one`;
  return new GatewayError('gateway.unreachable', message);
}

/**
 * A kept connection to the gateway that wrote the state file. A program that takes its port after it died can't answer
 * the challenge, and everything that follows uses this one connection.
 */
async function provenConnection(address: GatewayAddress, signal: AbortSignal): Promise<Agent> {
  const agent = new OneConnection();
  try {
    await readHealth(address, signal, agent);
    return agent;
  } catch (thrown) {
    agent.destroy();
    throw thrown;
  }
}

/** POSTs as the gateway's owner, over a connection on which it has proved which gateway it is. */
export async function callAsOwner(
  { url, proof }: { readonly url: string; readonly proof: OwnerProof },
  path: string,
  signal: AbortSignal,
): Promise<unknown> {
  const agent = await provenConnection({ url, proof, key: '' }, signal);
  const headers = { [challengeHeader]: proof.challenge, connection: 'close', 'content-length': 0 };
  const response = await send(new URL(path, url), { method: 'POST', headers, agent, signal });
  if ((response.statusCode ?? 0) >= 400) throw await answeredError(response);
  return parseJson(await text(response));
}

/** What the gateway reports about itself to its owner. Throws gateway.unreachable if it is not the owner's. */
export async function readHealth(
  { url, proof }: Pick<GatewayAddress, 'url' | 'proof'>,
  signal: AbortSignal,
  agent: Agent | false = false,
): Promise<unknown> {
  const headers = { [challengeHeader]: proof?.challenge ?? '' };
  const target = new URL('/healthz', url);
  const response = await send(target, { method: 'GET', headers, agent, signal, silenceMs: proofMs });
  const body = await text(response);
  if (proof !== undefined && header(response, answerHeader) === proof.answer) return parseJson(body);
  const message = `what answers at ${url} is not the gateway that was started there, so it got neither key nor prompt`;
  throw new GatewayError('gateway.unreachable', `${message}; start one with "gateway serve"`);
}

class OneConnection extends Agent {
  #isUsed = false;

  constructor() {
    super({ keepAlive: true, maxSockets: 1 });
  }

  override createConnection(
    options: RequestOptions,
    onConnection?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    if (this.#isUsed) {
      const closed = Object.assign(new Error('the proven connection was closed'), { code: 'ECONNRESET' });
      onConnection?.(closed, undefined as never); // no stream beside an error
      return undefined;
    }
    this.#isUsed = true;
    return super.createConnection(options, onConnection);
  }
}

/** A busy gateway may take a while; a program that is silent for longer is not a gateway. */
const proofMs = 5_000;

async function send(target: URL, options: SendOptions): Promise<IncomingMessage> {
  try {
    return await sendRequest(target, options);
  } catch (cause) {
    throw options.signal.aborted ? cause : unreachable(target, cause);
  }
}

async function answeredError(response: IncomingMessage): Promise<GatewayError> {
  const status = response.statusCode ?? 0;
  const body = await text(response).catch(() => '');
  const error = toFields(toFields(parseJson(body)).error);
  const isOurs = header(response, 'x-gateway-error') === 'true';
  const detail = typeof error.message === 'string' ? error.message : `status ${status}`;
  const details = errorDetails(error);
  const next = details.reason === 'provider.unreachable' ? ' ("gateway doctor" says why)' : '';
  const message = isOurs ? detail + next : `the provider answered ${status}: ${detail}`;
  return new GatewayError(codeFor(status, isOurs), message, { ...details, requestId: requestIdOf(response) });
}

/** The id under which the gateway has recorded a request. */
export function requestIdOf(response: IncomingMessage): string | undefined {
  const id = header(response, 'x-request-id');
  return id !== undefined && /^req_[\w-]{1,64}$/.test(id) ? id : undefined;
}

/** The gateway's reason and the place of what is wrong; a Gemini error has them among its details. */
export function errorDetails(error: Fields): { readonly reason?: string; readonly param?: string } {
  const own = toList(error.details)
    .map(toFields)
    .find(({ domain }) => domain === 'gateway');
  const { reason = own?.reason, param = toFields(own?.metadata).param } = error;
  return {
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof param === 'string' ? { param } : {}),
  };
}

/** The row of the table of failures that has the matching exit code. */
function codeFor(status: number, isOurs: boolean): FailureCode {
  if (status === 429) return 'limit.requests';
  if (!isOurs) return status === 404 ? 'model.unknown' : 'provider.broken_response';
  if (status === 401) return 'key.invalid';
  if (status === 403) return 'policy.blocked';
  if (status === 404) return 'model.unknown';
  return status >= 500 ? 'provider.unavailable' : 'request.field';
}

function unreachable({ origin, hostname }: URL, cause: unknown): GatewayError {
  const isNotStarted = isLoopbackHost(hostname) && isRefused(cause);
  const why = isNotStarted
    ? '; start one with "gateway serve", or set GATEWAY_URL'
    : `: ${unreachableBecause(cause, 'GATEWAY_URL')}`;
  return new GatewayError('gateway.unreachable', `no gateway answers at ${origin}${why}`, { cause });
}

export function brokenOff(cause?: unknown): GatewayError {
  return new GatewayError('provider.broken_response', 'the answer broke off in the middle', { cause });
}

export function header(response: IncomingMessage, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export async function text(response: IncomingMessage): Promise<string> {
  try {
    return await readText(response);
  } catch (cause) {
    throw brokenOff(cause);
  }
}
