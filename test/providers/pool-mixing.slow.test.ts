import { expect, test } from 'vitest';
import { Pool } from '../../src/providers/transport/pool.ts';
import { createRandom } from '../kit/random.ts';
import { type RawRequest, startRawHost } from '../kit/raw-host.ts';
import { scale } from '../kit/scale.ts';
import { Reader, unscrubbed, until } from './wire.ts';

// The one thing that must never happen: somebody gets bytes of another's answer. A host answers each request
// with its number, in every framing, cut at random, and does all it must not; those who ask leave at random.

const exchanges = scale(1_000, 3_000);
const atOnce = 40;

type Random = () => number;

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/** The body that a request with this number gets; its length is in a header. */
function bodyOf(id: string, times: number): string {
  return `<${id}>`.repeat(times);
}

function chunked(random: Random, body: string): string {
  let bytes = '';
  for (let at = 0; at < body.length; ) {
    const size = 1 + Math.floor(random() * (random() < 0.5 ? 10 : 5_000));
    const piece = body.slice(at, at + size);
    bytes += `${piece.length.toString(16)}${pick(random, ['', ';a=b', ';x'])}\r\n${piece}\r\n`;
    at += size;
  }
  return `${bytes}0\r\n${pick(random, ['', `x-trailer: <evil>\r\n`])}\r\n`;
}

interface Script {
  readonly bytes: string;
  readonly behind: 'stay' | 'end' | 'reset';
}

function scriptFor(random: Random, id: string): Script {
  const times = random() < 0.1 ? Math.floor(random() * 20_000) : Math.floor(random() * 30);
  const body = bodyOf(id, times);
  const own = `request-id: ${id}\r\nx-ratelimit-times: ${times}\r\n`;
  const interim = random() < 0.1 ? 'HTTP/1.1 103 Early Hints\r\nrequest-id: evil\r\n\r\n' : '';
  const head = `${interim}HTTP/${random() < 0.9 ? '1.1' : '1.0'} 200 OK\r\n${own}`;
  const connection =
    random() < 0.7 ? '' : `connection: ${pick(random, ['keep-alive', 'keep-alive', 'close'])}\r\n`;
  const behind = random() < 0.9 ? 'stay' : pick(random, ['end', 'reset'] as const);
  switch (pick(random, ['length', 'length', 'length', 'chunks', 'chunks', 'chunks', 'none', 'end'])) {
    case 'length':
      return { bytes: `${head}${connection}content-length: ${body.length}\r\n\r\n${body}`, behind };
    case 'chunks':
      return {
        bytes: `${head}${connection}transfer-encoding: chunked\r\n\r\n${chunked(random, body)}`,
        behind,
      };
    case 'end':
      return { bytes: `${head}\r\n${body}`, behind: 'end' };
    default:
      return {
        bytes: `HTTP/1.1 204 No Content\r\nrequest-id: ${id}\r\nx-ratelimit-times: 0\r\n${connection}\r\n`,
        behind,
      };
  }
}

const extras = [
  'x',
  '\r\n',
  '0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nrequest-id: evil\r\nx-ratelimit-times: 1\r\ncontent-length: 6\r\n\r\n<evil>',
  'HTTP/1.1 200 OK\r\nrequest-id: evil\r\nx-ratelimit-times: 1\r\nconnection: close\r\n\r\n<evil>',
  'HTTP/1.1 204 No Content\r\nrequest-id: evil\r\nx-ratelimit-times: 0\r\n\r\n',
];

/** Answers as the script says, with something behind it now and then, or cut. */
async function answer(random: Random, { path, socket }: RawRequest): Promise<void> {
  if (random() < 0.01) return void socket.destroy();
  const { bytes: whole, behind } = scriptFor(random, path.slice(1));
  const isLast = behind === 'end';
  // In one write with the last bytes: what comes later, nobody could tell from an answer.
  const extra = !isLast && random() < 0.15 ? pick(random, extras) : '';
  const isTorn = random() < 0.05;
  const bytes = isTorn ? whole.slice(0, Math.floor(random() * whole.length)) : whole + extra;
  const isCut = random() < 0.5;
  for (let at = 0; at < bytes.length; ) {
    const left = bytes.length - at;
    const next = Math.ceil(random() * (random() < 0.5 ? 20 : 40_000));
    const size = !isCut || left - next <= extra.length ? left : next;
    if (socket.destroyed) return;
    socket.write(bytes.slice(at, at + size), 'latin1');
    at += size;
    if (at < bytes.length) await until(() => true);
  }
  if (isTorn || behind === 'reset') socket.resetAndDestroy();
  else if (isLast) socket.end();
}

test("no exchange gets another's bytes, and none waits for ever", async () => {
  const random = createRandom(1).next;
  const stalled = new Set<string>();
  const host = await startRawHost((request) => {
    if (random() < 0.003) stalled.add(request.path.slice(1));
    else void answer(random, request);
  });
  const pool = new Pool(host.url, { timeouts: { connectMs: 60_000, headersMs: 60_000, idleMs: 60_000 } });
  const [strangers, hung]: [string[], string[]] = [[], []];
  const counts = { complete: 0, failed: 0, left: 0 };
  let asked = 0;

  /** One exchange, which is read at any pace and may be given up at any moment. */
  async function exchange(id: string): Promise<void> {
    const leaves = random() < 0.15;
    const pauses = random() < 0.2;
    const reader = new Reader((_piece, { upstream }) => {
      if (leaves && random() < 0.3) upstream.abort();
      if (!pauses || random() < 0.5) return true;
      setImmediate(() => upstream.resume());
      return false;
    });
    const following: Promise<void>[] = [];
    const end = reader.end.bind(reader);
    reader.end = () => {
      end();
      // Not even a microtask later.
      if (random() < 0.3) following.push(ask());
    };
    const body = Buffer.alloc(random() < 0.1 ? Math.floor(random() * 300_000) : 10);
    pool.send({ method: 'POST', path: `/${id}`, headers: [], body }, reader.upstream);
    let turns = leaves ? Math.floor(random() * 6) : 20_000;
    const isWaitedFor = until(() => {
      turns -= 1;
      return reader.isOver || turns < 0 || stalled.has(id);
    });
    // Whoever goes on at once asks in the very turn in which the answer ended.
    await (random() < 0.5 ? Promise.race([reader.outcome, isWaitedFor]) : isWaitedFor);
    if (!reader.isOver && !leaves && !stalled.has(id)) hung.push(id);
    reader.upstream.abort();
    const before = reader.text;
    if (!reader.isOver) await until(() => true);
    if (!(await isOwn(id, reader)) || reader.text !== before) {
      strangers.push(`${id} ${reader.upstream.status}: ${reader.text.slice(0, 200)}`);
    }
    await Promise.all(following);
  }

  async function isOwn(id: string, reader: Reader): Promise<boolean> {
    const outcome = reader.isOver ? await reader.outcome : undefined;
    const isComplete = outcome !== undefined && outcome.failure === undefined;
    counts[isComplete ? 'complete' : outcome === undefined ? 'left' : 'failed'] += 1;
    if (reader.upstream.status === 0) return reader.text === '' && !isComplete;
    const headers: string[] = [];
    reader.upstream.headers.passOn(headers, unscrubbed);
    const times = Number(headers[3]);
    if (headers.length !== 4 || headers[0] !== 'request-id' || headers[1] !== id) return false;
    const expected = bodyOf(id, times);
    return isComplete ? reader.text === expected : expected.startsWith(reader.text);
  }

  function ask(): Promise<void> {
    asked += 1;
    return exchange(String(asked));
  }

  async function keepAsking(): Promise<void> {
    while (asked < exchanges) await ask();
  }
  await Promise.all(Array.from({ length: atOnce }, keepAsking));

  expect({ strangers, hung }).toEqual({ strangers: [], hung: [] });
  expect(counts.complete).toBeGreaterThan(exchanges / 2);
  expect(host.connections()).toBeLessThan(exchanges * 0.7); // else nothing was shared
  pool.close();
}, 3_600_000);
