const requestNames = new Set([
  'accept',
  'content-type',
  'user-agent',
  'openai-beta',
  'idempotency-key',
  'x-client-request-id',
  'traceparent',
  'tracestate',
  'session-id',
  'session_id',
  'thread-id',
  'conversation_id',
  'originator',
  'x-app',
]);
const requestPrefixes = ['x-stainless-', 'x-codex-', 'x-claude-'];
// It holds the paths of the user's machine.
const notOfPrefix = new Set(['x-codex-turn-metadata']);
// Not even where the configuration names them: the client's key is for us alone, the rest belongs to the
// connection or is no longer true of the body.
const neverToProvider = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'x-gateway-key',
  'host',
  'connection',
  'proxy-connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'expect',
]);

const answerNames = new Set([
  'content-type',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'request-id',
]);
const answerPrefixes = ['anthropic-', 'openai-', 'x-ratelimit-', 'x-codex-'];

/** The version that Anthropic asks for when the client names none. */
const anthropicVersion = '2023-06-01';

export interface RequestHeaderOptions {
  /** Whether the request that goes out is of Anthropic's dialect: only then do its headers mean anything there. */
  readonly isAnthropic: boolean;
  readonly extraNames: ReadonlySet<string>;
  /** Name and value pairs that the configuration adds, the provider's credentials among them. */
  readonly own: readonly string[];
}

/**
 * Headers towards a provider as a flat list of names and values: an allow-list of the client's, then our
 * own. A key, a cookie or an address can't slip through by being forgotten here.
 */
export function requestHeaders(rawHeaders: readonly string[], options: RequestHeaderOptions): string[] {
  const headers = ['accept-encoding', 'identity', ...options.own];
  let hasVersion = false;
  let hasType = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (name.startsWith('anthropic-')) {
      if (!options.isAnthropic) continue;
      hasVersion ||= name === 'anthropic-version';
    } else if (!isForwarded(name, options.extraNames)) continue;
    if (name === 'content-type') {
      // Node reads the first of several, so that is the one that was checked.
      if (hasType) continue;
      hasType = true;
    }
    headers.push(name, rawHeaders[i + 1] as string);
  }
  if (options.isAnthropic && !hasVersion) headers.push('anthropic-version', anthropicVersion);
  return headers;
}

function isForwarded(name: string, extraNames: ReadonlySet<string>): boolean {
  if (requestNames.has(name)) return true;
  if (extraNames.has(name)) return !neverToProvider.has(name);
  return requestPrefixes.some((prefix) => name.startsWith(prefix)) && !notOfPrefix.has(name);
}

/** Headers of an answer by their lower-case names, as the provider sent them; the first of equal names. */
export type AnswerHeaders = ReadonlyMap<string, string>;

/** What of a provider's headers the client gets, as a flat list. */
export function answerHeaders(headers: AnswerHeaders): string[] {
  const passed: string[] = [];
  for (const [name, value] of headers) {
    if (name === 'x-request-id') passed.push('x-provider-request-id', value);
    else if (answerNames.has(name) || answerPrefixes.some((prefix) => name.startsWith(prefix))) {
      passed.push(name, value);
    }
  }
  return passed;
}

/** Undici's raw header buffers (name, value, name, value) as a map. */
export function parseRawHeaders(raw: readonly Buffer[]): AnswerHeaders {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as Buffer).toString('latin1').toLowerCase();
    if (!headers.has(name)) headers.set(name, (raw[i + 1] as Buffer).toString('latin1'));
  }
  return headers;
}
