import { METHODS } from 'node:http';
import { GatewayError } from '../errors.ts';
import { remembered } from '../remember.ts';

/** The head of a request, read strictly: what two readers could take differently is refused (RFC 9112). */
export interface RequestHead {
  readonly method: string;
  /** As it came: nothing is decoded, merged or trimmed. */
  readonly target: string;
  readonly version: '1.0' | '1.1';
  /** Names as they were spelled and values without the blanks around them, by turns; a character for each byte. */
  readonly rawHeaders: readonly string[];
  /** The names in lower case, one for each pair of `rawHeaders`. */
  readonly names: readonly string[];
  /** Bytes of the body; undefined where it comes in chunks. */
  readonly bodyLength: number | undefined;
  /** Whether the client may send another request behind this one. */
  readonly keepsAlive: boolean;
  /** Whether the client waits for a 100 before it sends the body. */
  readonly expectsContinue: boolean;
  /** Whether there is an Upgrade that the connection's options ask for. */
  readonly asksForUpgrade: boolean;
}

const methods = new Set(METHODS);
const requestLine = /^([A-Z-]+) (\*|(?:\/|[a-zA-Z][a-zA-Z0-9+.-]*:\/\/)[!-~]*) HTTP\/1\.([01])$/;
const connectLine = /^CONNECT [!-~]+ HTTP\/1\.[01]$/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Everything below a blank but the tab, and DEL (RFC 9110, section 5.5).
const forbidden = /[\0-\x08\x0a-\x1f\x7f]/;
// More digits would not be exact, and more bytes never come.
const length = /^\d{1,15}$/;

/** What a header means for where a request ends and what becomes of its connection. */
type Role = 'none' | 'host' | 'length' | 'transfer' | 'connection' | 'expect' | 'upgrade';

const roles: ReadonlyMap<string, Role> = new Map([
  ['host', 'host'],
  ['content-length', 'length'],
  ['transfer-encoding', 'transfer'],
  ['connection', 'connection'],
  ['expect', 'expect'],
  ['upgrade', 'upgrade'],
]);

interface HeaderName {
  readonly lower: string;
  readonly role: Role;
}

const nameOf = remembered((spelling): HeaderName => {
  if (!token.test(spelling)) throw malformed('a header has no proper name');
  const lower = spelling.toLowerCase();
  return { lower, role: roles.get(lower) ?? 'none' };
});

/**
 * Reads a head, which is given without the empty line behind it, a character for each byte. Throws
 * request.framing and request.expectation.
 */
export function parseHead(text: string): RequestHead {
  const firstEnd = text.indexOf('\r\n');
  const line = firstEnd < 0 ? text : text.slice(0, firstEnd);
  const found = requestLine.exec(line);
  if (found === null) throw badRequestLine(line);
  const [, method = '', target = '', minor] = found;
  if (!methods.has(method)) throw malformed('the method is not known');
  const version = minor === '0' ? '1.0' : '1.1';

  const rawHeaders: string[] = [];
  const names: string[] = [];
  let hosts = 0;
  let bodyLength: number | undefined;
  let isChunked = false;
  let options = '';
  let expectation: string | undefined;
  let hasUpgrade = false;
  for (let start = firstEnd < 0 ? text.length : firstEnd + 2; start < text.length; ) {
    const lineEnd = text.indexOf('\r\n', start);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const colon = text.indexOf(':', start);
    if (colon < 0 || colon >= end) throw malformed('a header has no colon');
    const spelling = text.slice(start, colon);
    const { lower, role } = nameOf(spelling);
    const value = trimmed(text, colon + 1, end);
    if (forbidden.test(value)) throw malformed('a header has a control character');
    rawHeaders.push(spelling, value);
    names.push(lower);
    start = end + 2;
    switch (role) {
      case 'none':
        break;
      case 'host':
        hosts += 1;
        break;
      case 'length':
        if (bodyLength !== undefined || !length.test(value))
          throw malformed('the content-length is not one number');
        bodyLength = Number(value);
        break;
      case 'transfer':
        if (isChunked || value.toLowerCase() !== 'chunked')
          throw malformed('transfer-encoding may only be chunked, once');
        isChunked = true;
        break;
      case 'connection':
        options += `,${value.toLowerCase()}`;
        break;
      case 'expect':
        if (expectation !== undefined || value.toLowerCase() !== '100-continue') {
          throw new GatewayError('request.expectation', 'Expect may only be 100-continue');
        }
        expectation = value;
        break;
      case 'upgrade':
        hasUpgrade = true;
    }
  }
  if (hosts > 1) throw malformed('there is more than one Host header');
  if (isChunked && bodyLength !== undefined) throw malformed('a body has either a length or chunks');
  // Chunks are of HTTP/1.1: who says 1.0 and sends them is a relay that did not understand them.
  if (isChunked && version === '1.0') throw malformed('HTTP/1.0 has no chunks');
  return {
    method,
    target,
    version,
    rawHeaders,
    names,
    bodyLength: isChunked ? undefined : (bodyLength ?? 0),
    keepsAlive:
      version === '1.1' ? !has(options, 'close') : has(options, 'keep-alive') && !has(options, 'close'),
    expectsContinue: expectation !== undefined && version === '1.1',
    asksForUpgrade: hasUpgrade && has(options, 'upgrade'),
  };
}

/** Whether a head that is not complete can no longer become a proper one, so that nobody need wait for the rest. */
export function isHopeless(begun: Buffer): boolean {
  const first = begun[0] as number;
  if (first === carriageReturn) return begun.length > 1; // an empty line before the head
  if (first < 0x41 || first > 0x5a) return true; // methods begin with a capital letter
  for (let at = begun.indexOf(lineFeed); at >= 0; at = begun.indexOf(lineFeed, at + 1)) {
    if (begun[at - 1] !== carriageReturn) return true;
  }
  return false;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export function malformed(what: string): GatewayError {
  return new GatewayError('request.framing', `this is not a well-formed HTTP/1.1 request: ${what}`);
}

function badRequestLine(line: string): GatewayError {
  if (connectLine.test(line)) {
    return new GatewayError('endpoint.unknown', 'this is not a tunnelling proxy: CONNECT is not served');
  }
  return malformed('its first line is not METHOD TARGET HTTP/1.1');
}

/** The part of a text without the blanks and tabs around it. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Whether an option is in a list of them, each behind a comma. */
function has(list: string, option: string): boolean {
  return list !== '' && list.split(',').some((each) => each.trim() === option);
}
