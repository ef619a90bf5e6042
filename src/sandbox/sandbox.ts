import { GatewayError } from '../errors.ts';
import { type BodyLimits, readBody } from '../http/body.ts';
import { defaultListenLimits, listen } from '../http/listen.ts';
import type { HttpRequest } from '../http/request.ts';
import { newRequestId } from '../http/respond.ts';
import type { HttpResponse } from '../http/response.ts';
import { answerChat } from './chat/chat.ts';
import { answerEmbeddings } from './embeddings/embeddings.ts';
import { type Exchange, idMaker } from './exchange.ts';
import { messagesFailure, openaiFailure } from './failure-body.ts';
import { nonEmptyText, object, required } from './fields.ts';
import { messagesHeaders, openaiHeaders } from './headers.ts';
import { answerCountTokens, answerMessages } from './messages/messages.ts';
import { modelEntry, modelList } from './model-list.ts';
import { failIfAsked } from './models.ts';
import { Refusal } from './refusal.ts';
import type { Reply } from './reply.ts';
import { answerResponses } from './responses/responses.ts';
import { sendReply, sendValue } from './send.ts';

export { sandboxModels } from './models.ts';

interface Sandbox {
  readonly url: string;
  /** Stops listening and closes what is still open. */
  close(): Promise<void>;
}

type Family = 'messages' | 'openai';

interface Endpoint {
  readonly family: Family;
  readonly answer: (exchange: Exchange) => Reply;
}

const endpoints: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ['/v1/messages', { family: 'messages', answer: answerMessages }],
  ['/v1/messages/count_tokens', { family: 'messages', answer: answerCountTokens }],
  ['/v1/chat/completions', { family: 'openai', answer: answerChat }],
  ['/v1/responses', { family: 'openai', answer: answerResponses }],
  ['/v1/embeddings', { family: 'openai', answer: answerEmbeddings }],
]);

const modelsPath = '/v1/models';
const bodyLimits: BodyLimits = { bodyBytes: 64 * 1024 * 1024, bodyIdleMs: 30_000, bodyTotalMs: 300_000 };
// Higher than the gateway's own limits, because the gateway adds headers; nothing is drained.
const listenLimits = { ...defaultListenLimits, headBytes: 64 * 1024, drainMs: 0 };

/**
 * Starts a model host on loopback that speaks all four dialects, needs no key and no network, and
 * returns the same bytes for the same request. Only headers (request id, rate limits) differ.
 */
export async function startSandbox(options: { readonly port?: number } = {}): Promise<Sandbox> {
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
  const path = request.target.split('?', 1)[0] ?? '';
  const family = path.startsWith('/v1/messages') ? 'messages' : 'openai';
  const requestId = newRequestId();
  const headers = family === 'messages' ? messagesHeaders(requestId) : openaiHeaders(requestId);
  const ended = new AbortController();
  open.add(ended);
  response.onClose(() => ended.abort());
  try {
    const reply = await answer(request, response, path);
    await sendReply(response, reply, { headers, signal: ended.signal });
  } catch (thrown) {
    if (ended.signal.aborted || response.headersSent) return response.breakOff(Buffer.alloc(0));
    const refusal = toRefusal(thrown);
    const failure = family === 'messages' ? messagesFailure(refusal, requestId) : openaiFailure(refusal);
    sendValue(response, failure.status, failure.body, { ...headers, ...failure.headers });
  } finally {
    open.delete(ended);
  }
}

async function answer(request: HttpRequest, response: HttpResponse, path: string): Promise<Reply> {
  if (path === modelsPath || path.startsWith(`${modelsPath}/`)) return answerModels(request, path);
  const endpoint = endpoints.get(path);
  if (endpoint === undefined) throw new Refusal(404, 'there is no such endpoint', { code: 'unknown_url' });
  checkMethod(request, 'POST');
  const bytes = await readBody(request, response, bodyLimits);
  const body = object(parseJson(bytes), []);
  const model = required(body, 'model', nonEmptyText);
  failIfAsked(model);
  return endpoint.answer({ body, model, headers: request.headers, makeId: idMaker(body) });
}

function answerModels(request: HttpRequest, path: string): Reply {
  checkMethod(request, 'GET');
  if (path === modelsPath) return { kind: 'value', value: modelList() };
  return { kind: 'value', value: modelEntry(path.slice(modelsPath.length + 1)) };
}

function checkMethod(request: HttpRequest, method: string): void {
  if (request.method === method) return;
  throw new Refusal(405, `this endpoint takes ${method} only`, { code: 'method_not_allowed' });
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    // The parser's own message quotes the body.
    throw new Refusal(400, 'the body is not valid JSON', { code: 'invalid_json' });
  }
}

function toRefusal(thrown: unknown): Refusal {
  if (thrown instanceof Refusal) return thrown;
  if (thrown instanceof GatewayError) return new Refusal(thrown.failure.status, thrown.message);
  return new Refusal(500, 'the sandbox failed');
}
