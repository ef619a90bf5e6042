/** The header with the page's half of a session; the other half is an HttpOnly cookie. */
export const pageKeyHeader = 'x-inspector-key';
/** In its place, the HMAC-SHA256 of `signedText` by the key, in hexadecimal digits. */
export const pageSignatureHeader = 'x-inspector-signature';

/**
 * What a page signs to prove that it has the key without sending it: whoever gets the port of a gateway that has
 * stopped gets the next calls of an open page too, and with a key could go on when the gateway is back.
 */
export function signedText({ nonce, method, target }: SignedCall): string {
  return `${nonce} ${method} ${target}`;
}

export interface SignedCall {
  /** Of `AccessAnswer`. */
  readonly nonce: string;
  readonly method: string;
  /** Path and query as they are sent. */
  readonly target: string;
}

/** `POST /_/api/session`: one of the two. */
export type SessionRequest = { readonly token: string } | { readonly password: string };

export interface SessionAnswer {
  /** Signs every other call, or goes into its `x-inspector-key`. */
  readonly key: string;
  readonly expires: string;
}

/** `GET /_/api/access`, the one call that needs no session: how the page can be opened. */
export interface AccessAnswer {
  /** True if `inspector.password_file` is set, so that the page can show a password form. */
  readonly password: boolean;
  /** The command that prints a one-time link. */
  readonly command: string;
  /** Different after every start of the gateway. */
  readonly nonce: string;
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
