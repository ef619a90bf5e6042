/** The head of a provider's answer. */
export interface AnswerHead {
  readonly status: number;
  /** Names as they were spelled and values, by turns; a character for each byte. */
  readonly headers: readonly string[];
  /** Bytes of the body; `chunks` and `until the end` where the head does not tell. */
  readonly body: number | 'chunks' | 'until the end';
  /** Milliseconds that the host keeps an idle connection; undefined where it does not say, 0 where it closes it. */
  readonly keepAliveMs: number | undefined;
}

/** A head that can't be read, or that two readers could take differently. */
export class BrokenHead extends Error {}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const forbidden = /[\0-\x08\x0a-\x1f\x7f]/;
const length = /^\d{1,15}$/;

/** Reads a head, which is given without the empty line behind it (RFC 9112, sections 4 and 6.3). Throws BrokenHead. */
export function parseAnswerHead(text: string): AnswerHead {
  const firstEnd = lineEnd(text, 0);
  const found = statusLine.exec(text);
  if (found === null) throw new BrokenHead('the answer does not begin with a status line');
  const status = Number(found[2]);
  const headers: string[] = [];
  let bodyLength: string | undefined;
  let transfer: string | undefined;
  let connection = found[1] === '1' ? 'keep-alive' : 'close';
  let keepAlive: string | undefined;
  for (let start = firstEnd + 2; start < text.length; ) {
    const end = lineEnd(text, start);
    const colon = text.indexOf(':', start);
    if (colon < 0 || colon >= end) throw new BrokenHead('a header has no colon');
    const name = text.slice(start, colon);
    const value = text.slice(colon + 1, end).trim();
    if (!token.test(name) || forbidden.test(value)) throw new BrokenHead('a header is malformed');
    headers.push(name, value);
    start = end + 2;
    // Only these three lengths are worth a closer look.
    if (name.length === 14 && name.toLowerCase() === 'content-length') bodyLength = once(bodyLength, value);
    else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding')
      transfer = once(transfer, value);
    else if (name.length === 10 && name.toLowerCase() === 'connection') connection = value.toLowerCase();
    else if (name.length === 10 && name.toLowerCase() === 'keep-alive') keepAlive = value;
  }
  if (bodyLength !== undefined && (transfer !== undefined || !length.test(bodyLength))) {
    throw new BrokenHead('nobody can tell where the body ends');
  }
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    throw new BrokenHead('the transfer-encoding is not chunked');
  }
  const isBodiless = status < 200 || status === 204 || status === 304;
  const framed =
    transfer === undefined ? (bodyLength === undefined ? 'until the end' : Number(bodyLength)) : 'chunks';
  return {
    status,
    headers,
    body: isBodiless ? 0 : framed,
    keepAliveMs: keepAliveOf(connection, keepAlive),
  };
}

function keepAliveOf(connection: string, keepAlive: string | undefined): number | undefined {
  if (/(?:^|,)\s*close\s*(?:,|$)/.test(connection)) return 0;
  const seconds = keepAlive === undefined ? undefined : /timeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

function once(before: string | undefined, value: string): string {
  if (before !== undefined) throw new BrokenHead('there are two headers of one kind for the length');
  return value;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\r\n', from);
  return end < 0 ? text.length : end;
}
