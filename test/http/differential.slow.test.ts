import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HttpRequest } from '../../src/http/request.ts';
import type { HttpResponse } from '../../src/http/response.ts';
import { isOldParser } from '../../src/http/strict-head.ts';
import { createRandom, type Random } from '../kit/random.ts';
import { framings, inPackets, mutate, randomRequest, type SeenRequest } from './random-requests.ts';
import { listenForAll } from './serving.ts';

// The server once had a parser of its own, which was stricter than Node's. What it made of the generator's changed
// requests is recorded: a hash of each request that it saw, in the order of the seeds, nothing where it refused
// the first. Whatever it refused is still refused, and what both take is the same.

type Framing = (typeof framings)[number];

// A line for each hundred seeds, and as many lines for each framing.
const recorded = readFileSync(join(import.meta.dirname, 'fixtures', 'verdicts.txt'), 'utf8')
  .trimEnd()
  .split('\n');

function verdictsOf(framing: Framing): readonly string[] {
  const lines = recorded.length / framings.length;
  const first = framings.indexOf(framing) * lines;
  return recorded.slice(first, first + lines).flatMap((line) => line.split(','));
}

// For each framing.
const properCases = 150;

let seen: SeenRequest[] = [];
const listener = await listenForAll(record, { pipelined: 100, drainMs: 100 });

function record(request: HttpRequest, response: HttpResponse): void {
  const { method, target, rawHeaders } = request;
  const pieces: Buffer[] = [];
  const answer = (status: number) => {
    if (response.isClosed) return;
    response.writeHead(status, ['content-length', '0']);
    response.end();
  };
  request.read({
    take: (piece) => pieces.push(piece),
    end: () => {
      const headers = rawHeaders.map((each, i) => (i % 2 === 0 ? each.toLowerCase() : each));
      seen.push({ method, target, headers, body: Buffer.concat(pieces).toString('latin1') });
      answer(200);
    },
    fail: () => answer(400),
  });
}

describe.each(framings)('requests with %s', (framing) => {
  test('are seen as they were sent, however they are cut into packets', async () => {
    for (let seed = 0; seed < properCases; seed += 1) {
      const random = createRandom(seed);
      const requests = Array.from({ length: 1 + random.below(3) }, () => randomRequest(random, framing));
      const packets = inPackets(random, requests.map(({ text }) => text).join(''));

      await send(packets);

      const taken = requests.map((each) => each.seen);
      const refusedAt = taken.findIndex(({ target }) => target.includes('#'));
      expect(seen, `seed ${seed}`).toEqual(refusedAt < 0 ? taken : taken.slice(0, refusedAt));
    }
  }, 60_000);

  // The parser of Node before 20.19.2 reads some of them otherwise, which is why `serve` warns of it.
  test.skipIf(isOldParser)(
    'are never seen where a changed byte made a strict reader refuse them or see others',
    async () => {
      let [taken, refused, excused] = [0, 0, 0];
      for (const [seed, verdict] of verdictsOf(framing).entries()) {
        const random = createRandom(1_000_000 + seed);
        const { text, second } = mixture(random, framing);

        await send(inPackets(random, text));

        const expected = verdict === '' ? [] : verdict.split(' ');
        const hashes = seen.map(hash);
        // Half an end of line before a request changes neither that nor what was before it.
        if (hashes.length === expected.length + 1 && hashes.at(-1) === hash(second)) hashes.pop();
        const isSame = hashes.every((each, i) => each === expected[i]);
        if (!isSame && (hasBlanksMore.test(text) || beginsWithHalfALine.test(text))) excused += 1;
        else
          expect(hashes, `seed ${seed}: ${JSON.stringify(text)}`).toEqual(expected.slice(0, hashes.length));
        if (hashes.length === expected.length) taken += hashes.length;
        else if (isSame) refused += 1;
      }
      expect(taken).toBeGreaterThan(200);
      expect(refused).toBeLessThan(taken);
      expect(excused).toBeLessThan(40);
    },
    120_000,
  );
});

/** A request of that framing that is changed somewhere, before one that is proper. */
function mixture(random: Random, framing: Framing): { readonly text: string; readonly second: SeenRequest } {
  const changed = mutate(random, randomRequest(random, framing).text);
  const proper = randomRequest(random, random.of(framings));
  return { text: changed + proper.text, second: proper.seen };
}

// Node takes more than one blank in a request line for one, as RFC 9112, section 3 allows, and half an end of line
// before the first for a whole one, and shows no trace of either.
const hasBlanksMore = / {2}.*HTTP\/1\.[01]\r$|^[A-Z]+ {2}/m;
const beginsWithHalfALine = /^(?:\r\n)*(?:\r(?!\n)|\n)/;

function hash({ method, target, headers, body }: SeenRequest): string {
  const text = JSON.stringify([method, target, headers, body]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** Sends packets and our FIN, and waits until the connection is over. */
async function send(packets: readonly Buffer[]): Promise<void> {
  seen = [];
  const client = connect({ port: listener.port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  client.resume();
  let isClosed = false;
  const closed = new Promise<void>((resolve) =>
    client
      .on('error', () => undefined)
      .on('close', () => {
        isClosed = true;
        resolve();
      }),
  );
  for (const packet of packets) {
    if (isClosed) break;
    // The next one leaves when this one has been read, or they would be one.
    await new Promise<void>((resolve) =>
      client.write(packet, () => setImmediate(() => setImmediate(resolve))),
    );
  }
  client.end();
  await closed;
}
