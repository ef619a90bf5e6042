import type { GatewayError } from '../errors.ts';
import type { HttpRequest } from '../http/request.ts';

interface Agent {
  readonly header: 'originator' | 'user-agent';
  readonly value: RegExp;
  /** The status by which the agent shows the message and doesn't repeat the request; undefined: the table's own. */
  status(error: GatewayError): number | undefined;
}

// As tried with the real agents; docs/agents.md has what each of them shows.
const agents: readonly Agent[] = [
  {
    // It takes every 403 for a failed login, and prints that in front of the message.
    header: 'user-agent',
    value: /^claude-cli\//,
    status: ({ failure }) => (failure.status === 403 ? 422 : undefined),
  },
  {
    // It repeats every other refusal five times, and hides the message of a 429.
    header: 'originator',
    value: /^codex/,
    status: ({ failure }) => (failure.status < 500 && !failure.retry ? 400 : undefined),
  },
  {
    // It repeats a 429 for ever longer, whether or not that can help, and shows nothing meanwhile.
    header: 'user-agent',
    value: /^opencode\//,
    status: ({ failure }) => (failure.status === 429 && !failure.retry ? 400 : undefined),
  },
];

/**
 * The status of a refusal as the client asking understands it. Body and headers stay the same, so that
 * `error.reason` says what it was; clients that are not in the table get the status of the failure.
 */
export function refusalStatus(error: GatewayError, request: HttpRequest): number {
  const agent = agents.find(({ header, value }) => value.test(request.header(header) ?? ''));
  return agent?.status(error) ?? error.failure.status;
}
