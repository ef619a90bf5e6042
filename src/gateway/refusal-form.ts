import type { Failure, GatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';

type Form = Pick<Failure, 'status' | 'type'>;

interface Agent {
  readonly header: 'originator' | 'user-agent';
  readonly value: RegExp;
  /** How the agent shows the message and doesn't repeat the request, where the failure's own form fails at that. */
  form(failure: Failure): Partial<Form> | undefined;
}

// As tried with the real agents; docs/agents.md has what each of them shows.
const agents: readonly Agent[] = [
  {
    // It takes every 403 for a failed login, and prints that in front of the message.
    header: 'user-agent',
    value: /^claude-cli\//,
    form: ({ status }) => (status === 403 ? { status: 422 } : undefined),
  },
  {
    // It repeats every other refusal five times, and hides the message of a 429.
    header: 'originator',
    value: /^codex/,
    form: ({ status, retry }) => (status < 500 && !retry ? { status: 400 } : undefined),
  },
  {
    // It repeats a rate limit without end, by its status or its type, and shows nothing meanwhile.
    header: 'user-agent',
    value: /^opencode\//,
    form: ({ status, retry }) =>
      status === 429 && !retry ? { status: 400, type: 'invalid_request_error' } : undefined,
  },
];

/**
 * Status and type of a refusal as the client asking understands it. Everything else stays the same, so that
 * `error.reason` says what it was; clients that are not in the table get what the failure has.
 */
export function refusalForm({ failure }: GatewayError, request: HttpRequest): Form {
  const agent = agents.find(({ header, value }) => value.test(request.header(header) ?? ''));
  return { status: failure.status, type: failure.type, ...agent?.form(failure) };
}
