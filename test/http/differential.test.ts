import { once } from 'node:events';
import { createServer as createNodeServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Connection } from '../../src/http/connection.ts';
import type { HttpRequest } from '../../src/http/request.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import { Turn } from '../../src/http/tick.ts';
import { createRandom, type Random } from '../policy/search/random.ts';
import { framings, inPackets, mutate, randomRequest, type SeenRequest } from './random-requests.ts';

// Node's parser is read by more attackers than ours: what it refuses we refuse, and what both take is the same.

// For each framing.
const properCases = 150;
const changedCases = 400;
const headBytes = 16 * 1024;

/** The whole requests that a server has seen on the last connection. */
interface Reader {
  readonly server: Server;
  seen: SeenRequest[];
}

let node: Reader;
let own: Reader;

beforeAll(async () => {
  node = readWithNode();
  own = readWithOwn();
  for (const { server } of [node, own]) await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterAll(() => {
  for (const { server } of [node, own]) server.close();
});

describe.each(framings)('requests with %s', (framing) => {
  test('are seen as they were sent, however they are cut into packets', async () => {
    for (let seed = 0; seed < properCases; seed += 1) {
      const random = createRandom(seed);
      const requests = Array.from({ length: 1 + random.below(3) }, () => randomRequest(random, framing));
      const packets = inPackets(random, requests.map(({ text }) => text).join(''));

      await send(own, packets);

      expect(own.seen, `seed ${seed}`).toEqual(requests.map(({ seen }) => seen));
    }
  });

  test('are never seen where a changed byte makes Node refuse them or see others', async () => {
    for (let seed = 0; seed < changedCases; seed += 1) {
      const random = createRandom(1_000_000 + seed);
      const text = mixture(random, framing);
      const packets = inPackets(random, text);

      await send(node, packets);
      await send(own, packets);

      if (isStricterInNode(text)) continue;
      expect(node.seen.slice(0, own.seen.length), `seed ${seed}: ${JSON.stringify(text)}`).toEqual(own.seen);
    }
  });
});

/** A request of that framing that is changed somewhere, before one that is proper. */
function mixture(random: Random, framing: (typeof framings)[number]): string {
  return (
    mutate(random, randomRequest(random, framing).text) + randomRequest(random, random.of(framings)).text
  );
}

/**
 * What RFCs 9112 and 3986 allow and Node does not: a tab behind a length or a coding, framing headers as trailers,
 * which we drop, a digit in a scheme. And extensions of chunks, which nobody reads, need not follow their grammar.
 */
function isStricterInNode(text: string): boolean {
  const hasTab = /(?:content-length|transfer-encoding):[^\r\n]*\t\r?\n/i.test(text);
  const hasFramingTrailer =
    /\r\n0+\r\n(?:[^\r\n]+\r\n)*(?:content-length|transfer-encoding|connection):/i.test(text);
  const hasOddExtension = /^[0-9a-f]+;(?![a-z]+(?:=(?:[a-z]+|"[a-z;]*"))?\r$)/im.test(text);
  const hasOddScheme = /^[A-Z]+ [a-z]+[0-9+.-][^ /]*:\/\//m.test(text);
  return hasOddScheme || hasTab || hasFramingTrailer || hasOddExtension;
}

/** Sends packets and our FIN, and waits until the connection is over. */
async function send(reader: Reader, packets: readonly Buffer[]): Promise<void> {
  reader.seen = [];
  const { port } = reader.server.address() as AddressInfo;
  const accepted = once(reader.server, 'connection');
  const client = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true }).resume();
  const closed = new Promise<void>((resolve) =>
    client.on('error', () => undefined).on('close', () => resolve()),
  );
  const [socket] = (await accepted) as [Socket];
  let wasRead: () => void = () => undefined;
  socket.on('data', () => wasRead()).on('close', () => wasRead());
  for (const packet of packets) {
    if (socket.destroyed) break;
    // The next one leaves when this one has been read, or they would be one.
    const read = new Promise<void>((resolve) => {
      wasRead = resolve;
    });
    client.write(packet);
    await read;
  }
  client.end();
  await closed;
}

function readWithOwn(): Reader {
  const reader: Reader = { server: createServer({ noDelay: true }), seen: [] };
  const onRequest = (request: HttpRequest, response: HttpResponse) => {
    const { method, target, rawHeaders } = request;
    const pieces: Buffer[] = [];
    const answer = (status: number) => {
      response.writeHead(status, ['content-length', '0']);
      response.end();
    };
    request.read({
      take: (piece) => pieces.push(piece),
      end: () => {
        reader.seen.push({ method, target, headers: inLowerCase(rawHeaders), body: textOf(pieces) });
        answer(200);
      },
      fail: () => answer(400),
    });
  };
  const connections = {
    limits: { headMs: 10_000, headBytes, pipelined: 100 },
    turn: new Turn(),
    isDraining: false,
    dateLine: () => '',
    onRequest,
    onUpgrade: undefined,
    closed: () => undefined,
  };
  reader.server.on('connection', (socket: Socket) => new Connection(socket, connections));
  return reader;
}

function readWithNode(): Reader {
  const server = createNodeServer({ noDelay: true, maxHeaderSize: headBytes, requireHostHeader: false });
  const reader: Reader = { server, seen: [] };
  server.on('request', (request, response) => {
    const { method = '', url: target = '', rawHeaders } = request;
    const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host');
    const isChunked = request.headers['transfer-encoding']?.toLowerCase() === 'chunked';
    // Node leaves these to whoever listens.
    if (hosts.length > 1 || (request.headers['transfer-encoding'] !== undefined && !isChunked)) {
      request.socket.destroy();
      return;
    }
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('error', () => undefined); // it is refused
    request.on('end', () => {
      reader.seen.push({ method, target, headers: inLowerCase(rawHeaders), body: textOf(pieces) });
      response.end();
    });
  });
  return reader;
}

function inLowerCase(rawHeaders: readonly string[]): string[] {
  return rawHeaders.map((each, i) => (i % 2 === 0 ? each.toLowerCase() : each));
}

function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString('latin1');
}
