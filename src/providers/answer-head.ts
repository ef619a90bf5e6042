import { controlCharacter, endOfLine, withoutBlanks } from '../http/field-lines.ts';
import { memoize } from '../memoize.ts';
import { type AnswerField, AnswerHeaders, answerField } from './answer-headers.ts';

/** The head of a provider's answer. */
export interface AnswerHead {
  readonly status: number;
  /** Their values have a character for each byte. */
  readonly headers: AnswerHeaders;
  /** Bytes of the body; `chunks` and `until the end` where the head does not tell. */
  readonly body: number | 'chunks' | 'until the end';
  /** Milliseconds that the host keeps an idle connection; undefined where it does not say, 0 where it closes it. */
  readonly keepAliveMs: number | undefined;
}

/** A head that can't be read, or that two readers could take differently. */
export class BrokenHead extends Error {}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const digits = /^\d{1,15}$/;
const listsClose = /,[ \t]*close[ \t]*(?:,|$)/;
const listsKeepAlive = /,[ \t]*keep-alive[ \t]*(?:,|$)/;
const keepAliveTimeout = /(?:^|[,;\s])timeout=(\d{1,6})/i;

const readStatusLine = memoize((line): { readonly status: number; readonly isOld: boolean } => {
  const found = statusLine.exec(line);
  if (found === null || controlCharacter.test(line)) {
    throw new BrokenHead('the answer does not begin with a status line');
  }
  return { status: Number(found[2]), isOld: found[1] === '0' };
});

/** Reads a head, which is given without the empty line behind it (RFC 9112, sections 4 and 6.3). Throws BrokenHead. */
export function parseAnswerHead(text: string): AnswerHead {
  const firstEnd = endOfLine(text, 0);
  const { status, isOld } = readStatusLine(text.slice(0, firstEnd));
  const fields = parseFields(text, firstEnd + 2);
  const framed = framingOf(fields);
  const isBodiless = status < 200 || status === 204 || status === 304;
  // Some hosts send the body that such a head must not promise.
  const isDoubtful = isBodiless && framed !== 0 && framed !== 'until the end';
  const closes = isDoubtful || closesBehind(fields, { isOld });
  return {
    status,
    headers: fields.headers,
    body: isBodiless ? 0 : framed,
    keepAliveMs: closes ? 0 : keepAliveMsOf(fields),
  };
}

interface Fields {
  readonly headers: AnswerHeaders;
  length: string | undefined;
  transfer: string | undefined;
  /** In lower case, each with a comma before it. */
  connection: string;
  keepAlive: string | undefined;
}

function parseFields(text: string, from: number): Fields {
  const headers = new AnswerHeaders();
  const fields: Fields = {
    headers,
    length: undefined,
    transfer: undefined,
    connection: '',
    keepAlive: undefined,
  };
  for (let start = from; start < text.length; ) {
    const end = endOfLine(text, start);
    const colon = text.indexOf(':', start);
    if (colon < 0 || colon >= end) throw new BrokenHead('a header has no colon');
    const field = answerField(text.slice(start, colon));
    const value = withoutBlanks(text, colon + 1, end);
    if (!field.isProper || controlCharacter.test(value)) throw new BrokenHead('a header is malformed');
    headers.add(field, value);
    noteField(fields, field.role, value);
    start = end + 2;
  }
  return fields;
}

function noteField(fields: Fields, role: AnswerField['role'], value: string): void {
  switch (role) {
    case 'content-length':
      fields.length = once(fields.length, value);
      return;
    case 'transfer-encoding':
      fields.transfer = once(fields.transfer, value);
      return;
    case 'connection':
      fields.connection += `,${value.toLowerCase()}`;
      return;
    case 'keep-alive':
      fields.keepAlive = value;
      return;
    case undefined:
  }
}

function framingOf({ length, transfer }: Fields): AnswerHead['body'] {
  if (transfer === undefined && length === undefined) return 'until the end';
  if (transfer === undefined && digits.test(length ?? '')) return Number(length);
  if (length === undefined && transfer?.toLowerCase() === 'chunked') return 'chunks';
  throw new BrokenHead('nobody can tell where the body ends');
}

/** Chunks from HTTP/1.0 come from one who may not know what they are (RFC 9112, sections 6.1 and 9.3). */
function closesBehind({ connection, transfer }: Fields, { isOld }: { readonly isOld: boolean }): boolean {
  if (listsClose.test(connection)) return true;
  return isOld && (transfer !== undefined || !listsKeepAlive.test(connection));
}

function keepAliveMsOf({ keepAlive }: Fields): number | undefined {
  const seconds = keepAlive === undefined ? undefined : keepAliveTimeout.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

function once(before: string | undefined, value: string): string {
  if (before !== undefined) throw new BrokenHead('there are two headers of one kind for the length');
  return value;
}
