import { request as httpRequest, type IncomingMessage } from 'node:http';
import { toFields } from '../dialects/fields.ts';
import { dialects } from '../dialects/registry.ts';
import { toUsageFields, type Usage, type UsageFields } from '../dialects/usage.ts';
import { type FailureCode, GatewayError } from '../errors.ts';
import { type Prompt, type PromptDialect, pathOf, phrasings, usageOf } from './prompt.ts';

/** Where a gateway listens and the key to call it with. */
export interface GatewayAddress {
  readonly url: string;
  readonly key: string;
}

/** What came back for a one-off prompt, with the names that scripts see. */
export interface Reply {
  readonly id: string | null;
  readonly model: string;
  readonly text: string;
  readonly finish_reason: string | null;
  readonly usage: UsageFields | null;
  readonly latency_ms: number;
  /** What the policies said: allow, warn or redact. */
  readonly decision: string;
  readonly request_id: string | null;
}

interface CallOptions {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly signal: AbortSignal;
}

/**
 * Sends a prompt; `onText` gets the pieces as they arrive. Throws what the gateway or the provider answered,
 * gateway.unreachable where nobody listens, and the signal's reason.
 */
export async function sendPrompt(
  address: GatewayAddress,
  prompt: Prompt & { readonly dialect: PromptDialect; readonly signal: AbortSignal },
  onText: (text: string) => void,
): Promise<Reply> {
  const startedMs = Date.now();
  const { dialect, signal } = prompt;
  const body = phrasings[dialect].body(prompt);
  // Before the call: nothing may come between the head of an answer and the reading of it.
  const sse = await import('eventsource-parser');
  const response = await call(address, { method: 'POST', path: pathOf(dialect), body, signal });
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
  const reply = isStream
    ? await readStream(response, dialect, onText, sse).catch(rethrow(signal))
    : await readReply(response, dialect, onText).catch(rethrow(signal));
  return {
    id: reply.id,
    model: reply.model ?? prompt.model,
    text: reply.text,
    finish_reason: reply.finishReason ?? null,
    usage: reply.usage === undefined ? null : toUsageFields(reply.usage),
    latency_ms: Date.now() - startedMs,
    decision: decisionOf(response),
    request_id: header(response, 'x-request-id') ?? null,
  };
}

/** GETs a JSON document of the gateway. Throws as `sendPrompt` does. */
export async function getJson(address: GatewayAddress, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await call(address, { method: 'GET', path, signal });
  return JSON.parse(await text(response).catch(rethrow(signal)));
}

/** What ended the answer: whoever gave it up, else what it failed of. */
function rethrow(signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    throw signal.aborted ? signal.reason : error;
  };
}

async function call(
  { url, key }: GatewayAddress,
  { method, path, body, signal }: CallOptions,
): Promise<IncomingMessage> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const target = new URL(path, url);
  const open = target.protocol === 'https:' ? (await import('node:https')).request : httpRequest;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    };
    const request = open(target, { method, headers, agent: false }, resolve);
    // Not the option `signal`, which takes 2 ms to set up.
    const stop = () => request.destroy(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    request.on('close', () => signal.removeEventListener('abort', stop));
    request.on('error', (cause) => reject(signal.aborted ? signal.reason : unreachable(url, cause)));
    request.end(payload);
  });
  if (header(response, 'x-request-id')?.startsWith('req_') !== true) {
    response.destroy();
    const message = `what answers at ${url} is not a gateway; set GATEWAY_URL to one`;
    throw new GatewayError('gateway.unreachable', message);
  }
  if ((response.statusCode ?? 0) >= 400) throw await answeredError(response);
  return response;
}

type SseModule = typeof import('eventsource-parser');

interface Gathered {
  id: string | null;
  model?: string | undefined;
  text: string;
  finishReason?: string | undefined;
  usage?: Usage | undefined;
}

async function readReply(
  response: IncomingMessage,
  dialect: PromptDialect,
  onText: (text: string) => void,
): Promise<Gathered> {
  const answer: unknown = JSON.parse(await text(response));
  const phrasing = phrasings[dialect];
  const reply = phrasing.answerText(answer);
  onText(reply);
  return {
    ...identity(answer),
    text: reply,
    finishReason: phrasing.finishReason(answer),
    usage: usageOf(dialect, answer),
  };
}

async function readStream(
  response: IncomingMessage,
  dialect: PromptDialect,
  onText: (text: string) => void,
  { createParser }: SseModule,
): Promise<Gathered> {
  const gathered: Gathered = { id: null, text: '' };
  let failure: GatewayError | undefined;
  let hasNonsense = false;
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') return;
      const event = parsed(data);
      // Half an event, where the provider broke off: the error event that says so comes behind it.
      hasNonsense ||= event === undefined;
      failure ??= streamError(event);
      takeEvent(gathered, dialect, event, onText);
    },
  });
  try {
    await eachChunk(response, (chunk) => parser.feed(chunk));
  } catch (cause) {
    throw failure ?? brokenOff(cause);
  }
  if (failure !== undefined) throw failure;
  if (hasNonsense) throw brokenOff();
  return gathered;
}

/**
 * Not `for await`: when the connection breaks, that loses what has arrived and was not asked for yet, which
 * may be all of the answer and the event that says why it ended.
 */
function eachChunk(response: IncomingMessage, take: (chunk: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    response.setEncoding('utf8').on('data', take).on('end', resolve).on('error', reject);
  });
}

function brokenOff(cause?: unknown): GatewayError {
  return new GatewayError('provider.broken_response', 'the answer broke off in the middle', { cause });
}

function takeEvent(
  gathered: Gathered,
  dialect: PromptDialect,
  event: unknown,
  onText: (text: string) => void,
): void {
  const phrasing = phrasings[dialect];
  const piece = phrasing.deltaText(event);
  if (piece !== '') onText(piece);
  gathered.text += piece;
  gathered.finishReason = phrasing.finishReason(event) ?? gathered.finishReason;
  gathered.usage = dialects[dialect].eventUsage(event, gathered.usage);
  const { id, model } = identity(toFields(event).message ?? toFields(event).response ?? event);
  gathered.id ??= id;
  gathered.model ??= model;
}

function identity(answer: unknown): { id: string | null; model: string | undefined } {
  const { id, model } = toFields(answer);
  return { id: typeof id === 'string' ? id : null, model: typeof model === 'string' ? model : undefined };
}

/** An error event in the middle of a stream, in any dialect's form. */
function streamError(event: unknown): GatewayError | undefined {
  const failed = toFields(toFields(event).response).error;
  const error = toFields(toFields(event).error ?? failed ?? undefined);
  if (typeof error.message !== 'string') return undefined;
  const reason = typeof error.reason === 'string' ? error.reason : undefined;
  // Only the gateway's own error events have a reason; its permission errors are the policies' refusals.
  const code = reason !== undefined && error.type === 'permission_error' ? 'policy.blocked' : undefined;
  return new GatewayError(
    code ?? 'provider.broken_response',
    error.message,
    reason === undefined ? {} : { reason },
  );
}

async function answeredError(response: IncomingMessage): Promise<GatewayError> {
  const status = response.statusCode ?? 0;
  const body = await text(response).catch(() => '');
  const error = toFields(toFields(parsed(body)).error);
  const isOurs = header(response, 'x-gateway-error') === 'true';
  const said = typeof error.message === 'string' ? error.message : `status ${status}`;
  const message = isOurs ? said : `the provider answered ${status}: ${said}`;
  const reason = typeof error.reason === 'string' ? { reason: error.reason } : {};
  const param = typeof error.param === 'string' ? { param: error.param } : {};
  return new GatewayError(codeFor(status, isOurs), message, { ...reason, ...param });
}

/** The row of the table whose exit code tells a script what happened. */
function codeFor(status: number, isOurs: boolean): FailureCode {
  if (status === 429) return 'limit.requests';
  if (!isOurs) return 'provider.broken_response';
  if (status === 401) return 'key.invalid';
  if (status === 403) return 'policy.blocked';
  if (status === 404) return 'model.unknown';
  return status >= 500 ? 'provider.unavailable' : 'request.field';
}

function unreachable(url: string, cause: Error): GatewayError {
  const message = `no gateway answers at ${url}; start one with "gateway serve", or set GATEWAY_URL`;
  return new GatewayError('gateway.unreachable', message, { cause });
}

function decisionOf(response: IncomingMessage): string {
  if (header(response, 'x-gateway-body') === 'redacted') return 'redact';
  return header(response, 'x-gateway-warning') === undefined ? 'allow' : 'warn';
}

function header(response: IncomingMessage, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

async function text(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (cause) {
    throw brokenOff(cause);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // not JSON: the status has to say it
  }
}
