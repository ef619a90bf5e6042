import { GatewayError } from '../../errors.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { UserSession, UserSessions } from '../accounts/sessions.ts';

interface Presented {
  readonly token: string;
  readonly isCookie: boolean;
}

/** The session of a request. Throws login.required without a valid one. */
export async function requireSession(request: HttpRequest, sessions: UserSessions): Promise<UserSession> {
  const presented = presentedToken(request);
  if (presented === undefined) {
    throw new GatewayError('login.required', 'this needs a login: send its token as a bearer token');
  }
  const session = await sessions.find(presented.token);
  if (session === undefined) {
    throw new GatewayError('login.required', 'the session is not known or has ended: log in again');
  }
  return session;
}

/** Like requireSession, for changes: a cookie is accepted only from a page of this service, or from no page. */
export async function requireSessionToChange(
  request: HttpRequest,
  sessions: UserSessions,
): Promise<UserSession> {
  if (presentedToken(request)?.isCookie === true) refuseForeignPage(request);
  return requireSession(request, sessions);
}

/** The session of a request that need not have one; a cookie is accepted as for requireSessionToChange. */
export async function findSessionToEnd(
  request: HttpRequest,
  sessions: UserSessions,
): Promise<UserSession | undefined> {
  const presented = presentedToken(request);
  if (presented?.isCookie === true) refuseForeignPage(request);
  return presented === undefined ? undefined : sessions.find(presented.token);
}

/**
 * Throws origin.not_allowed if the browser marks the request as made by another page. Images and links have
 * no Origin, but browsers mark those too (Fetch Metadata).
 */
export function refuseForeignPage(request: HttpRequest): void {
  const host = request.header('host');
  const origin = request.header('origin');
  const site = request.header('sec-fetch-site');
  const isOwn = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new GatewayError('origin.not_allowed', 'only a page of this service may do this with a cookie');
}

function presentedToken(request: HttpRequest): Presented | undefined {
  const authorization = request.header('authorization');
  const cookie = request.header('cookie');
  if (authorization !== undefined) {
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
    if (token === undefined) {
      throw new GatewayError('login.required', 'the Authorization header must be "Bearer" and a token');
    }
    return { token, isCookie: false };
  }
  const token = cookie === undefined ? undefined : sessionCookie(cookie);
  return token === undefined ? undefined : { token, isCookie: true };
}

// Services on other ports of this host share the cookie jar: a cookie of theirs with our name is ignored.
function sessionCookie(header: string): string | undefined {
  return /(?:^|;)\s*session=([A-Za-z0-9_-]{43})\s*(?=;|$)/.exec(header)?.[1];
}
