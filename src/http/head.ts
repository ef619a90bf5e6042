import { METHODS } from 'node:http';
import { GatewayError } from '../errors.ts';
import { memoize } from '../memoize.ts';
import { controlCharacter, endOfLine, token, withoutBlanks } from './field-lines.ts';
import { HeadMeaning, type Role, roles } from './head-meaning.ts';
import { malformed } from './malformed.ts';

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

interface HeaderName {
  readonly lower: string;
  readonly role: Role | undefined;
}

const nameOf = memoize((spelling): HeaderName => {
  if (!token.test(spelling)) throw malformed('a header has no proper name');
  const lower = spelling.toLowerCase();
  return { lower, role: roles.get(lower) };
});

/**
 * Reads a head, which is given without the empty line behind it, a character for each byte. Throws
 * request.framing, request.expectation, and endpoint.unknown for CONNECT.
 */
export function parseHead(text: string): RequestHead {
  const firstEnd = endOfLine(text, 0);
  const line = text.slice(0, firstEnd);
  const found = requestLine.exec(line);
  if (found === null || found[1] === 'CONNECT') throw badRequestLine(line);
  const [, method = '', target = '', minor] = found;
  if (!methods.has(method)) throw malformed('the method is not known');
  const version = minor === '0' ? '1.0' : '1.1';

  const rawHeaders: string[] = [];
  const names: string[] = [];
  const meaning = new HeadMeaning(version);
  for (let start = firstEnd + 2; start < text.length; ) {
    const end = endOfLine(text, start);
    const colon = text.indexOf(':', start);
    if (colon < 0 || colon >= end) throw malformed('a header has no colon');
    const spelling = text.slice(start, colon);
    const { lower, role } = nameOf(spelling);
    const value = withoutBlanks(text, colon + 1, end);
    if (controlCharacter.test(value)) throw malformed('a header has a control character');
    rawHeaders.push(spelling, value);
    names.push(lower);
    if (role !== undefined) meaning.note(role, value);
    start = end + 2;
  }
  const bodyLength = meaning.parseBodyLength();
  const { keepsAlive, expectsContinue, asksForUpgrade } = meaning;
  return {
    method,
    target,
    version,
    rawHeaders,
    names,
    bodyLength,
    keepsAlive,
    expectsContinue,
    asksForUpgrade,
  };
}

/** What is left without the line ends that some clients send behind a body (RFC 9112, section 2.2). */
export function withoutEmptyLines(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === carriageReturn && bytes[start + 1] === lineFeed) start += 2;
  return start === 0 ? bytes : bytes.subarray(start);
}

/**
 * Whether a head that is not complete can no longer become a proper one, so that nobody need wait for the rest.
 * Lines that ended within the first `searched` bytes are not looked at again.
 */
export function isHopeless(begun: Buffer, searched: number): boolean {
  const first = begun[0] as number;
  if (first === carriageReturn) return begun.length > 1; // an empty line before the head
  if (first < 0x41 || first > 0x5a) return true; // methods begin with a capital letter
  for (let at = begun.indexOf(lineFeed, searched); at >= 0; at = begun.indexOf(lineFeed, at + 1)) {
    if (begun[at - 1] !== carriageReturn) return true;
  }
  return false;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

function badRequestLine(line: string): GatewayError {
  if (connectLine.test(line)) {
    return new GatewayError('endpoint.unknown', 'this is not a tunnelling proxy: CONNECT is not served');
  }
  return malformed('its first line is not METHOD TARGET HTTP/1.1');
}
