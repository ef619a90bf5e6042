import type { ProviderFailure } from '../dialects/conversation.ts';
import { type Dialect, isEmbedding, isText } from '../dialects/dialect.ts';
import { parseFailure } from '../dialects/failure.ts';
import { type Fields, parseFields, parseText, toFields } from '../dialects/fields.ts';
import { geminiModels } from '../dialects/gemini/wire.ts';
import { createPathFinder } from '../dialects/model-path.ts';
import { dialects } from '../dialects/registry.ts';
import { GatewayError } from '../errors.ts';
import { type BodyLimits, readBody } from '../http/body.ts';
import { defaultListenLimits, listen } from '../http/listen.ts';
import { type HttpRequest, newRequestId } from '../http/request.ts';
import type { HttpResponse } from '../http/response.ts';
import { answerEmbeddings } from './answer-embeddings.ts';
import { answerText, countRequest } from './answer-text.ts';
import { askedStatus, modelEntry, modelList } from './models.ts';
import { asArray, type SandboxAnswer, sendReply, sendSandboxJson } from './send.ts';

/** Made-up rate limits, and what every answer says is left of them. */
const rateLimits = [
  { unit: 'requests', max: 10_000, remaining: 9_999 },
  { unit: 'tokens', max: 2_000_000, remaining: 1_999_000 },
] as const;

/** Headers of every answer, a flat list: its id and the limits, as the dialect's SDKs read them. */
function headersOf(dialect: Dialect, requestId: string): readonly string[] {
  const now = { resetMs: 1_000, nowMs: Date.now() };
  return [
    dialect === dialects.messages ? 'request-id' : 'x-request-id',
    requestId,
    ...rateLimits.flatMap((limit) => dialect.limitHeaders({ ...limit, ...now })),
  ];
}

const findMethod = createPathFinder(
  Object.values<Dialect>(dialects).flatMap((dialect) =>
    dialect.methods.map((method) => ({ ...method, dialect })),
  ),
);
const bodyLimits: BodyLimits = { bodyBytes: 64 * 1024 * 1024, bodyIdleMs: 30_000, bodyTotalMs: 300_000 };
// Higher than the gateway's own limits, because the gateway adds headers; nothing is drained.
const listenLimits = { ...defaultListenLimits, headBytes: 64 * 1024, drainMs: 0 };

/**
 * Starts a model host on loopback that speaks all dialects, needs no key and no network, and returns the same bytes for
 * the same request. Only headers (request id, rate limits) differ.
 */
export async function startSandbox(options: { readonly port?: number } = {}) {
  const open = new Set<AbortController>();
  const listener = await listen({
    host: '127.0.0.1',
    port: options.port ?? 0,
    limits: listenLimits,
    // Never rejects: every failure is answered or ends the connection.
    onRequest: (request, response) => void serve(request, response, open),
  });
  return {
    url: listener.url,
    /** Stops listening and closes what is still open. */
    close: async () => {
      for (const exchange of open) exchange.abort();
      await listener.drain();
    },
  };
}

async function serve(
  request: HttpRequest,
  response: HttpResponse,
  open: Set<AbortController>,
): Promise<void> {
  const [path = '', query = ''] = request.target.split('?', 2);
  const dialect = findMethod(path)?.item.dialect ?? dialects.chat;
  const requestId = newRequestId();
  const headers = headersOf(dialect, requestId);
  const ended = new AbortController();
  open.add(ended);
  response.onClose(() => ended.abort());
  try {
    const reply = await answer(request, response, { path, query });
    await sendReply(response, reply, { headers, signal: ended.signal });
  } catch (thrown) {
    if (ended.signal.aborted || response.headersSent) return response.breakOff(Buffer.alloc(0));
    const failure = sandboxFailure(thrown);
    // The statuses with which a real host asks the client to retry.
    const retry = [429, 503, 529].includes(failure.status) ? ['retry-after', '1'] : [];
    const { status } = failure;
    sendSandboxJson(response, {
      status,
      value: errorBody(dialect, failure),
      headers: [...headers, ...retry],
    });
  } finally {
    open.delete(ended);
  }
}

async function answer(
  request: HttpRequest,
  response: HttpResponse,
  { path, query }: { readonly path: string; readonly query: string },
): Promise<SandboxAnswer> {
  const found = findMethod(path);
  const listed = found === undefined ? /^(\/v1(?:beta)?)\/models(?:\/(.+))?$/.exec(path) : null;
  if (listed !== null) {
    checkMethod(request, 'GET');
    const [, version, id] = listed;
    const isGemini = version === '/v1beta' || request.header(geminiModels.header) !== undefined;
    const form = isGemini ? geminiModels : undefined;
    return { kind: 'value', value: id === undefined ? modelList(form) : modelEntry(id, form) };
  }
  if (found === undefined) throw new GatewayError('endpoint.unknown', 'there is no such endpoint');
  const { dialect, stream, countAnswer, query: eventsQuery, isUntranslatable } = found.item;
  checkMethod(request, 'POST');
  if (isUntranslatable)
    throw new GatewayError('endpoint.unknown', 'the sandbox has no answers for this endpoint');
  const sent = parseBody(await readBody(request, response, bodyLimits));
  const body = found.model === undefined ? sent : { ...sent, stream };
  const model = found.model ?? parseText(body.model, 'model');
  const status = askedStatus(model);
  if (status !== undefined) throw new AskedFailure(status, `${model} always fails with status ${status}`);
  if (isEmbedding(dialect)) return answerEmbeddings(dialect, body, model);
  if (!isText(dialect))
    throw new GatewayError('endpoint.unknown', 'the sandbox has no answers for this endpoint');
  if (countAnswer !== undefined)
    return { kind: 'value', value: countAnswer(countRequest(dialect, body, model)) };
  const reply = answerText(dialect, body, model);
  const wantsArray = eventsQuery !== undefined && new URLSearchParams(query).get('alt') !== 'sse';
  return wantsArray && reply.kind === 'stream' ? asArray(reply) : reply;
}

function checkMethod(request: HttpRequest, method: string): void {
  if (request.method === method) return;
  throw new GatewayError('method.not_allowed', `this endpoint takes ${method} only`);
}

function parseBody(bytes: Buffer): Fields {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    // The parser's own message quotes the body.
    throw new GatewayError('request.invalid_json', 'the body is not valid JSON');
  }
  return parseFields(value, 'the body');
}

/** The failure that the model's name asks for. */
class AskedFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** OpenAI's words, which its SDKs show. */
const codes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};

interface SandboxFailure extends Pick<ProviderFailure, 'message' | 'code' | 'param'> {
  readonly status: number;
  readonly errorCode?: string | undefined;
}

function sandboxFailure(thrown: unknown): SandboxFailure {
  if (thrown instanceof AskedFailure)
    return { status: thrown.status, message: thrown.message, code: codes[thrown.status] };
  if (!(thrown instanceof GatewayError)) return { status: 500, message: 'the sandbox failed' };
  const { failure, message, code, param, errorCode } = thrown;
  return { status: failure.status, message, code: codes[failure.status] ?? code, param, errorCode };
}

function errorBody(dialect: Dialect, { status, message, code, param, errorCode }: SandboxFailure): Fields {
  const { type } = parseFailure({ message }, status);
  // OpenAI has one name for all of the client's mistakes.
  const isOne = dialect.ownHeaders === undefined && status < 500 && status !== 429;
  const failure = { type: isOne ? 'invalid_request_error' : type, message, code, param, status };
  const body = dialect.errorBody(failure);
  if (errorCode === undefined) return body;
  return { ...body, error: { ...toFields(body.error), details: { error_code: errorCode } } };
}
