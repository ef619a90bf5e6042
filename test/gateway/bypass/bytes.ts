import * as zlib from 'node:zlib';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { type Bypass, blocked, codename, dialectNames, escaped, saying } from './case.ts';

const encoding = { status: 400, reason: 'request.encoding' };
const json = { status: 400, reason: 'request.invalid_json' };
const mediaType = { status: 415, reason: 'request.media_type' };
const bom = Buffer.from([0xef, 0xbb, 0xbf]);

/** The same request in other bytes, on every dialect. */
export const bytes: readonly Bypass[] = dialectNames.flatMap((endpoint) => {
  const text = JSON.stringify(saying(endpoint, codename));
  const plain = Buffer.from(text);
  const make = (
    name: string,
    raw: string | Buffer,
    expect: Bypass['expect'],
    more: Partial<Bypass> = {},
  ): Bypass => ({
    name: `${endpoint}: ${name}`,
    endpoint,
    raw,
    expect,
    ...more,
  });
  const encoded = (...values: string[]) => ({ headers: values.map((value) => `Content-Encoding: ${value}`) });
  const typed = (...values: string[]) => ({ type: values.map((value) => `Content-Type: ${value}`) });
  const broken = (sequence: readonly number[]) => {
    const at = text.indexOf('nightfall');
    return Buffer.concat([plain.subarray(0, at), Buffer.from(sequence), plain.subarray(at)]);
  };
  return [
    make('gzip', gzipSync(plain), blocked, encoded('gzip')),
    make('GZIP', gzipSync(plain), blocked, encoded('GZIP')),
    make('br', brotliCompressSync(plain), blocked, encoded('br')),
    make('deflate', deflateSync(plain), blocked, encoded('deflate')),
    make(
      'gzip of two members',
      Buffer.concat([gzipSync(plain.subarray(0, 9)), gzipSync(plain.subarray(9))]),
      blocked,
      encoded('gzip'),
    ),
    make('identity', plain, blocked, encoded('identity')),
    make('deflate without its frame', deflateRawSync(plain), encoding, encoded('deflate')),
    make('gzip that is none', plain, encoding, encoded('gzip')),
    make('gzip cut off', gzipSync(plain).subarray(0, -9), encoding, encoded('gzip')),
    make(
      'gzip with more behind it',
      Buffer.concat([gzipSync(Buffer.from('{}')), plain]),
      encoding,
      encoded('gzip'),
    ),
    make('gzip in gzip', gzipSync(gzipSync(plain)), encoding, encoded('gzip, gzip')),
    make('gzip in gzip, named once', gzipSync(gzipSync(plain)), encoding, encoded('gzip')),
    make('two encodings in two headers', gzipSync(plain), encoding, encoded('gzip', 'identity')),
    make('zstd', plain, 'createZstdDecompress' in zlib ? encoding : mediaType, encoded('zstd')),
    make('x-gzip', gzipSync(plain), encoding, encoded('x-gzip')),
    make('an unknown encoding', plain, encoding, encoded('none')),
    make('gzip that is not named', gzipSync(plain), encoding),
    make('a byte order mark', Buffer.concat([bom, plain]), encoding),
    make('a byte order mark in gzip', gzipSync(Buffer.concat([bom, plain])), encoding, encoded('gzip')),
    make('UTF-16', Buffer.from(text, 'utf16le'), json),
    make('UTF-16 with a mark', Buffer.from(`\ufeff${text}`, 'utf16le'), encoding),
    make('a byte that is no UTF-8', broken([0xff]), encoding),
    make('an overlong letter', broken([0xc1, 0xae]), encoding),
    make('half a letter', broken([0xe2, 0x80]), encoding),
    make('a surrogate in UTF-8', broken([0xed, 0xa0, 0x80]), encoding),
    make('a letter beyond Unicode', broken([0xf4, 0x90, 0x80, 0x80]), encoding),
    make('a NUL behind', Buffer.concat([plain, Buffer.from([0])]), json),
    make('every letter as an escape', text.replace(codename, escaped(codename)), blocked),
    make(
      'escapes in capitals',
      text.replace(codename, escaped(codename).toUpperCase().replaceAll('\\U', '\\u')),
      blocked,
    ),
    make(
      'slashes and white space in escapes',
      text.replace(codename, 'project\\n\\t\\u0020nightfall'),
      blocked,
    ),
    make('white space around all', ` \r\n\t${text.replaceAll('":', '" : ')}\n\n`, blocked),
    make('a NUL inside as an escape', text.replace(codename, 'proj\\u0000ect nightfall'), blocked),
    make('a line break in a text', text.replace(codename, 'project\nnightfall'), json),
    make('an escape of one quote', text.replace(codename, "project\\'nightfall"), json),
    make('\\x escapes', text.replace(codename, '\\x70roject nightfall'), json),
    make('quotes of one stroke', text.replaceAll('"', "'"), json),
    make('a comment', `/* */${text}`, json),
    make('a trailing comma', text.replace(/\}$/, ',}'), json),
    make('two documents', `{}${text}`, json),
    make('two lines', `${text}\n${text}`, json),
    make('a list', `[${text}]`, json),
    make('Infinity', text.replace(/\}$/, ',"x":Infinity}'), json),
    make('a number with a 0 before it', text.replace(/\}$/, ',"x":01}'), json),
    make('a number too large', text.replace(/\}$/, ',"x":1e999}'), {
      status: 400,
      reason: 'request.field',
      at: '/x',
    }),
    make('101 levels', text.replace(/\}$/, `,"x":${'['.repeat(100)}${']'.repeat(100)}}`), {
      status: 400,
      reason: 'request.too_deep',
    }),
    make('text/plain', plain, mediaType, typed('text/plain')),
    make('no type', plain, mediaType, { type: [] }),
    make('a form', plain, mediaType, typed('multipart/form-data; boundary=x')),
    make('another charset', plain, mediaType, typed('application/json; charset=utf-16')),
    make('two charsets', plain, mediaType, typed('application/json; charset=utf-8; charset=utf-16')),
    make('UTF-7', plain, mediaType, typed('application/json; charset=utf-7')),
    make('two types in one header', plain, mediaType, typed('application/json, text/plain')),
    make('two types in two headers', plain, mediaType, typed('application/json', 'text/plain')),
    make('a type of its own', plain, mediaType, typed('application/vnd.api+json')),
    make('ndjson', plain, mediaType, typed('application/x-ndjson')),
  ];
});
