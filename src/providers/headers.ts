import { memoize } from '../memoize.ts';

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

/** The version that Anthropic asks for when the client names none. */
const anthropicVersion = '2023-06-01';

export interface RequestHeaderOptions {
  /** Whether the request that goes out is of Anthropic's dialect: only then do its headers mean anything there. */
  readonly isAnthropic: boolean;
  readonly extraNames: ReadonlySet<string>;
  /** Name and value pairs that the configuration adds, the provider's credentials among them. */
  readonly own: readonly string[];
}

interface RequestFate {
  readonly name: string;
  readonly fate: 'passed' | 'anthropic' | 'type' | 'unknown' | 'never';
}

const requestFate = memoize((spelling): RequestFate => {
  const name = spelling.toLowerCase();
  return { name, fate: fateOf(name) };
});

function fateOf(name: string): RequestFate['fate'] {
  if (name === 'content-type') return 'type';
  if (name.startsWith('anthropic-')) return 'anthropic';
  if (neverToProvider.has(name)) return 'never';
  const isKnown = requestNames.has(name) || requestPrefixes.some((prefix) => name.startsWith(prefix));
  return isKnown && !notOfPrefix.has(name) ? 'passed' : 'unknown';
}

/**
 * Headers towards a provider as a flat list of names and values: an allow-list of the client's, then our
 * own. A key, a cookie or an address can't slip through by being forgotten here.
 */
export function requestHeaders(rawHeaders: readonly string[], options: RequestHeaderOptions): string[] {
  const { isAnthropic, extraNames } = options;
  const headers = ['accept-encoding', 'identity', ...options.own];
  let hasVersion = false;
  let hasType = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const { name, fate } = requestFate(rawHeaders[i] as string);
    if (fate === 'never' || (fate === 'anthropic' && !isAnthropic)) continue;
    if (fate === 'unknown' && (extraNames.size === 0 || !extraNames.has(name))) continue;
    if (fate === 'type') {
      // Node reads the first of several, so that is the one that was checked.
      if (hasType) continue;
      hasType = true;
    }
    if (name === 'anthropic-version') hasVersion = true;
    headers.push(name, rawHeaders[i + 1] as string);
  }
  if (isAnthropic && !hasVersion) headers.push('anthropic-version', anthropicVersion);
  return headers;
}
