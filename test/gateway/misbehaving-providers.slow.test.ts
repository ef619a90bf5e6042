import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dialectCases, requestFor } from '../kit/answers.ts';
import { type BoundedAnswer, postBounded } from '../kit/bounded-client.ts';
import { secrets, startGateway, type TestGateway } from '../kit/gateway.ts';
import {
  type MisbehavingHost,
  type Misdeed,
  startMisbehavingHost,
  type Victim,
} from '../kit/misbehaving-host.ts';

// Whatever a provider does, each client hears of it in its own dialect and in time, memory stays bounded, the
// next request is fine, and the provider's key is in nothing that a client sees.

const names = ['messages', 'chat', 'responses'] as const;
const pairs = names.flatMap((client) => names.map((provider) => ({ client, provider })));
type Pair = (typeof pairs)[number];
type Form = 'plain' | 'streamed';

const idleMs = 1_000;
const totalMs = 5_000;
// What a fault may take from request to end beyond its own time: the machine may be busy.
const slackMs = 10_000;
const memoryBytes = 160 * 1024 * 1024;

let host: MisbehavingHost;
let elsewhere: MisbehavingHost;
let gateway: TestGateway;

beforeAll(async () => {
  [host, elsewhere] = await Promise.all([startMisbehavingHost(), startMisbehavingHost()]);
  const settings = `retries: { attempts: 1 }, breaker: { failures: 1000 }, timeouts: { connect: 1s, headers: ${idleMs}ms, idle: ${idleMs}ms, total: ${totalMs}ms }`;
  const at = (url: string, suffix: string) => `
  messages${suffix}: { dialect: anthropic, base_url: "${url}", api_key: "\${PROVIDER_KEY}", endpoints: [messages], ${settings} }
  chat${suffix}: { dialect: openai, base_url: "${url}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [chat], ${settings} }
  responses${suffix}: { dialect: openai, base_url: "${url}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [responses], ${settings} }`;
  const models = names.flatMap((name) =>
    ['', '-gone'].map((suffix) => `  - { match: at-${name}${suffix}, provider: ${name}${suffix} }`),
  );
  gateway = await startGateway(`
providers:${at(host.url, '')}${at(`http://127.0.0.1:${await closedPort()}`, '-gone')}
models:
${models.join('\n')}
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
});

afterAll(async () => {
  await Promise.all([host.close(), elsewhere.close()]);
  await gateway.stop();
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function caseOf(name: Pair['client']) {
  const found = dialectCases.find(({ dialect }) => dialect === name);
  if (found === undefined) throw new Error(`there is no dialect ${name}`);
  return found;
}

function ask({ client, provider }: Pair, form: Form, suffix = ''): Promise<BoundedAnswer> {
  const request = requestFor(client, `at-${provider}${suffix}`, form === 'streamed' ? { stream: true } : {});
  return postBounded(gateway, caseOf(client).path, request);
}

// ------------------------------------------------------------------ what a host may do

function headOf(victim: Victim, more: readonly string[] = [], status = '200 OK'): string {
  const type = victim.isStream ? 'text/event-stream' : 'application/json';
  return `${[`HTTP/1.1 ${status}`, `content-type: ${type}`, ...more].join('\r\n')}\r\n\r\n`;
}

function chunk(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

const chunked = 'transfer-encoding: chunked';
const hugeEvent = chunk(`data: {"x":"${'x'.repeat(10_000_000)}"}\n\n`);
const lastChunk = '0\r\n\r\n';

function bodyOf({ dialect, isStream }: Victim): string {
  const { events, plain } = caseOf(dialect);
  return isStream ? events.join('') : plain;
}

/** The first events of a stream, or the first half of a whole answer. */
function beginning({ dialect, isStream }: Victim): string {
  const { events, plain } = caseOf(dialect);
  return isStream ? events.slice(0, 2).join('') : plain.slice(0, plain.length / 2);
}

const behaves: Misdeed = (victim) => {
  const body = bodyOf(victim);
  return victim.write(`${headOf(victim, [`content-length: ${Buffer.byteLength(body)}`])}${body}`);
};

async function begin(victim: Victim): Promise<void> {
  await victim.write(headOf(victim, [chunked]));
  await victim.write(chunk(beginning(victim)));
}

function error(status: number): Misdeed {
  return (victim) => {
    const body = `{"error":{"type":"api_error","message":"no, not with ${victim.credential}"}}`;
    const lines = ['content-type: application/json', 'retry-after: 3', `content-length: ${body.length}`];
    return victim.write(`HTTP/1.1 ${status} No\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  };
}

/** One event of the host's dialect that says something, for streams without an end. */
function wordEvent({ dialect }: Victim): string {
  return caseOf(dialect).events.find((event) => event.includes('Grüße')) ?? '';
}

// ------------------------------------------------------------------ what the clients must hear

interface Expected {
  readonly status: number;
  /** Of the gateway's own errors, or of the event that ends a stream. */
  readonly reason?: string;
}

const fine: Expected = { status: 200 };
const broken: Expected = { status: 502, reason: 'provider.broken_response' };
const late: Expected = { status: 504, reason: 'provider.timeout' };
const cutBroken: Expected = { status: 200, reason: 'provider.broken_response' };
const cutLate: Expected = { status: 200, reason: 'provider.timeout' };

interface Fault {
  readonly name: string;
  readonly does: Misdeed;
  readonly plain: Expected;
  readonly streamed: Expected | 'the provider’s own error';
  /** The clients one after the other, because each takes much. */
  readonly oneByOne?: boolean;
  /** It sends so much that on a busy machine its time may be over before its size is too large. */
  readonly mayBeLate?: boolean;
}

const faults: readonly Fault[] = [
  { name: 'accepts and closes', does: ({ socket }) => socket.end(), plain: broken, streamed: broken },
  { name: 'resets at once', does: ({ socket }) => socket.resetAndDestroy(), plain: broken, streamed: broken },
  {
    name: 'resets after its headers',
    does: async (victim) => {
      await victim.write(headOf(victim, [chunked]));
      victim.socket.resetAndDestroy();
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'resets in the middle',
    does: async (victim) => {
      await begin(victim);
      victim.socket.resetAndDestroy();
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'closes in the middle',
    does: async (victim) => {
      await begin(victim);
      victim.socket.end();
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'ends its body properly, in the middle of the answer',
    does: async (victim) => {
      await begin(victim);
      await victim.write(lastChunk);
    },
    plain: broken,
    streamed: cutBroken,
  },
  { name: 'stalls before its headers', does: () => undefined, plain: late, streamed: late },
  {
    name: 'stalls in its headers',
    does: ({ write }) => write('HTTP/1.1 200 OK\r\nx-'),
    plain: late,
    streamed: late,
  },
  { name: 'stalls in the middle', does: begin, plain: late, streamed: cutLate },
  {
    name: 'drips without end',
    does: async (victim) => {
      await victim.write(headOf(victim, [chunked]));
      const timer = setInterval(() => victim.socket.write(chunk(victim.isStream ? ':\n' : ' ')), 50);
      victim.socket.once('close', () => clearInterval(timer));
    },
    plain: late,
    streamed: cutLate,
  },
  ...[500, 503, 429, 529].map((status) => ({
    name: `answers ${status} and repeats the key`,
    does: error(status),
    plain: { status },
    streamed: { status },
  })),
  ...[401, 403].map((status) => ({
    name: `answers ${status} and repeats the key`,
    does: error(status),
    plain: { status: 502, reason: 'provider.credentials_rejected' },
    streamed: { status: 502, reason: 'provider.credentials_rejected' },
  })),
  {
    name: 'ends its stream with an error that repeats the key',
    does: async (victim) => {
      const message = `no, not with ${victim.credential}`;
      if (!victim.isStream) return error(500)(victim);
      await begin(victim);
      await victim.write(chunk(`event: error\ndata: {"type":"error","error":{"message":"${message}"}}\n\n`));
      return victim.write(lastChunk);
    },
    plain: { status: 500 },
    streamed: 'the provider’s own error',
  },
  {
    name: 'answers with an error of 1 MB',
    does: async (victim) => {
      const body = 'x'.repeat(1_000_000);
      await victim.write(`HTTP/1.1 500 No\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    },
    plain: broken,
    streamed: broken,
  },
  {
    name: 'answers with broken JSON',
    does: async (victim) => {
      const body = victim.isStream ? 'data: {"id":"x","choi\n\n' : '{"id":"x","choi';
      await victim.write(`${headOf(victim, [chunked])}${chunk(body)}${lastChunk}`);
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'announces more than it sends',
    does: async (victim) => {
      const body = bodyOf(victim);
      await victim.write(`${headOf(victim, [`content-length: ${Buffer.byteLength(body) + 10}`])}${body}`);
      victim.socket.end();
    },
    plain: broken,
    streamed: fine, // its last event says that it is whole
  },
  {
    name: 'announces less than it sends',
    does: async (victim) => {
      const body = bodyOf(victim);
      const announced = Math.floor(Buffer.byteLength(beginning(victim)) - 20);
      await victim.write(`${headOf(victim, [`content-length: ${announced}`])}${body}`);
    },
    plain: broken,
    streamed: cutBroken,
  },
  {
    name: 'sends headers of 40 KB',
    does: async (victim) => void (await victim.write(headOf(victim, [`x-a: ${'a'.repeat(40_000)}`]))),
    plain: broken,
    streamed: broken,
  },
  {
    name: 'sends a body of 200 MB in chunks',
    does: async (victim) => {
      await victim.write(headOf(victim, [chunked]));
      const piece = chunk(' '.repeat(1_000_000));
      for (let i = 0; i < 200; i += 1) if (!(await victim.write(piece))) return;
    },
    plain: broken,
    streamed: cutBroken,
    oneByOne: true,
    mayBeLate: true,
  },
  {
    name: 'announces a body of 200 MB',
    does: async (victim) => {
      await victim.write(headOf(victim, ['content-length: 200000000']));
      const piece = ' '.repeat(1_000_000);
      for (let i = 0; i < 200; i += 1) if (!(await victim.write(piece))) return;
    },
    plain: broken,
    streamed: cutBroken,
    oneByOne: true,
    mayBeLate: true,
  },
  {
    name: 'streams without end',
    does: async (victim) => {
      await begin(victim);
      const events = chunk(victim.isStream ? wordEvent(victim).repeat(100) : ' '.repeat(10_000));
      while (await victim.write(events));
    },
    plain: broken,
    streamed: cutLate,
    oneByOne: true,
    mayBeLate: true,
  },
  {
    name: 'sends one event of 10 MB',
    does: async (victim) => {
      await begin(victim);
      await victim.write(hugeEvent);
      await victim.write(lastChunk);
    },
    plain: broken,
    streamed: cutBroken,
    oneByOne: true,
    mayBeLate: true,
  },
  {
    name: 'redirects to another host',
    does: ({ write }) =>
      write(`HTTP/1.1 307 Elsewhere\r\nlocation: ${elsewhere.url}/v1/messages\r\ncontent-length: 0\r\n\r\n`),
    plain: broken,
    streamed: broken,
  },
  {
    name: 'compresses unasked',
    does: async (victim) => {
      const body = gzipSync(bodyOf(victim));
      await victim.write(headOf(victim, ['content-encoding: gzip', `content-length: ${body.length}`]));
      await victim.write(body);
    },
    plain: fine,
    streamed: fine,
  },
  {
    name: 'compresses twice',
    does: async (victim) => {
      const body = brotliCompressSync(gzipSync(bodyOf(victim)));
      await victim.write(headOf(victim, ['content-encoding: gzip, br', `content-length: ${body.length}`]));
      await victim.write(body);
    },
    plain: broken,
    streamed: broken,
  },
  {
    name: 'sends a bomb of 200 MB in 200 KB',
    does: async (victim) => {
      // Members one after the other are one gzip file, made without having its content at hand.
      const body = Buffer.concat(Array<Buffer>(200).fill(gzipSync(Buffer.alloc(1_000_000, ' '))));
      await victim.write(headOf(victim, ['content-encoding: gzip', `content-length: ${body.length}`]));
      await victim.write(body);
    },
    plain: broken,
    streamed: cutBroken,
    oneByOne: true,
    mayBeLate: true, // a machine that is busy takes seconds to unpack it
  },
  {
    name: 'sends 103 before 200',
    does: async (victim) => {
      await victim.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
      await behaves(victim);
    },
    plain: fine,
    streamed: fine,
  },
  {
    name: 'sends 100 before 200, unasked, which undici does not take',
    does: async (victim) => {
      await victim.write('HTTP/1.1 100 Continue\r\n\r\n');
      await behaves(victim);
    },
    plain: broken,
    streamed: broken,
  },
  {
    name: 'closes a connection that it said would stay',
    does: async (victim) => {
      await behaves(victim);
      victim.socket.end();
    },
    plain: fine,
    streamed: fine,
  },
  {
    name: 'goes on after its answer',
    does: (victim) => {
      const body = bodyOf(victim);
      const head = headOf(victim, [`content-length: ${Buffer.byteLength(body)}`]);
      return victim.write(`${head}${body}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}and more`);
    },
    plain: fine,
    streamed: fine,
  },
  {
    name: 'goes on after its last event',
    does: async (victim) => {
      await victim.write(headOf(victim, [chunked]));
      await victim.write(chunk(bodyOf(victim)));
      await victim.write(chunk('  '));
      victim.socket.end();
    },
    plain: broken,
    streamed: fine,
  },
];

const finals = /event: message_stop|\[DONE\]|event: response\.(?:completed|incomplete)|"finish_reason": ?"/;

function check({ client, provider }: Pair, answer: BoundedAnswer, expected: Fault['streamed']): void {
  const label = `${client} client, ${provider} provider`;
  const { start, tail, isWhole } = answer;
  if (expected === 'the provider’s own error') {
    expect(tail, label).toContain('no, not with [secret]');
    expect(tail, label).not.toContain(secrets.PROVIDER_KEY);
    expect(tail, label).not.toMatch(finals);
    return;
  }
  const { status, reason } = expected;
  expect({ label, status: answer.status }).toEqual({ label, status });
  expect(start + tail + JSON.stringify(answer.headers), label).not.toContain(secrets.PROVIDER_KEY);
  if (status !== 200) {
    const value = JSON.parse(start) as { error: { message?: unknown; reason?: unknown } };
    expect(isWhole, label).toBe(true);
    expect(typeof value.error.message, label).toBe('string');
    if (reason !== undefined) expect({ label, reason: value.error.reason }).toEqual({ label, reason });
    else expect(answer.headers['retry-after'], label).toBe('3');
    return;
  }
  if (reason === undefined) {
    expect(isWhole, label).toBe(true);
    expect(tail, label).not.toMatch(/"error": ?\{/);
    return;
  }
  const last = tail.trimEnd().split('\n\n').at(-1) ?? '';
  expect(isWhole, label).toBe(false);
  expect(last, label).toContain(reason);
  expect(last, label).toMatch(client === 'chat' ? /^data: \{/ : /^event: error\ndata: \{/);
  expect(tail, label).not.toMatch(finals);
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // what the flag adds to a new context

/** The most memory that was held beyond what had been, while something went on; garbage is collected before it counts. */
async function peakOf<T>(work: () => Promise<T>): Promise<{ value: T; peakBytes: number }> {
  const used = () => process.memoryUsage().external + process.memoryUsage().heapUsed;
  collectGarbage();
  const before = used();
  let peak = before;
  const timer = setInterval(() => {
    if (used() <= peak) return;
    collectGarbage();
    peak = Math.max(peak, used());
  }, 20);
  try {
    return { value: await work(), peakBytes: peak - before };
  } finally {
    clearInterval(timer);
  }
}

async function askAll(fault: Fault, form: Form): Promise<readonly BoundedAnswer[]> {
  if (fault.oneByOne !== true) return Promise.all(pairs.map((pair) => ask(pair, form)));
  // Every dialect at both ends once; all nine would say no more and take long.
  const answers: BoundedAnswer[] = [];
  for (const pair of chosen(fault)) answers.push(await ask(pair, form));
  return answers;
}

function chosen({ oneByOne }: Fault): readonly Pair[] {
  if (oneByOne !== true) return pairs;
  return pairs.filter((_pair, i) => [0, 1, 5, 6].includes(i));
}

function isLate({ mayBeLate }: Fault, { status, tail }: BoundedAnswer): boolean {
  return mayBeLate === true && (status === 504 || tail.includes('provider.timeout'));
}

function lateForm(expected: Fault['streamed']): Expected {
  return expected === broken ? late : cutLate;
}

describe.each(['plain', 'streamed'] as const)('%s: a provider that', (form) => {
  test.each(faults)(
    '$name',
    async (fault) => {
      host.does(fault.does);

      const { value: answers, peakBytes } = await peakOf(() => askAll(fault, form));

      for (const [i, pair] of chosen(fault).entries()) {
        const answer = answers[i];
        if (answer === undefined) throw new Error('an answer is missing');
        check(pair, answer, isLate(fault, answer) ? lateForm(fault[form]) : fault[form]);
      }
      const slowestMs = Math.round(Math.max(...answers.map(({ elapsedMs }) => elapsedMs)));
      expect(slowestMs).toBeLessThan(totalMs + slackMs);
      expect(peakBytes).toBeLessThan(memoryBytes);

      host.does(behaves);
      const next = await Promise.all(pairs.map((pair) => ask(pair, form)));
      expect(next.map(({ status, isWhole }) => ({ status, isWhole }))).toEqual(
        pairs.map(() => ({ status: 200, isWhole: true })),
      );
    },
    60_000,
  );

  test('is not there', async () => {
    const answers = await Promise.all(pairs.map((pair) => ask(pair, form, '-gone')));

    for (const [i, pair] of pairs.entries()) {
      const answer = answers[i];
      if (answer === undefined) throw new Error('an answer is missing');
      check(pair, answer, { status: 502, reason: 'provider.unreachable' });
    }
  });
});

test('no redirect was followed', () => {
  expect(elsewhere.requests).toBe(0);
});

test('no record contains the provider’s key', () => {
  expect(JSON.stringify(gateway.records)).not.toContain(secrets.PROVIDER_KEY);
});
