import { maskTokens, shorten } from '../shorten.ts';

const secretName =
  /auth|key|token|secret|cookie|passw|passphrase|credential|jwt|assertion|bearer|session|signature|private|[cx]srf|saml|oidc/i;
/** Their names speak of tokens, and their values are counts. */
const countName = /ratelimit/i;
/** Identifiers and what every client sends: shown as they are. */
const plainName =
  /^(?:accept.*|access-control-.*|age|alt-svc|anthropic-.*|cache-control|cf-ray|connection|content-.*|date|etag|host|keep-alive|last-modified|openai-.*|retry-after|sec-(?:ch|fetch)-.*|server.*|strict-transport-security|te|transfer-encoding|traceparent|user-agent|vary|via|x-envoy-.*|x-gateway-.*|x-stainless-.*|.*-id|.*(?:trace|span)id)$/i;

type Scrub = (text: string) => string;

export interface MaskedHeader {
  readonly value: string;
  readonly masked: boolean;
}

/**
 * A header's value as it may be shown: of a secret only its beginning, by which its owner can recognize it. What is
 * under an unknown name is searched for what looks like a secret.
 */
export function maskHeader(name: string, value: string, scrub: Scrub): MaskedHeader {
  if (isSecretName(name) || scrub(value) !== value) return { value: shortenCredentials(value), masked: true };
  const shown = plainName.test(name) || countName.test(name) ? maskTokens(value) : maskSecrets(value);
  return { value: shown, masked: shown !== value };
}

/** The value with configured secrets masked in all of its texts. */
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

/** The user and password of a URL, parameters with the name of a secret, and long words of letters and digits. */
function maskSecrets(value: string): string {
  return value
    .replace(/\/\/[^/\s@]+@/g, '//…@')
    .replace(/([\w.-]{1,64}=)("?)([^\s"&;,]+)/g, (whole, name: string, quote: string, secret: string) =>
      isSecretName(name) ? name + quote + shorten(secret) : whole,
    )
    .replace(/[\w+/.~-]{20,}/g, (word) => (/\d/.test(word) && /[A-Za-z]/.test(word) ? shorten(word) : word));
}

const dot = '•';

/**
 * The shape of a text and not the text: of each word the first letter or digit, and dots for the rest. As long as the
 * text in UTF-16 code units, so that offsets stay right.
 */
export function maskText(text: string): string {
  return text.replace(
    /([\p{L}\p{N}])([\p{L}\p{N}\p{M}]*)/gu,
    (_, first: string, rest: string) => first + dot.repeat(rest.length),
  );
}
