import { memoize } from '../memoize.ts';

/**
 * What the value of a forwarded header may look like. A value that fits is still checked by the policies; the patterns
 * make sure that transport headers can carry little besides their purpose.
 */
const kinds = {
  /** Ids, versions, platforms: one word. */
  id: /^[\w.:+/=@-]{1,128}$/,
  /** Names and flags, and lists of them. */
  list: /^[\w.:+/=@;, ()-]{1,1024}$/,
  /** Opaque state that a provider gave its client. */
  state: /^[\w.:+/=@;, -]{1,4096}$/,
  media: /^[\w.+/=*;, "-]{1,256}$/,
  traceparent: /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/,
  text: /^[\x20-\x7e]{1,512}$/,
  /** Headers that the configuration allows in addition, which may contain anything. */
  custom: /^[\x20-\x7e]{1,4096}$/,
} as const;

type Kind = keyof typeof kinds;

/** Every header that is forwarded to providers, with the kind of its value. */
export const forwardedNames: Readonly<Record<string, Kind>> = {
  accept: 'media',
  'user-agent': 'text',
  'openai-beta': 'list',
  'idempotency-key': 'id',
  'x-client-request-id': 'id',
  traceparent: 'traceparent',
  tracestate: 'text',
  'session-id': 'id',
  session_id: 'id',
  'thread-id': 'id',
  conversation_id: 'id',
  originator: 'text',
  'x-app': 'list',
  'anthropic-version': 'id',
  'anthropic-beta': 'list',
};

/** The same by prefix; `anthropic-` goes only to providers of that dialect. */
export const forwardedPrefixes: readonly (readonly [string, Kind])[] = [
  ['anthropic-', 'list'],
  ['x-stainless-', 'list'],
  ['x-codex-', 'state'],
  ['x-claude-', 'list'],
];

const names = /^[a-z0-9_-]{1,64}$/;
// It contains paths of the user's machine.
const notOfPrefix = new Set(['x-codex-turn-metadata']);
// Never forwarded, even if configured: the client's key is for the gateway alone, and the rest describes the connection
// or a body that may have changed.
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

/** The anthropic-version that is sent if the client names none. */
const anthropicVersion = '2023-06-01';

export interface RequestHeaderOptions {
  /** Whether the outgoing request is in Anthropic's dialect: only then do its headers mean anything there. */
  readonly isAnthropic: boolean;
  readonly extraNames: ReadonlySet<string>;
  /** Name and value pairs that the configuration adds, the provider's credentials among them. */
  readonly own: readonly string[];
  /** Whether a header may leave with this text, which is its value or, if clients choose it, its name. */
  readonly mayLeave: (label: string, text: string) => boolean;
  /** Notified of a header that is left out because of its value or its name. */
  readonly onDrop: (label: string) => void;
}

type Header =
  | { readonly name: string; readonly use: 'type' }
  | { readonly name: string; readonly use: 'never' }
  | {
      readonly name: string;
      readonly use: 'forwarded' | 'anthropic' | 'configured';
      readonly kind: Kind;
      /** The name for answers and records: without the part that clients choose. */
      readonly label: string;
    };

const headerOf = memoize((spelling): Header => {
  const name = spelling.toLowerCase();
  if (name === 'content-type') return { name, use: 'type' };
  if (neverToProvider.has(name)) return { name, use: 'never' };
  const use = name.startsWith('anthropic-') ? 'anthropic' : 'forwarded';
  const kind = Object.hasOwn(forwardedNames, name) ? forwardedNames[name] : undefined;
  if (kind !== undefined) return { name, use, kind, label: name };
  const prefix = forwardedPrefixes.find(([begin]) => name.startsWith(begin));
  if (prefix === undefined || notOfPrefix.has(name)) {
    return { name, use: 'configured', kind: 'custom', label: name };
  }
  return { name, use, kind: prefix[1], label: `${prefix[0]}*` };
});

/**
 * The headers for a provider as a flat list of names and values: the client's by allow-list, each matching its pattern
 * and checked, then the gateway's own. A key, a cookie or an address can't slip through by being forgotten here. Several
 * values of one name are joined into a list, as any reader would do (RFC 9110, section 5.3).
 */
export function requestHeaders(rawHeaders: readonly string[], options: RequestHeaderOptions): string[] {
  const { own, isAnthropic } = options;
  const headers = ['accept-encoding', 'identity', ...own];
  const client = clientHeaders(rawHeaders, options);
  let hasVersion = false;
  for (let i = 0; i < client.length; i += 2) {
    const name = client[i] as string;
    const value = client[i + 1] as string;
    if (!mayLeave(headerOf(name), value, options)) continue;
    if (name === 'anthropic-version') hasVersion = true;
    headers.push(name, value);
  }
  if (isAnthropic && !hasVersion) headers.push('anthropic-version', anthropicVersion);
  return headers;
}

/** The client's headers that are meant for providers, each name once. */
function clientHeaders(
  rawHeaders: readonly string[],
  { isAnthropic, extraNames }: RequestHeaderOptions,
): string[] {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const { name, use } = headerOf(rawHeaders[i] as string);
    if (use === 'never' || (use === 'anthropic' && !isAnthropic)) continue;
    if (use === 'configured' && (extraNames.size === 0 || !extraNames.has(name))) continue;
    const value = rawHeaders[i + 1] as string;
    const before = indexOfName(headers, name);
    if (before < 0) headers.push(name, value);
    // Of several content-types Node uses the first, so that is the one that was checked.
    else if (use !== 'type') headers[before + 1] += `, ${value}`;
  }
  return headers;
}

function indexOfName(headers: readonly string[], name: string): number {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return i;
  return -1;
}

function mayLeave(header: Header, value: string, options: RequestHeaderOptions): boolean {
  if (header.use === 'type') return true; // it was checked before the body was read
  if (header.use === 'never') return false;
  const { name, kind, label } = header;
  const isOpen = name !== label;
  const fits = kinds[kind].test(value) && (!isOpen || names.test(name));
  if (fits && (!isOpen || options.mayLeave(label, name)) && options.mayLeave(label, value)) return true;
  options.onDrop(label);
  return false;
}
