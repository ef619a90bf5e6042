import { GatewayError } from '../../errors.ts';
import { checkOrigin } from '../../http/check-origin.ts';
import type { HttpRequest } from '../../http/request.ts';
import { pageKeyHeader, pageSignatureHeader } from '../contract/session.ts';
import type { SessionProof, Sessions } from './sessions.ts';

const noOrigins: ReadonlySet<string> = new Set();

/** Refuses a foreign Host (DNS rebinding) and every Origin but the page's own, even those that may call the gateway. */
export function checkHost(request: HttpRequest, allowedHosts: ReadonlySet<string>): void {
  checkOrigin(request, { allowedHosts, allowedOrigins: noOrigins });
}

/** Refuses requests that a page of another site or another port made the browser send. */
export function checkSameOrigin(request: HttpRequest): void {
  const site = request.header('sec-fetch-site');
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  throw new GatewayError('origin.not_allowed', 'only the page itself may ask for this');
}

/** Throws session.required. */
export function requireSession(request: HttpRequest, sessions: Sessions): void {
  if (sessions.isValid(proofOf(request))) return;
  throw new GatewayError('session.required', 'open the page by the link that "gateway open" prints');
}

/** What a call has to prove its session. */
export function proofOf(request: HttpRequest): SessionProof {
  const { method, target } = request;
  const [key, signature] = [request.header(pageKeyHeader), request.header(pageSignatureHeader)];
  return { method, target, cookie: request.header('cookie'), key, signature };
}
