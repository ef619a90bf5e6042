/** The header with the page's half of a session; the other half is an HttpOnly cookie. */
export const pageKeyHeader = 'x-inspector-key';

/** `POST /_/api/session`: one of the two. */
export type SessionRequest = { readonly token: string } | { readonly password: string };

export interface SessionAnswer {
  /** Goes into `x-inspector-key` of every other call. Keep it in localStorage, which is not shared between ports. */
  readonly key: string;
  readonly expires: string;
}

/** `GET /_/api/access`, the one call that needs no session: how the page can be opened. */
export interface AccessAnswer {
  /** True if `inspector.password_file` is set, so that the page can show a password form. */
  readonly password: boolean;
  /** The command that prints a one-time link. */
  readonly command: string;
}

/** Every error: the gateway's own shape. */
export interface ErrorAnswer {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly param: string | null;
  };
  readonly request_id: string;
}
