/** The header with the page's half of a session; the other half is an HttpOnly cookie. */
export const tokenHeader = 'x-inspector-token';

/** `POST /_/api/session`: one of the two. */
export type SessionRequest = { readonly token: string } | { readonly password: string };

export interface SessionAnswer {
  /** Goes into the `x-inspector-token` of every other call. */
  readonly token: string;
}

/** `GET /_/api/access`, the one call that needs no session: how the page can be opened. */
export interface AccessAnswer {
  /** True if `inspector.password_file` is set, so that the page can show a password form. */
  readonly password: boolean;
}

/** What the page reads of an error, which has the gateway's own shape. */
export interface ErrorAnswer {
  readonly error: { readonly reason: string; readonly message: string };
}
