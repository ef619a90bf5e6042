import type { ResponseCheck } from '../../policy/answers/check-answer.ts';
import type { Decision } from '../../policy/rule.ts';
import type { GatewayKey } from '../authenticate.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import type { ModelRequest } from '../request.ts';
import type { RequestFacts } from './decide-request.ts';

/** A request that no policy refuses. */
export interface DecidedRequest {
  /** The request as it may leave. */
  readonly request: ModelRequest;
  readonly endpoint: ModelEndpoint;
  readonly key: GatewayKey;
  readonly decision: Decision;
  readonly facts: RequestFacts;
  /** The rules on the answer; undefined if there are none. */
  readonly check: ResponseCheck | undefined;
}
