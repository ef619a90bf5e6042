import { hideTokens, shorten } from '../ring/to-row.ts';
import type { Scrub } from './answer-parts.ts';

const secretName =
  /auth|key|token|secret|cookie|passw|passphrase|credential|jwt|assertion|bearer|session|signature|private|[cx]srf|saml|oidc/i;
/** Their names speak of tokens, and their values are counts. */
const countName = /^(?:x-|anthropic-)?ratelimit-/i;
/** The headers whose values are shown: what every client and server sends, and identifiers of requests. */
const listedName =
  /^(?:accept(?:-(?:charset|encoding|language|ranges))?|access-control-.*|age|allow|alt-svc|anthropic-.*|cache-control|cf-ray|connection|content-(?:disposition|encoding|language|length|range|security-policy|type)|date|etag|expect|host|idempotency-replayed|keep-alive|last-modified|openai-.*|retry-after|sec-(?:ch|fetch)-.*|server(?:-timing)?|strict-transport-security|te|traceparent|trailer|transfer-encoding|user-agent|vary|via|x-content-type-options|x-envoy-.*|x-gateway-.*|(?:x-)?ratelimit-.*|x-should-retry|x-stainless-.*|(?:(?:x-)?(?:amzn?|apim|client|goog|ms|provider)-)?(?:x-)?(?:correlation|request|span|trace)-?id)$/i;

/**
 * A header's value as it may be shown: of a secret only its beginning, by which its owner can recognize it, and
 * nothing of what is under a name that isn't listed, since anything may be.
 */
export function hideHeader(name: string, value: string, scrub: Scrub) {
  if (isSecretName(name) || scrub(value) !== value) return { value: shortenCredentials(value), hidden: true };
  if (!listedName.test(name)) return { value: '…', hidden: true };
  const shown = hideTokens(value);
  return { value: shown, hidden: shown !== value };
}

/** The value with configured secrets scrubbed in all of its texts. */
export function withoutSecrets<Value>(value: Value, scrub: Scrub): Value {
  const json = JSON.stringify(value);
  if (scrub(json) === json) return value;
  return JSON.parse(json, (_, part) => (typeof part === 'string' ? scrub(part) : part));
}

export function isSecretName(name: string): boolean {
  return secretName.test(name) && !countName.test(name);
}

function shortenCredentials(value: string): string {
  const [, scheme = '', credentials = value] = /^([A-Za-z]{1,12} +)(\S.*)$/.exec(value) ?? [];
  return scheme + shorten(credentials);
}

const dot = '•';

/**
 * The shape of a text and not the text: of each word the first letter or digit, and dots for the rest. As long as the
 * text in UTF-16 code units, so that offsets stay right.
 */
export function outlineText(text: string): string {
  return text.replace(
    /([\p{L}\p{N}])([\p{L}\p{N}\p{M}]*)/gu,
    (_, first: string, rest: string) => first + dot.repeat(rest.length),
  );
}
