import type { Failure, GatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';

type Form = Pick<Failure, 'status' | 'type'>;

interface Agent {
  readonly header: 'originator' | 'user-agent';
  readonly value: RegExp;
  /** The status and type with which the agent shows the message and doesn't repeat the request. */
  form(failure: Failure): Partial<Form> | undefined;
}

// Found by trying the real agents; docs/agents.md lists what each of them shows.
const agents: readonly Agent[] = [
  {
    // It treats every 403 as a failed login, and prints that before the message. After 400 and 422 it repeats the request
    // up to five times, each time without another of its features.
    header: 'user-agent',
    value: /^claude-cli\//,
    form: (failure) => (failure.status === 403 || isBroken(failure) ? { status: 451 } : undefined),
  },
  {
    // It repeats every other refusal five times, and hides the message of a 429.
    header: 'originator',
    value: /^codex/,
    form: ({ retry }) => (retry ? undefined : { status: 400 }),
  },
  {
    // It retries a rate limit (by status or type) without end, and shows nothing meanwhile.
    header: 'user-agent',
    value: /^opencode\//,
    form: (failure) =>
      (failure.status === 429 && !failure.retry) || isBroken(failure)
        ? { status: 400, type: 'invalid_request_error' }
        : undefined,
  },
];

/** A fault of the server's side that stays: every agent retries its usual status, some for minutes without a word. */
function isBroken({ status, retry }: Failure): boolean {
  return status >= 500 && !retry;
}

/**
 * The status and type of a refusal, adapted to the client. Everything else stays the same, so `error.reason` still says
 * what it was; clients that are not in the table get the failure's own.
 */
export function refusalForm({ failure }: GatewayError, request: HttpRequest): Form {
  const agent = agents.find(({ header, value }) => value.test(request.header(header) ?? ''));
  return { status: failure.status, type: failure.type, ...agent?.form(failure) };
}
