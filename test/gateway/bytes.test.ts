import { describe, expect, test } from 'vitest';
import { dialectCases, json, stream } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { type ScriptedHost, sha256 } from '../kit/host.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { head, type RawAnswer, sendRaw } from '../kit/raw.ts';

// Odd whitespace, key order, an unknown field, an integer above 2^53, a float's own spelling, escapes that a
// serialiser would write differently, and characters of two, three and four bytes.
const oddities =
  '"zz_unknown" : {"b":1,"a":[ ]},\t"big": 12345678901234567890, "float":1.0e+2, "esc":"\\u00e9\\/\\u0041",\r\n "multi":"é東👋"';

function oddBody(model: string, fillBytes: number): Buffer {
  const text = `\n {"messages" :[{"content":"${'é東👋 '.repeat(Math.ceil(fillBytes / 10))}","role":"user"}] , ${oddities},"max_tokens":64,  "model": "${model}","input":"x" }\n`;
  return Buffer.from(text);
}

const streamedBody = (model: string) =>
  Buffer.from(oddBody(model, 10).toString().replace('"max_tokens"', '"stream":true,"max_tokens"'));

/** Cuts bytes at places that fall into characters, escapes and names. */
function cutOddly(bytes: Buffer): Buffer[] {
  const sizes = [1, 2, 3, 5, 7, 11, 13];
  const pieces: Buffer[] = [];
  let at = 0;
  for (let i = 0; at < bytes.length; i += 1) {
    // Small pieces first; a large body would take for ever in them.
    const size = i < 200 ? (sizes[i % sizes.length] ?? 1) : 65_537;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

const { anthropic, openai, gateway } = await startHosts(json('{}'), twoHosts);

function hostOf(dialect: string): ScriptedHost {
  return dialect === 'messages' ? anthropic : openai;
}

/** Posts a body in pieces, by default with its length. */
function send(path: string, pieces: readonly (string | Buffer)[], framing?: string): Promise<RawAnswer> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const lines = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${gateway.key}`];
  const last = framing ?? `Content-Length: ${length}`;
  return sendRaw(gateway.port, head(...lines, 'Content-Type: application/json', last), ...pieces);
}

const sendInPieces = (path: string, body: Buffer) => send(path, cutOddly(body));

describe.each(dialectCases)('$dialect', ({ dialect, path, model, plain, events }) => {
  test.each([
    ['1 KB', 1_000],
    ['5 MB', 5_000_000],
  ])('a body of %s reaches the provider as it was sent, whatever pieces it came in', async (_name, size) => {
    const host = hostOf(dialect);
    host.script(json(plain));
    const body = oddBody(model, size);

    const answer = await sendInPieces(path, body);

    expect(answer.status).toBe(200);
    expect(host.requests.at(-1)?.sha256).toBe(sha256(body));
    expect(answer.headers.get('x-gateway-body')).toEqual(['exact']);
  });

  test('a chunked body reaches the provider as it was sent', async () => {
    const host = hostOf(dialect);
    host.script(json(plain));
    const body = oddBody(model, 1_000);
    const chunks = cutOddly(body).map((piece) =>
      Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
    );

    const answer = await send(path, [...chunks, '0\r\n\r\n'], 'Transfer-Encoding: chunked');

    expect(answer.status).toBe(200);
    expect(host.requests.at(-1)?.sha256).toBe(sha256(body));
  });

  test('a renamed model changes the bytes of its name and no others', async () => {
    const host = hostOf(dialect);
    host.script(json(plain));
    const alias = dialect === 'messages' ? 'renamed-claude' : 'renamed-gpt';

    const answer = await sendInPieces(path, oddBody(alias, 1_000));

    expect(host.requests.at(-1)?.sha256).toBe(sha256(oddBody(model, 1_000)));
    expect(answer.headers.get('x-gateway-body')).toEqual(['spliced']);
    expect(answer.headers.get('x-gateway-model')).toEqual([model]);
  });

  test.each([
    ['1 KB', 1_000],
    ['5 MB', 5_000_000],
  ])('an answer of %s reaches the client as the provider sent it', async (_name, size) => {
    const bytes = Buffer.from(
      ` {${oddities}, "filler" : "${'é東👋 '.repeat(Math.ceil(size / 10))}",${plain.slice(1)}\n`,
    );
    hostOf(dialect).script((response) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      for (const piece of cutOddly(bytes)) response.write(piece);
      response.end();
    });

    const answer = await sendInPieces(path, oddBody(model, 10));

    expect(answer.status).toBe(200);
    expect(answer.isWhole).toBe(true);
    expect(sha256(answer.body)).toBe(sha256(bytes));
    expect(answer.headers.get('content-type')).toEqual(['application/json; charset=utf-8']);
  });

  test('a stream reaches the client as the provider sent it, cut anywhere', async () => {
    const bytes = Buffer.from(`: a comment\n\n${events.join('')}`);
    hostOf(dialect).script(stream(cutOddly(bytes)));
    const answer = await sendInPieces(path, streamedBody(model));

    expect(answer.status).toBe(200);
    expect(answer.isWhole).toBe(true);
    expect(sha256(answer.body)).toBe(sha256(bytes));
    expect(answer.headers.get('content-type')).toEqual(['text/event-stream']);
    expect(answer.headers.get('cache-control')).toEqual(['no-cache']);
  });

  test('a stream of several MB in pairs of CR LF reaches the client as it was sent', async () => {
    const [first = '', ...rest] = events;
    const many = Array.from({ length: 10_000 }, () => events[1] ?? '');
    const bytes = Buffer.from([first, ...many, ...many, ...rest].join('').replaceAll('\n', '\r\n'));
    hostOf(dialect).script(stream(cutOddly(bytes)));
    const answer = await sendInPieces(path, streamedBody(model));

    expect(bytes.length).toBeGreaterThan(2_000_000);
    expect(answer.isWhole).toBe(true);
    expect(sha256(answer.body)).toBe(sha256(bytes));
  });
});

test('a compressed body is forwarded decompressed, without its content-encoding', async () => {
  const { gzipSync, brotliCompressSync, deflateSync } = await import('node:zlib');
  const host = hostOf('chat');
  const [, chat] = dialectCases;
  host.script(json(chat.plain));
  const body = oddBody('gpt-test', 1_000);

  for (const [encoding, packed] of [
    ['gzip', gzipSync(body)],
    ['br', brotliCompressSync(body)],
    ['deflate', deflateSync(body)],
  ] as const) {
    const framing = `Content-Encoding: ${encoding}\r\nContent-Length: ${packed.length}`;
    const answer = await send(chat.path, cutOddly(packed), framing);

    const received = host.requests.at(-1);
    expect(answer.status).toBe(200);
    expect(received?.sha256).toBe(sha256(body));
    expect(received?.headers.filter(([name]) => name === 'content-encoding')).toEqual([]);
  }
});
