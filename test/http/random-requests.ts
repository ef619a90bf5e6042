import type { Random } from '../kit/random.ts';

// Requests as bytes: proper ones in every framing, and the same with a few bytes changed, which is where two
// readers of HTTP come to see different requests.

export const framings = ['no body', 'a length', 'chunks'] as const;
export type Framing = (typeof framings)[number];

/** A request as the handler of a server must see it. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** Names in lower case and values, by turns. */
  readonly headers: readonly string[];
  readonly body: string;
}

interface MadeRequest {
  readonly text: string;
  readonly seen: SeenRequest;
}

type Header = readonly [name: string, value: string];

const names = ['X-A', 'x_b', 'Accept', 'User-Agent', 'Cookie', 'Content-Type', '!#$%', 'Authorization', 'TE'];
const values = ['', 'a', 'a b', 'a\tb', 'a, b', '"q;r"', 'a:b', '\x80\xff', '0', 'chunked', 'x'.repeat(300)];
const targets = ['/', '/a?b=c', '/%41/../b', '//', '/#f', 'http://other.example/x', '*'];
const blanks = ['', ' ', '  ', '\t', ' \t '];
const sizes = ['', '0', '00000'];
const extensions = ['', '', ';a', ';a=b', ';a="b;c"'];
const trailers = ['', '', 'X-T: a\r\n', 'x:\r\ny: \x80\r\n'];

/** What is put into requests, or in the place of a byte of theirs. */
const foreign = [
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '\r\n ',
  '\0',
  ' ',
  '\t',
  '\v',
  '\x7f',
  '\x80',
  ':',
  ',',
  ';',
  '0',
  'g',
];
/** Whole lines that make the framing another one. */
const framingLines = [
  'Content-Length: 3',
  'Content-Length: 0',
  'Content-Length: +3',
  'Content-Length: 3, 3',
  'Content-Length:',
  'Content-Length : 3',
  'Content-Length\0: 3',
  'Content-Length: 18446744073709551619',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: \vchunked',
  'Transfer-Encoding : chunked',
  ' Transfer-Encoding: chunked',
  'Transfer-Encoding:\r\n chunked',
  'Connection: close',
  'Connection: keep-alive',
  'Host: other.example',
];

/** A proper request. */
export function randomRequest(random: Random, framing: Framing): MadeRequest {
  const method = framing === 'no body' ? random.of(['GET', 'DELETE', 'OPTIONS']) : random.of(['POST', 'PUT']);
  const target = random.of(targets);
  const body = framing === 'no body' ? '' : randomBody(random);
  const framed: Header[] = [];
  if (framing === 'a length') framed.push(['Content-Length', `${random.of(sizes)}${body.length}`]);
  if (framing === 'chunks') framed.push(['transfer-encoding', random.of(['chunked', 'Chunked'])]);
  const others = Array.from({ length: random.below(5) }, (): Header => [random.of(names), random.of(values)]);
  const headers: Header[] = [['Host', '127.0.0.1'], ...others, ...framed];
  if (random.below(2) === 0) headers.reverse();

  // Behind a framing header Node takes blanks only, though a tab is as good.
  const lines = headers.map(
    ([name, value]) => `${name}:${random.of(blanks)}${value}${random.of(['', ' '])}\r\n`,
  );
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return {
    text: `${head}${framing === 'chunks' ? inChunks(random, body) : body}`,
    seen: { method, target, headers: headers.flatMap(([name, value]) => [name.toLowerCase(), value]), body },
  };
}

/** A few changes of bytes, most of them where a reader decides something. */
export function mutate(random: Random, text: string): string {
  let changed = text;
  for (let count = 1 + random.below(3); count > 0; count -= 1) {
    const at = randomPlace(random, changed);
    const lineEnd = changed.indexOf('\r\n', at);
    const kind = random.below(4);
    if (kind === 0) changed = changed.slice(0, at) + random.of(foreign) + changed.slice(at);
    else if (kind === 1) changed = changed.slice(0, at) + random.of(foreign) + changed.slice(at + 1);
    else if (kind === 2) changed = changed.slice(0, at) + changed.slice(at + 1 + random.below(3));
    else if (lineEnd >= 0) {
      changed = `${changed.slice(0, lineEnd)}\r\n${random.of(framingLines)}${changed.slice(lineEnd)}`;
    }
  }
  return changed;
}

/** In the first line, in the first head, at a line's beginning or end, or anywhere. */
function randomPlace(random: Random, text: string): number {
  const anywhere = random.below(text.length);
  const kind = random.below(6);
  if (kind === 0) return Math.min(anywhere, random.below(30));
  if (kind <= 2) return Math.min(anywhere, random.below(150));
  if (kind === 3) return anywhere;
  const lineEnd = text.indexOf('\r\n', anywhere);
  return lineEnd < 0 ? anywhere : lineEnd + random.below(2) * 2;
}

/** Cuts bytes where packets may be cut. */
export function inPackets(random: Random, text: string): Buffer[] {
  const bytes = Buffer.from(text, 'latin1');
  const packets: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = random.below(5) < 2 ? bytes.length : at + 1 + random.below(random.below(5) === 0 ? 4 : 200);
    packets.push(bytes.subarray(at, end));
    at = end;
  }
  return packets;
}

function randomBody(random: Random): string {
  const length = random.below(10) > 0 ? random.below(30) : random.below(3_000);
  return Array.from({ length }, () =>
    random.of(['a', '0', '\r', '\n', '\r\n\r\n', '\0', '\xff', 'GET / HTTP/1.1\r\n']),
  )
    .join('')
    .slice(0, length);
}

function inChunks(random: Random, body: string): string {
  let text = '';
  for (let at = 0; at < body.length; ) {
    const chunk = body.slice(at, at + 1 + random.below(random.below(3) === 0 ? 2 : 40));
    const size = chunk.length.toString(16);
    text += `${random.of(sizes)}${random.below(2) === 0 ? size.toUpperCase() : size}${random.of(extensions)}\r\n${chunk}\r\n`;
    at += chunk.length;
  }
  return `${text}${random.of(['0', '000'])}\r\n${random.of(trailers)}\r\n`;
}
