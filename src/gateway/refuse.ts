import { toFailure } from '../dialects/failure.ts';
import { type Failure, type GatewayError, toGatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';
import { type ClientAnswer, limitHeadersOf } from './answer/client-answer.ts';
import { errorDialect } from './endpoints.ts';
import type { Exchange } from './exchange.ts';
import { type AgentName, agentOf } from './sender.ts';

interface ShownError extends Pick<Failure, 'status' | 'type'> {
  readonly message: string;
}

interface Agent {
  /** The status and type with which the agent shows the message and doesn't repeat the request. */
  form(failure: Failure): Partial<ShownError> | undefined;
  /** How a user takes a turn out of the conversation, which would be refused with every later one too. */
  readonly wayOut: string;
}

// Found by trying the real agents; docs/agents.md and docs/editors.md list what each of them shows.
const agents: Partial<Record<AgentName, Agent>> = {
  claude: {
    // It treats every 403 as a failed login, and prints that before the message. After 400 and 422 it repeats the request
    // up to five times, each time without another of its features; and it repeats one of type overloaded_error with
    // any status.
    form: (failure) => {
      if (isBroken(failure)) return { status: 451, type: 'api_error' };
      return failure.status === 403 ? { status: 451 } : undefined;
    },
    wayOut: '/rewind goes back to before it',
  },
  codex: {
    // It repeats every other refusal five times, and hides the message of a 429.
    form: ({ retry }) => (retry ? undefined : { status: 400 }),
    wayOut: 'Esc twice goes back to before it',
  },
  opencode: {
    // It retries a rate limit (by status or type) without end, and shows nothing meanwhile.
    form: (failure) =>
      (failure.status === 429 && !failure.retry) || isBroken(failure)
        ? { status: 400, type: 'invalid_request_error' }
        : undefined,
    wayOut: '/undo goes back to before it',
  },
  copilot: {
    // Of a 403 it says that the key is wrong, and nothing else.
    form: ({ status }) => (status === 403 ? { status: 451 } : undefined),
    wayOut: '/rewind goes back to before it',
  },
};

/** A fault of the server's side that stays: every agent retries its usual status, some for minutes without a word. */
function isBroken({ status, retry }: Failure): boolean {
  return status >= 500 && !retry;
}

/**
 * The status, type and message of a refusal, adapted to the client. Everything else stays the same, so
 * `error.reason` still says what it was; clients that are not in the table get the failure's own.
 */
export function refusalForm(error: GatewayError, request: HttpRequest): ShownError {
  const { failure, message, code, param = '' } = error;
  const name = agentOf(request);
  const agent = name === undefined ? undefined : agents[name];
  const isInTurn = code === 'policy.blocked' && /^\/(?:messages|input)(?:\/|$)/.test(param);
  const shown =
    name !== undefined && agent !== undefined && isInTurn
      ? `${message} (at ${param}). ${waysOut(name, agent, error)}`
      : message;
  return { status: failure.status, type: failure.type, message: shown, ...agent?.form(failure) };
}

function waysOut(name: string, { wayOut }: Agent, { detectors }: GatewayError): string {
  if (detectors.length === 0) return wayOut;
  return `${wayOut}; "gateway run --mask ${detectors.join(',')} ${name}" sends placeholders`;
}

/**
 * Ends the exchange with the error, which the client gets unless it has disconnected or has got it already: an answer that
 * has begun ends with an error event.
 */
export function refuse(exchange: Exchange, thrown: unknown, answer: ClientAnswer | undefined): void {
  const error = toGatewayError(thrown);
  const { request, response, id } = exchange;
  const isAnswered = !response.headersSent && !response.isClosed;
  exchange.fail(error, isAnswered);
  if (answer?.hasOnlyHead === true) return answer.fail(error);
  if (!isAnswered) return;
  const refusal = refusalForm(error, request);
  // It may name a path or a model that has a key in it.
  const form = { ...refusal, message: exchange.scrubber.text(refusal.message) };
  const body = errorDialect(request.target)?.errorBody({ ...toFailure(error, id), ...form });
  const options = {
    ...form,
    headers: toFields(limitHeadersOf(exchange)),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  exchange.sendError(error, options);
}

/** Turns a flat list of names and values into an object. */
function toFields(list: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) fields[list[i] as string] = list[i + 1] as string;
  return fields;
}
