import { type Bypass, blocked, codename, dialectNames, saying } from './case.ts';

const paths = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
};
const unknown = { status: 404, reason: 'endpoint.unknown' };
const framing = { status: 400, reason: 'request.framing' };
const method = { status: 405, reason: 'method.not_allowed' };

const spellings: readonly (readonly [string, (path: string) => string])[] = [
  ['a slash behind', (path) => `${path}/`],
  ['two slashes before', (path) => `/${path}`],
  ['two slashes inside', (path) => path.replace('/v1/', '/v1//')],
  ['a dot', (path) => path.replace('/v1/', '/v1/./')],
  ['two dots', (path) => path.replace('/v1/', '/v1/x/../')],
  ['encoded dots', (path) => path.replace('/v1/', '/v1/x/%2e%2e/')],
  ['an encoded letter', (path) => `${path.slice(0, -1)}%73`],
  ['an encoded slash', (path) => path.replace('/v1/', '/v1%2f')],
  ['a backslash', (path) => path.replace('/v1/', '/v1\\')],
  ['capitals', (path) => path.toUpperCase()],
  ['a parameter', (path) => `${path};x=1`],
  ['a NUL in percent', (path) => `${path}%00`],
  ['a blank in percent', (path) => `${path}%20`],
  ['an ending', (path) => `${path}.json`],
  ['the prefix twice', (path) => `/v1${path}`],
  ['no prefix', (path) => path.slice(3)],
  ['another version', (path) => path.replace('/v1/', '/v2/')],
  ['an absolute form', (path) => `http://127.0.0.1${path}`],
  ['a host in the path', (path) => `//127.0.0.1${path}`],
  ['a fragment', (path) => `${path}#x`],
  ['a query in percent', (path) => `${path}%3fbeta=true`],
];

/** Spellings of a path, methods and framings that the gateway and a host could take differently. */
export const pathsAndFraming: readonly Bypass[] = [
  ...dialectNames.flatMap((endpoint) =>
    spellings.map(
      ([how, spell]): Bypass => ({
        name: `${endpoint}: ${how}`,
        endpoint,
        target: spell(paths[endpoint]),
        body: saying(endpoint, codename),
        // A fragment is none of a request's: the server refuses it before there is a path.
        expect: how === 'a fragment' ? framing : unknown,
      }),
    ),
  ),
  ...dialectNames.flatMap((endpoint): readonly Bypass[] => {
    const body = JSON.stringify(saying(endpoint, codename));
    const size = Buffer.byteLength(body);
    const make = (name: string, more: Partial<Bypass>, expect: Bypass['expect']): Bypass => ({
      name: `${endpoint}: ${name}`,
      endpoint,
      raw: body,
      expect,
      ...more,
    });
    const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
    return [
      make('GET with a body', { method: 'GET' }, method),
      make('PUT', { method: 'PUT' }, method),
      make('PATCH', { method: 'PATCH' }, method),
      make(
        'chunks of a byte each',
        { framing: ['Transfer-Encoding: chunked'], raw: `${[...body].map(chunk).join('')}0\r\n\r\n` },
        blocked,
      ),
      make(
        'chunks with extensions',
        {
          framing: ['Transfer-Encoding: chunked'],
          raw: `${size.toString(16)};x="0"\r\n${body}\r\n0\r\n\r\n`,
        },
        blocked,
      ),
      make(
        'trailers',
        {
          framing: ['Transfer-Encoding: chunked', 'Trailer: x-api-key'],
          raw: `${chunk(body)}0\r\nx-api-key: other\r\n\r\n`,
        },
        blocked,
      ),
      make(
        'a length and chunks',
        { framing: [`Content-Length: ${size}`, 'Transfer-Encoding: chunked'], raw: `0\r\n\r\n${body}` },
        framing,
      ),
      make('two lengths', { framing: ['Content-Length: 2', `Content-Length: ${size}`] }, framing),
      make('a list of lengths', { framing: [`Content-Length: ${size}, ${size}`] }, framing),
      make('an obscure transfer coding', { framing: ['Transfer-Encoding: xchunked'] }, framing),
      make(
        'chunked with a tab',
        { framing: ['Transfer-Encoding:\tchunked, identity'], raw: `${chunk(body)}0\r\n\r\n` },
        framing,
      ),
      make('gzip as a transfer coding', { framing: ['Transfer-Encoding: gzip, chunked'] }, framing),
      make('a blank before the colon', { framing: [`Content-Length : ${size}`] }, framing),
      make('a folded header', { headers: ['X-A: b', ' c'] }, framing),
      make('waiting for a 100', { headers: ['Expect: 100-continue'] }, blocked),
      make('an upgrade to h2c', { headers: ['Connection: Upgrade', 'Upgrade: h2c'] }, blocked),
    ];
  }),
];
