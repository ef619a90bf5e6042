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

/** Posts a body in pieces. */
function send(path: string, body: Buffer): Promise<RawAnswer> {
  const lines = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${gateway.key}`];
  const more = ['Content-Type: application/json', `Content-Length: ${body.length}`];
  return sendRaw(gateway.port, head(...lines, ...more), ...cutOddly(body));
}

describe.each(dialectCases)('$dialect', ({ dialect, path, model, plain, events }) => {
  const host = hostOf(dialect);

  test('a body of 5 MB reaches the provider as it was sent, in whatever pieces', async () => {
    host.script(json(plain));
    const body = oddBody(model, 5_000_000);

    const answer = await send(path, body);

    expect(answer.status).toBe(200);
    expect(host.requests.at(-1)?.sha256).toBe(sha256(body));
    expect(answer.headers.get('x-gateway-body')).toEqual(['exact']);
  });

  test('an answer of 5 MB reaches the client as the provider sent it', async () => {
    const bytes = Buffer.from(` {${oddities}, "filler" : "${'é東👋 '.repeat(500_000)}",${plain.slice(1)}\n`);
    host.script((response) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      for (const piece of cutOddly(bytes)) response.write(piece);
      response.end();
    });

    const answer = await send(path, oddBody(model, 10));

    expect([answer.status, answer.isWhole]).toEqual([200, true]);
    expect(sha256(answer.body)).toBe(sha256(bytes));
    expect(answer.headers.get('content-type')).toEqual(['application/json; charset=utf-8']);
  });

  const [first = '', second = '', ...rest] = events;
  const many = Array.from({ length: 20_000 }, () => second);

  test.each([
    ['with a comment', `: a comment\n\n${events.join('')}`],
    ['of several MB in pairs of CR LF', [first, ...many, ...rest].join('').replaceAll('\n', '\r\n')],
  ])('a stream %s reaches the client as the provider sent it, cut anywhere', async (_what, text) => {
    const bytes = Buffer.from(text);
    host.script(stream(cutOddly(bytes)));

    const answer = await send(path, streamedBody(model));

    expect([answer.status, answer.isWhole]).toEqual([200, true]);
    expect(sha256(answer.body)).toBe(sha256(bytes));
    expect(answer.headers.get('content-type')).toEqual(['text/event-stream']);
    expect(answer.headers.get('cache-control')).toEqual(['no-cache']);
    expect(answer.headers.get('x-accel-buffering')).toEqual(['no']);
    expect(answer.headers.get('transfer-encoding')).toEqual(['chunked']);
  });
});
