import type { HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { Answer } from './answer.ts';

/** One request to an operation. */
export interface Call {
  readonly request: HttpRequest;
  /** Only for reading the body (100-continue); the router answers. */
  readonly response: HttpResponse;
  /** The query string, undecoded, without its question mark. */
  readonly query: string;
  /** The variable part of the path, undecoded; empty if the path has none. */
  readonly parameter: string;
}

/** One operation of the OpenAPI document. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** At most one variable part, the last: `/v3/plant/{plantId}`. */
  readonly path: string;
  readonly handle: (call: Call) => Answer | Promise<Answer>;
}
