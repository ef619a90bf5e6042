import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';

const llhttp = process.versions.llhttp ?? '9';

/**
 * Whether Node's parser for HTTP/1.1 is llhttp 8, of Node 20 before 20.19.2. It takes header names that are no
 * tokens, and ends a head at CR LF CR without LF (CVE-2025-23167).
 */
export const isOldParser = Number.parseInt(llhttp, 10) < 9;

/** What whoever runs the gateway on this Node should know about its parser, if anything. */
export function parserProblem(isOld = isOldParser): string | undefined {
  if (!isOld) return undefined;
  return `Node ${process.version} reads HTTP with a parser that lets malformed requests pass (CVE-2025-23167): use Node 20.19.2 or newer`;
}

/** What a request's head means for its body and its connection. */
export interface HeadMeaning {
  readonly version: '1.0' | '1.1';
  /** Bytes of the body; undefined if it comes in chunks. */
  readonly bodyLength: number | undefined;
  /** Whether the client may send another request on this connection. */
  readonly keepsAlive: boolean;
  /** Whether the client waits for a 100 (Continue) before it sends the body. */
  readonly expectsContinue: boolean;
  /** Whether there is an Upgrade header that Connection names. */
  readonly asksForUpgrade: boolean;
}

const target = /^(?:\*|(?:\/|[a-zA-Z][a-zA-Z0-9+.-]*:\/\/)[!-~]*)$/;
// More digits would not be an exact number, and no body is that long.
const bodyLength = /^\d{1,15}$/;
// RFC 9110, section 5.6.2. A newer parser has looked already.
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Checks a head more strictly than Node's parser does: anything that two readers could interpret differently is refused
 * (RFC 9112). Throws request.framing, request.expectation and request.headers_too_large.
 */
export function readHttpHead(message: IncomingMessage, headBytes: number): HeadMeaning {
  const { httpVersion: version, url = '', rawHeaders } = message;
  if (version !== '1.1' && version !== '1.0') throw malformed('its version is neither 1.1 nor 1.0');
  // Clients never send a fragment, so readers differ in whether they cut it off.
  if (!target.test(url) || url.includes('#')) throw malformed('its target is not well-formed');
  const fields = new Fields();
  let bytes = (message.method ?? '').length + url.length;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    bytes += name.length + value.length;
    if (isOldParser && !token.test(name)) throw malformed('a header name is not well-formed');
    fields.note(name, value);
  }
  // Like Node, this counts what is kept, which is less than what was received.
  if (bytes > headBytes) throw new GatewayError('request.headers_too_large', 'the request head is too large');
  return fields.meaning(version);
}

/** The refusal of anything that two readers could interpret differently. */
export function malformed(what: string): GatewayError {
  return new GatewayError('request.framing', `this is not well-formed HTTP/1.1: ${what}`);
}

class Fields {
  #hosts = 0;
  #length: number | undefined;
  #isChunked = false;
  #options = '';
  #expectsContinue = false;
  #hasUpgrade = false;

  note(name: string, value: string): void {
    // By length first, so that few names need to be lower-cased.
    switch (name.length) {
      case 4:
        if (name.toLowerCase() === 'host') this.#noteHost();
        return;
      case 6:
        if (name.toLowerCase() === 'expect') this.#noteExpect(value);
        return;
      case 7:
        if (name.toLowerCase() === 'upgrade') this.#hasUpgrade = true;
        return;
      case 10:
        if (name.toLowerCase() === 'connection') this.#options += `,${value.toLowerCase()}`;
        return;
      case 14:
        if (name.toLowerCase() === 'content-length') this.#noteLength(value);
        return;
      case 17:
        if (name.toLowerCase() === 'transfer-encoding') this.#noteTransferEncoding(value);
    }
  }

  meaning(version: '1.0' | '1.1'): HeadMeaning {
    const isOld = version === '1.0';
    if (this.#isChunked && this.#length !== undefined)
      throw malformed('a body has either a length or chunks');
    // Chunked encoding is HTTP/1.1: a 1.0 request with chunks comes from a relay that did not understand them.
    if (this.#isChunked && isOld) throw malformed('HTTP/1.0 has no chunks');
    return {
      version,
      bodyLength: this.#isChunked ? undefined : (this.#length ?? 0),
      keepsAlive: !this.#hasOption('close') && (!isOld || this.#hasOption('keep-alive')),
      expectsContinue: this.#expectsContinue && !isOld,
      // In HTTP/1.0 it means nothing (RFC 9110, section 7.8).
      asksForUpgrade: this.#hasUpgrade && !isOld && this.#hasOption('upgrade'),
    };
  }

  #noteHost(): void {
    this.#hosts += 1;
    if (this.#hosts > 1) throw malformed('there is more than one Host header');
  }

  #noteExpect(value: string): void {
    if (this.#expectsContinue || value.toLowerCase() !== '100-continue') {
      throw new GatewayError('request.expectation', 'Expect may only be 100-continue');
    }
    this.#expectsContinue = true;
  }

  #noteLength(value: string): void {
    if (this.#length !== undefined || !bodyLength.test(value)) {
      throw malformed('the content-length is not one number');
    }
    this.#length = Number(value);
  }

  #noteTransferEncoding(value: string): void {
    if (this.#isChunked || value.toLowerCase() !== 'chunked') {
      throw malformed('transfer-encoding may only be chunked, once');
    }
    this.#isChunked = true;
  }

  #hasOption(option: string): boolean {
    return this.#options !== '' && this.#options.split(',').some((each) => each.trim() === option);
  }
}
