import type { NowResponse } from './events.ts';
import type { Body, RuleDetail } from './exchange-detail.ts';

/** `POST /_/api/keep-bodies`. `minutes: 0` stops, `forget` drops those that are kept. */
export interface KeepBodiesRequest {
  /** Minutes, 0 to 60; 10 by default. */
  readonly minutes?: number;
  readonly forget?: boolean;
}

export type KeepBodiesResponse = Pick<NowResponse, 'keeps_bodies'>;

/**
 * `POST /_/api/send-again`: `id` names an exchange, whose key and endpoint are used, and whose body unless another is
 * given. The request is handled like any other, policy and limits included.
 */
export interface SendAgainRequest {
  readonly id: string;
  /** Replaces the body's model. */
  readonly model?: string | undefined;
  /** JSON text to send instead of the body that was kept. */
  readonly body?: string | undefined;
}

export interface SendAgainResponse {
  /** Of the new exchange. */
  readonly id: string;
  readonly status: number;
}

/** `GET /_/api/policies`: the starting point of a scratch copy. */
export interface PoliciesResponse {
  /** The `policies:` of the configuration in force as YAML; without comments. */
  readonly text: string;
  readonly keys: readonly { readonly id: string; readonly project: string }[];
  readonly endpoints: readonly string[];
}

/** `POST /_/api/try-policy`: nothing is saved and nothing is sent. At most 1 MiB. */
export interface TryPolicyRequest {
  /** YAML: a map of policies, as under `policies:`. */
  readonly policies: string;
  /** JSON text of the request. */
  readonly body: string;
  /** Guessed from the body by default. */
  readonly endpoint?: string | undefined;
  /** The key it comes with; the first by default. */
  readonly key?: string | undefined;
}

export type TryPolicyResponse =
  | {
      readonly kind: 'decided';
      readonly decision: 'allow' | 'warn' | 'mask' | 'redact' | 'block';
      readonly rule?: string | undefined;
      readonly reason?: string | undefined;
      readonly message?: string | undefined;
      readonly at?: string | undefined;
      /** In order; `source.line` is a line of the scratch text. */
      readonly rules: readonly RuleDetail[];
      /** As in an exchange's detail. */
      readonly examples: readonly string[];
      readonly microseconds: number;
      /** The request as it would leave, where a rule redacts. */
      readonly redacted?: Body | undefined;
      /** The request, with marks where rules match. */
      readonly request: Body;
    }
  /** The rules are wrong. */
  | {
      readonly kind: 'invalid';
      /** Lines and columns of the scratch text count from 1. */
      readonly problems: readonly {
        readonly line: number;
        readonly column: number;
        readonly message: string;
      }[];
    };

/** The header with the page's half of a session; the other half is an HttpOnly cookie. */
export const tokenHeader = 'x-inspector-token';

/** `POST /_/api/session`: one of the two. */
export type SessionRequest = { readonly token: string } | { readonly password: string };

export interface SessionResponse {
  /** Goes into the `x-inspector-token` of every other call. */
  readonly token: string;
}

/** `GET /_/api/access`, the one call that needs no session: how the page can be opened. */
export interface AccessResponse {
  /** True if `inspector.password_file` is set, so that the page can show a password form. */
  readonly password: boolean;
}

/** What the page reads of an error, which has the gateway's own shape. */
export interface ErrorResponse {
  readonly error: { readonly reason: string; readonly message: string };
}
