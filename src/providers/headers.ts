import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from '../dialects/dialect.ts';
import { dialects } from '../dialects/registry.ts';
import { memoize } from '../lib/memoize.ts';

// Headers of both directions: those of a client that a provider gets, then those of a provider's answer that its client gets.

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
const forwardedNames: Readonly<Record<string, Kind>> = {
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
  'x-goog-api-client': 'list',
};

/** The same by prefix; those of a dialect go only to its providers (`Dialect.ownHeaders`). */
const forwardedPrefixes: readonly (readonly [string, Kind])[] = [
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
  'x-goog-api-key',
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

/** A header of the client that a provider may get, once its texts have been checked. */
export interface ForwardableHeader {
  /** In lower case, as it leaves. */
  readonly name: string;
  /** As the client wrote it first. */
  readonly spelling: string;
  readonly value: string;
  /** The name for answers and records: without the part that clients choose. */
  readonly label: string;
}

type FoundHeader = ForwardableHeader & Pick<Header, 'kind'>;

interface Forwardable {
  readonly headers: readonly ForwardableHeader[];
  /** Labels of those whose name or value doesn't have the form that their purpose needs. */
  readonly unfit: readonly string[];
}

export interface ForwardOptions {
  /** That of the outgoing request: a dialect's own headers go to no other one. */
  readonly dialect: Pick<Dialect, 'ownHeaders'>;
  readonly extraNames: ReadonlySet<string>;
}

interface Header {
  readonly name: string;
  readonly use: 'type' | 'never' | 'forwarded' | 'configured';
  /** Of a dialect whose providers alone get it. */
  readonly owner?: string | undefined;
  /** Undefined for what was checked before, or never goes. */
  readonly kind?: Kind | undefined;
  readonly label: string;
}

const none: readonly string[] = [];

const ownPrefixes = Object.values<Dialect>(dialects).flatMap(({ ownHeaders }) => ownHeaders?.prefix ?? []);

const headerOf = memoize((spelling): Header => {
  const name = spelling.toLowerCase();
  if (name === 'content-type') return { name, use: 'type', label: name };
  if (neverToProvider.has(name)) return { name, use: 'never', label: name };
  const use = 'forwarded';
  const owner = ownPrefixes.find((prefix) => name.startsWith(prefix));
  const kind = Object.hasOwn(forwardedNames, name) ? forwardedNames[name] : undefined;
  if (kind !== undefined) return { name, use, kind, owner, label: name };
  const prefix = forwardedPrefixes.find(([begin]) => name.startsWith(begin));
  if (prefix === undefined || notOfPrefix.has(name)) {
    return { name, use: 'configured', kind: 'custom', label: name };
  }
  return { name, use, kind: prefix[1], owner, label: `${prefix[0]}*` };
});

/**
 * The client's headers that may be forwarded, by allow-list, each matching its pattern: a key, a cookie or an address
 * can't slip through by being forgotten here. Each name is there once: several values of one name are joined into a list,
 * as any reader would do (RFC 9110, section 5.3).
 */
export function forwardableHeaders(rawHeaders: readonly string[], options: ForwardOptions): Forwardable {
  const headers: { -readonly [Name in keyof FoundHeader]: FoundHeader[Name] }[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const spelling = rawHeaders[i] as string;
    const header = headerOf(spelling);
    if (!isForwarded(header, options)) continue;
    const { name, label, kind } = header;
    const value = rawHeaders[i + 1] as string;
    const before = named(headers, name);
    if (before === undefined) headers.push({ name, spelling, value, label, kind });
    // Of several content-types Node uses the first, so that is the one that was checked.
    else if (header.use !== 'type') before.value += `, ${value}`;
  }
  if (headers.every(isFit)) return { headers, unfit: none };
  return {
    headers: headers.filter(isFit),
    unfit: headers.filter((header) => !isFit(header)).map(({ label }) => label),
  };
}

/** Of so few headers that a table, or a closure for each, costs more than looking at them. */
function named<Each extends { readonly name: string }>(
  headers: readonly Each[],
  name: string,
): Each | undefined {
  for (const each of headers) if (each.name === name) return each;
  return undefined;
}

function isForwarded({ name, use, owner }: Header, { dialect, extraNames }: ForwardOptions): boolean {
  if (use === 'never' || (use === 'configured' && !extraNames.has(name))) return false;
  return owner === undefined || owner === dialect.ownHeaders?.prefix;
}

/** All headers of a request as a flat list of names and values: the gateway's own, then those of the client. */
export function requestHeaders(
  client: readonly string[],
  { own, dialect }: Pick<ForwardOptions, 'dialect'> & { readonly own: readonly string[] },
): string[] {
  // `concat` makes a list of the right size.
  const headers = uncompressed.concat(own, client);
  const always = dialect.ownHeaders?.always;
  if (always !== undefined && indexOfName(client, always[0]) < 0) headers.push(...always);
  return headers;
}

const uncompressed: string[] = ['accept-encoding', 'identity'];

function indexOfName(headers: readonly string[], name: string): number {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return i;
  return -1;
}

function isFit({ name, value, label, kind }: FoundHeader): boolean {
  return kind === undefined || (kinds[kind].test(value) && (name === label || names.test(name)));
}

// ---------------------------------------------------------------- of answers

const passedNames = new Set([
  'content-type',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'request-id',
  // Codex counts tokens by it.
  'x-reasoning-included',
]);
const passedPrefixes = ['anthropic-', 'openai-', 'x-ratelimit-', 'x-codex-'];
/** What providers call the id of a request; also AWS and Azure. */
const requestIds = new Set(['x-request-id', 'x-amzn-requestid', 'apim-request-id']);
const rateLimitPrefixes = ['x-ratelimit-', 'anthropic-ratelimit-'];

interface HeaderUse {
  /** The name under which the client gets it; undefined if it is not passed on. */
  readonly passedAs: string | undefined;
  /** Whether it describes the provider's limits on the gateway. */
  readonly isRateLimit: boolean;
}

const useOf = memoize((name): HeaderUse => {
  const isPassed = passedNames.has(name) || passedPrefixes.some((prefix) => name.startsWith(prefix));
  return {
    passedAs: requestIds.has(name) ? 'x-provider-request-id' : isPassed ? name : undefined,
    isRateLimit: rateLimitPrefixes.some((prefix) => name.startsWith(prefix)),
  };
});

/** What removes secrets from headers; names are in lower case, even where a secret has capitals. */
interface HeaderScrubber {
  text(value: string): string;
  inName(name: string): string | undefined;
}

/** Headers of a provider's answer: those that the client gets or the gateway uses, the first of each name. */
export class AnswerHeaders {
  /** As they came, by their names in lower case; values are Latin-1 (one character per byte). */
  readonly #all: IncomingHttpHeaders;

  constructor(all: IncomingHttpHeaders = {}) {
    this.#all = all;
  }

  /** The same with another value of a header that clients get. */
  with(name: string, value: string): AnswerHeaders {
    return new AnswerHeaders({ ...this.#all, [name]: value });
  }

  /** The value of a header that the gateway uses, by its lower-case name. */
  get(name: string): string | undefined {
    const value = this.#all[name];
    return value === undefined ? undefined : firstOf(value);
  }

  /** Whether the provider says how much of its limits is left. */
  get hasRateLimits(): boolean {
    for (const name in this.#all) if (useOf(name).isRateLimit) return true;
    return false;
  }

  /** Adds names and values of the headers for the client to a flat list; a header with a secret in its name is left out. */
  passOn(
    headers: string[],
    scrubber: HeaderScrubber,
    { rateLimits }: { readonly rateLimits: boolean } = { rateLimits: true },
  ): void {
    for (const name in this.#all) {
      const { passedAs, isRateLimit } = useOf(name);
      if (passedAs === undefined || (isRateLimit && !rateLimits)) continue;
      if (scrubber.inName(passedAs) === undefined)
        headers.push(passedAs, scrubber.text(firstOf(this.#all[name] ?? '')));
    }
  }
}

function firstOf(value: string | readonly string[]): string {
  return withoutBlanksBehind(typeof value === 'string' ? value : (value[0] ?? ''));
}

/** Trims trailing blanks, which undici keeps. Not trim(): a no-break space is part of the value (RFC 9110, section 5.5). */
function withoutBlanksBehind(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === ' ' || value[end - 1] === '\t')) end -= 1;
  return end === value.length ? value : value.slice(0, end);
}
