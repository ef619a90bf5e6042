import type { Duplex } from 'node:stream';
import { toStoreError } from '../../database/failures.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { checkOrigin, hostsAt } from '../../http/check-origin.ts';
import { type AcceptedSockets, defaultListenLimits, type Listener, listen } from '../../http/listen.ts';
import { type HttpRequest, newRequestId } from '../../http/request.ts';
import { refuseUpgrade, sendError } from '../../http/respond.ts';
import type { HttpResponse } from '../../http/response.ts';
import { messageOfError } from '../../lib/message-of.ts';
import type { UserSessions } from '../accounts/sessions.ts';
import { eventsPath } from '../contract/asyncapi.ts';
import type { Watchers } from '../events/watchers.ts';
import { requireSession } from './identity.ts';
import { type Operation, privacyHeaders, sendPlantResponse } from './operation.ts';

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly accepted?: AcceptedSockets | undefined;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly log: (record: object) => void;
  readonly operations: readonly Operation[];
  readonly sessions: UserSessions;
  readonly watchers: Watchers;
  readonly isFeedLive: () => boolean;
}

/** Serves the operations over HTTP and the events over WebSocket, all under the same checks. */
export async function servePlants(options: ServeOptions): Promise<Listener> {
  const { log, sessions, watchers } = options;
  const route = createRouter(options.operations);
  const allowed = {
    ...hostsAt(options.host, new Set(options.allowedHosts)),
    allowedOrigins: new Set(options.allowedOrigins),
  };

  const handle = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const requestId = newRequestId();
    const startedAt = performance.now();
    let operation: string | undefined;
    let failure: GatewayError | undefined;
    response.onClose(() => {
      // The operation's name instead of the URL: URLs of logins contain passwords.
      log({
        event: 'plants.request',
        request_id: requestId,
        method: request.method,
        operation,
        status: response.isFinished ? response.status : 499,
        duration_ms: Math.round((performance.now() - startedAt) * 100) / 100,
        ...(failure === undefined ? {} : { reason: failure.reason }),
        // A client's mistake is not logged: the parser's message quotes its body.
        ...(failure !== undefined && failure.failure.status >= 500 ? { cause: causeText(failure) } : {}),
      });
    });
    try {
      checkOrigin(request, allowed);
      const [path, query] = splitAddress(request.target);
      const found = route(request.method, path);
      operation = found.operation.id;
      const call = { request, response, query, parameter: found.parameter };
      const answer = await found.operation.handle(call);
      sendPlantResponse(response, answer, requestId);
    } catch (error) {
      failure = toGatewayError(toStoreError(error));
      if (response.headersSent || response.isClosed) return;
      sendError(response, failure, requestId, { headers: privacyHeaders });
    }
  };

  const requireEvents = () => {
    if (options.isFeedLive() && !listener.isDraining) return;
    throw new GatewayError('store.database', 'events are not available now; try again soon', {
      retryAfterS: 1,
    });
  };

  const upgrade = async (request: HttpRequest, socket: Duplex, head: Buffer): Promise<void> => {
    socket.on('error', () => undefined); // the client left; no answer is possible
    try {
      checkOrigin(request, allowed);
      refuseOtherUpgrades(request);
      requireEvents();
      const session = await requireSession(request, sessions);
      requireEvents(); // watchers may have been disconnected meanwhile
      watchers.accept(request, socket, head, session.tokenHash);
      log({ event: 'plants.watch' });
    } catch (error) {
      const failure = toGatewayError(toStoreError(error));
      refuseUpgrade(socket, failure);
      log({ event: 'plants.watch_refused', reason: failure.reason });
    }
  };

  const listener = await listen({
    host: options.host,
    port: options.port,
    accepted: options.accepted,
    limits: defaultListenLimits,
    // Both answer every failure themselves.
    onRequest: (request, response) => void handle(request, response),
    onUpgrade: (request, socket, head) => void upgrade(request, socket, head),
  });
  return listener;
}

function splitAddress(url: string): readonly [path: string, query: string] {
  const at = url.indexOf('?');
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

function refuseOtherUpgrades(request: HttpRequest): void {
  const [path] = splitAddress(request.target);
  if (path !== eventsPath) {
    throw new GatewayError('endpoint.unknown', `only ${eventsPath} accepts an Upgrade`);
  }
  if (request.header('upgrade')?.toLowerCase() !== 'websocket') {
    throw new GatewayError('request.unsupported', 'the Upgrade must be to websocket');
  }
}

/** What was behind a failure, or its own message; of an unexpected one, the stack too. */
function causeText(thrown: GatewayError): string {
  const cause = thrown.cause ?? thrown;
  const stack = cause instanceof Error && thrown.failure.status === 500 ? cause.stack : undefined;
  return stack ?? messageOfError(cause);
}

interface OperationRoute {
  readonly operation: Operation;
  readonly parameter: string;
}

type Methods = ReadonlyMap<string, Operation>;

/** Finds the operation of a method and path. Throws endpoint.unknown, and method.not_allowed with the allowed methods. */
function createRouter(operations: readonly Operation[]): (method: string, path: string) => OperationRoute {
  const byPath = new Map<string, Map<string, Operation>>();
  for (const operation of operations) {
    const path = operation.path.replace(/\{.*/, '{}');
    const methods = byPath.get(path) ?? new Map<string, Operation>();
    byPath.set(path, methods.set(operation.method, operation));
  }
  return (method, path) => {
    const cut = path.lastIndexOf('/') + 1;
    const variable = cut < path.length ? byPath.get(`${path.slice(0, cut)}{}`) : undefined;
    const methods = byPath.get(path) ?? variable;
    if (methods === undefined) {
      throw new GatewayError(
        'endpoint.unknown',
        'there is nothing at this address; /v3/docs lists what there is',
      );
    }
    return { operation: choose(methods, method), parameter: path.slice(cut) };
  };
}

function choose(methods: Methods, method: string): Operation {
  const operation = methods.get(method === 'HEAD' ? 'GET' : method);
  if (operation !== undefined && !(method === 'HEAD' && operation.path.includes('/auth/'))) return operation;
  const allow = [...methods.keys()].join(', ');
  throw new GatewayError('method.not_allowed', `this address accepts ${allow}`, { headers: { allow } });
}
