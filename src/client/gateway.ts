import type { IncomingMessage } from 'node:http';
import { isFields, parseJson, toFields } from '../dialects/fields.ts';
import { SseParser } from '../dialects/sse.ts';
import { toUsageFields, type Usage, type UsageFields } from '../dialects/usage.ts';
import { GatewayError } from '../errors.ts';
import { brokenOff, call, errorDetails, type GatewayAddress, header, requestIdOf, text } from './call.ts';
import type { Prompt, PromptDialect } from './conversation.ts';
import { phrasings } from './prompt.ts';
import { requestBody } from './request-body.ts';

/** The result of a one-off prompt, with the names that scripts see. */
export interface PromptResult {
  readonly id: string | null;
  readonly model: string;
  readonly text: string;
  readonly finish_reason: string | null;
  readonly usage: UsageFields | null;
  readonly latency_ms: number;
  /** The policies' decision: allow, warn or redact. */
  readonly decision: string;
  readonly request_id: string | null;
}

/** The reply, and the gateway's metadata about it. */
export interface GatewayAnswer {
  readonly reply: PromptResult;
  /** Ids of the rules that only warned. */
  readonly warnings: readonly string[];
}

/**
 * Sends a prompt; `onText` gets the pieces as they arrive. Throws the error of the gateway or the provider,
 * gateway.unreachable if no gateway answers, and the signal's reason.
 */
export async function sendPrompt(
  address: GatewayAddress,
  prompt: Prompt & { readonly dialect: PromptDialect; readonly signal: AbortSignal },
  onText: (text: string) => void,
): Promise<GatewayAnswer> {
  const startedMs = Date.now();
  const { dialect, signal } = prompt;
  const body = requestBody(dialect, prompt);
  const response = await call(address, {
    method: 'POST',
    path: phrasings[dialect].path(prompt),
    body,
    signal,
  });
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
  const reply = isStream
    ? await readStream(response, dialect, onText).catch(rethrow(signal))
    : await readReply(response, dialect, onText).catch(rethrow(signal));
  return {
    reply: {
      id: reply.id,
      model: reply.model ?? prompt.model,
      text: reply.text,
      finish_reason: reply.finishReason ?? null,
      usage: reply.usage === undefined ? null : toUsageFields(reply.usage),
      latency_ms: Date.now() - startedMs,
      decision: decisionOf(response),
      request_id: header(response, 'x-request-id') ?? null,
    },
    warnings: header(response, 'x-gateway-warning')?.split(/\s*,\s*/) ?? [],
  };
}

/** GETs a JSON document of the gateway. Throws as `sendPrompt` does. */
export async function getJson(address: GatewayAddress, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await call(address, { method: 'GET', path, signal });
  const document = parseJson(await text(response).catch(rethrow(signal)));
  if (document === undefined) throw unreadable();
  return document;
}

/** The models that the key may use, as GET /v1/gateway/models describes them. Throws as `sendPrompt` does. */
export async function listModels(
  address: GatewayAddress,
  signal: AbortSignal,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await readModels(address, signal)).models;
}

/** The same, with the model that the gateway names for clients that name none. */
export async function readModels(
  address: GatewayAddress,
  signal: AbortSignal,
): Promise<{
  readonly models: readonly Readonly<Record<string, unknown>>[];
  readonly defaultModel: string | undefined;
}> {
  const { data, default_model: named } = toFields(await getJson(address, '/v1/gateway/models', signal));
  const models = Array.isArray(data) ? data.map(toFields) : [];
  return { models, defaultModel: typeof named === 'string' ? named : undefined };
}

/** What ended the answer: the caller's signal, otherwise the connection's own failure. */
function rethrow(signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    throw signal.aborted ? signal.reason : error;
  };
}

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
  const answer = parseJson(await text(response));
  if (!isFields(answer)) throw unreadable();
  const phrasing = phrasings[dialect];
  const reply = phrasing.answerText(answer);
  onText(reply);
  return {
    ...identity(answer),
    text: reply,
    finishReason: phrasing.finishReason(answer),
    usage: phrasing.usage(answer),
  };
}

async function readStream(
  response: IncomingMessage,
  dialect: PromptDialect,
  onText: (text: string) => void,
): Promise<Gathered> {
  const gathered: Gathered = { id: null, text: '' };
  let hasEvents = false;
  let failure: GatewayError | undefined;
  let isBroken = false;
  const parser = new SseParser((name, data) => {
    if (data === '[DONE]') return;
    const event = parseJson(data);
    failure ??= streamError(event, requestIdOf(response));
    // Google writes an error into a stream as a bare object.
    if (name === '') return;
    // Half an event, if the provider broke off; the error event that reports it follows.
    isBroken ||= event === undefined;
    hasEvents = true;
    addEvent(gathered, dialect, event, onText);
  });
  try {
    await eachChunk(response, (chunk) => parser.push(chunk)).finally(() => parser.end());
  } catch (cause) {
    throw failure ?? (cause instanceof GatewayError ? cause : brokenOff(cause));
  }
  if (failure !== undefined) throw failure;
  if (isBroken) throw brokenOff();
  if (!hasEvents) throw unreadable();
  return gathered;
}

function unreadable(): GatewayError {
  return new GatewayError(
    'provider.broken_response',
    'the answer is not in the format of any dialect, so it cannot be read',
  );
}

/**
 * Not `for await`: when the connection breaks, that loses what has arrived but was not read yet, which may be the whole
 * answer and the event that explains why it ended.
 */
function eachChunk(response: IncomingMessage, onChunk: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      try {
        onChunk(chunk);
      } catch (error) {
        reject(error);
        response.destroy();
      }
    };
    response.on('data', read).on('end', resolve).on('error', reject);
  });
}

function addEvent(
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
  gathered.usage = phrasing.usage(event, gathered.usage);
  const { id, model } = identity(toFields(event).message ?? toFields(event).response ?? event);
  gathered.id ??= id;
  gathered.model ??= model;
}

function identity(answer: unknown): { id: string | null; model: string | undefined } {
  const { id, model, responseId = id, modelVersion = model } = toFields(answer);
  return {
    id: typeof responseId === 'string' ? responseId : null,
    model: typeof modelVersion === 'string' ? modelVersion : undefined,
  };
}

/** An error event in the middle of a stream, in any dialect's form. */
function streamError(event: unknown, requestId: string | undefined): GatewayError | undefined {
  const failed = toFields(toFields(event).response).error;
  const error = toFields(toFields(event).error ?? failed ?? undefined);
  if (typeof error.message !== 'string') return undefined;
  const { reason } = errorDetails(error);
  // Only the gateway's own error events have a reason; its permission errors are refusals by a policy.
  const isRefusal = error.type === 'permission_error' || error.status === 'PERMISSION_DENIED';
  return new GatewayError(
    reason !== undefined && isRefusal ? 'policy.blocked' : 'provider.broken_response',
    error.message,
    { requestId, ...(reason === undefined ? {} : { reason }) },
  );
}

function decisionOf(response: IncomingMessage): string {
  const body = header(response, 'x-gateway-body');
  if (body === 'redacted') return 'redact';
  if (body === 'masked') return 'mask';
  return header(response, 'x-gateway-warning') === undefined ? 'allow' : 'warn';
}
