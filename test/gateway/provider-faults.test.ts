import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dialectCases, json, requestFor, speakAll, stream } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { post, secrets, startGateway, type TestGateway } from '../kit/gateway.ts';
import type { Script, ScriptedHost } from '../kit/host.ts';
import { useHosts } from '../kit/lifecycle.ts';
import { head, openRaw, type RawAnswer, sendRaw } from '../kit/raw.ts';

const hosts = useHosts(speakAll, (urls) =>
  twoHosts({
    ...urls,
    provider:
      'retries: { attempts: 1 }, breaker: { failures: 1000 }, timeouts: { headers: 500ms, idle: 500ms, total: 20s }',
  }),
);

beforeEach(() => script(speakAll));

function script(answer: Script): void {
  hosts().anthropic.script(answer);
  hosts().openai.script(answer);
}

type Dialect = (typeof dialectCases)[number];

function ask({ dialect, path, model }: Dialect, extra: object = {}): Promise<RawAnswer> {
  return askAt(hosts().gateway, path, requestFor(dialect, model, extra));
}

function askAt({ port, key }: TestGateway, path: string, request: object): Promise<RawAnswer> {
  const body = JSON.stringify(request);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `x-api-key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return sendRaw(port, head(...lines), body);
}

function reasonOf(answer: RawAnswer): string {
  return JSON.parse(answer.body.toString()).error.reason;
}

function expectOwnError(answer: RawAnswer, status: number, reason: string): void {
  expect(answer.body.toString()).toMatch(/^\{"type":"error"/);
  expect([answer.status, reasonOf(answer)]).toEqual([status, reason]);
  expect(answer.headers.get('x-gateway-error')).toEqual(['true']);
  expect(answer.headers.get('content-type')).toEqual(['application/json']);
}

describe.each(dialectCases)('$dialect', (each) => {
  const { events, plain } = each;
  const [first = ''] = events;

  test.each([400, 402, 404, 409, 413, 422, 429, 500, 501, 503, 529])(
    'an error %d passes with its own bytes, status and retry-after',
    async (status) => {
      const body = `{ "error" : {"message":"told to fail", "n": 12345678901234567890} }\n`;
      script(json(body, status, { 'retry-after': '3', 'x-should-retry': 'false' }));

      const answer = await ask(each, { stream: true });

      expect(answer.status).toBe(status);
      expect(answer.body.toString()).toBe(body);
      expect(answer.headers.get('retry-after')).toEqual(['3']);
      expect(answer.headers.get('x-should-retry')).toEqual(['false']);
      expect(answer.headers.has('x-gateway-error')).toBe(false);
      expect(answer.headers.has('x-gateway-provider')).toBe(false);
    },
  );

  test.each([401, 403])('an error %d is ours to mend: 502, without the provider’s words', async (status) => {
    script(json('{"error":{"message":"invalid key provided"}}', status));

    const answer = await ask(each);

    expectOwnError(answer, 502, 'provider.credentials_rejected');
    expect(answer.headers.get('x-should-retry')).toEqual(['false']);
    expect(answer.body.toString()).not.toContain('invalid key provided');
  });

  test.each([301, 302, 307, 308])('a redirect %d is not followed: 502', async (status) => {
    const before = hosts().openai.requests.length + hosts().anthropic.requests.length;
    script((response) => {
      response.writeHead(status, { location: '/elsewhere' });
      response.end();
    });

    const answer = await ask(each);

    expectOwnError(answer, 502, 'provider.broken_response');
    expect(hosts().openai.requests.length + hosts().anthropic.requests.length).toBe(before + 1);
  });

  test.each([
    ['half a document', json(plain.slice(0, -10))],
    ['nothing', json('')],
    ['text', json('all is well')],
    ['a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>')],
    ['no content type', (response) => response.writeHead(200).end(plain)],
    ['an event stream that nobody asked for', stream(events)],
    [
      'fewer bytes than announced',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': plain.length + 5 });
        response.write(plain);
        setImmediate(() => response.destroy());
      },
    ],
    ['no answer but a closed connection', (response) => void response.destroy()],
    ['two encodings', json(gzipSync(gzipSync(plain)), 200, { 'content-encoding': 'gzip, gzip' })],
    ['an unknown encoding', json(plain, 200, { 'content-encoding': 'zstd' })],
    ['gzip that is none', json(plain, 200, { 'content-encoding': 'gzip' })],
    ['half of a gzip', json(gzipSync(plain).subarray(0, 40), 200, { 'content-encoding': 'gzip' })],
  ] satisfies [string, Script][])('a 200 with %s is 502', async (_name, answerOf) => {
    script(answerOf);

    expectOwnError(await ask(each), 502, 'provider.broken_response');
  });

  test('an answer that never begins is 504', async () => {
    script(() => undefined);

    expectOwnError(await ask(each), 504, 'provider.timeout');
  });

  test('gzip although identity was asked is undone once, plain and streamed', async () => {
    script(json(gzipSync(plain), 200, { 'content-encoding': 'gzip' }));
    const whole = await ask(each);
    script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      response.end(gzipSync(events.join('')));
    });
    const streamed = await ask(each, { stream: true });

    expect(whole.body.toString()).toBe(plain);
    expect(streamed.body.toString()).toBe(events.join(''));
    for (const { headers, isWhole } of [whole, streamed]) {
      expect(headers.has('content-encoding')).toBe(false);
      expect(isWhole).toBe(true);
    }
  });

  test.each([
    ['by a broken connection', (response) => void setImmediate(() => response.destroy())],
    ['by a clean end in the middle', (response) => void response.end()],
    ['by silence', (_response, _request) => undefined],
  ] satisfies [string, Script][])(
    'a stream cut %s ends in an error event and a destroyed socket',
    async (_name, end) => {
      const { gateway } = hosts();
      const before = gateway.records.length;
      script(async (response, request) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await new Promise<void>((resolve) => response.write(events.slice(0, 2).join(''), () => resolve()));
        await end(response, request);
      });

      const answer = await ask(each, { stream: true });

      const text = answer.body.toString();
      expect(answer.status).toBe(200);
      expect(answer.isWhole).toBe(false);
      expect(text.startsWith(events.slice(0, 2).join(''))).toBe(true);
      const added = text.slice(events.slice(0, 2).join('').length);
      expectErrorEvent(each.dialect, added);
      expect(text).not.toMatch(/\[DONE\]|message_stop|response\.completed|"finish_reason":"/);
      expect((await gateway.recorded(before + 1)).at(-1)).toMatchObject({ status: 200, outcome: 'failed' });
    },
  );

  test('an error that the provider itself puts into the stream is the end of it', async () => {
    const error =
      each.dialect === 'chat'
        ? 'data: {"error":{"message":"overloaded"}}\n\n'
        : 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"overloaded"}}\n\n';
    script(stream([first, error]));

    const answer = await ask(each, { stream: true });

    expect(answer.body.toString()).toBe(`${first}${error}`);
    expect(answer.isWhole).toBe(true);
  });

  test('an event above 1 MiB cuts the stream', async () => {
    script(stream([first, `data: {"x":"${'x'.repeat(1_500_000)}`]));

    const answer = await ask(each, { stream: true });

    expect(answer.isWhole).toBe(false);
    expect(answer.body.toString()).toContain('provider.broken_response');
  });

  test.each([200, 400, 500])('our secrets in the words of an answer %d are taken out', async (status) => {
    const words = `{"error":{"message":"key ${secrets.PROVIDER_KEY} of ${secrets.PROJECT_KEY}"}}`;
    script(json(words, status));

    const answer = await ask(each);

    const expected = '{"error":{"message":"key [secret] of [secret]"}}';
    expect(answer.status).toBe(status);
    expect(answer.body.toString()).toBe(expected);
    expect(answer.headers.get('content-length')).toEqual([String(expected.length)]);
  });

  test('our secrets in a stream are masked, also if split over events', async () => {
    const key = secrets.PROVIDER_KEY;
    const delta = events.find((event) => event.includes('"delta"')) ?? '';
    const pieces = [`so: ${key}`, key.slice(0, 7), key.slice(7, 20), `${key.slice(20)} end`];
    const deltas = pieces.map((piece) =>
      delta.replace(
        /"(?:text|content|delta)":"[^"]*"/,
        (member) => `${member.slice(0, member.indexOf(':'))}:${JSON.stringify(piece)}`,
      ),
    );
    script(stream([...deltas, events.at(-1) ?? '']));

    const { body, isWhole } = await ask(each, { stream: true });

    const text = body.toString();
    expect(isWhole).toBe(true);
    expect(text).toContain('so: [secret]');
    expect(text).toContain(' end"');
    for (const part of [key.slice(0, 7), key.slice(7, 20), key.slice(20)]) expect(text).not.toContain(part);
  });

  test.each([
    [
      'a page',
      502,
      '<html><script>let x;</script><h1>Bad gateway</h1>\n <p>host 10.0.0.7</p></html>',
      'Bad gateway host 10.0.0.7',
    ],
    ['a text', 500, `oh no, ${secrets.PROVIDER_KEY}`, 'oh no, [secret]'],
    ['nothing', 503, '', undefined],
    ['half of an object', 400, '{"error":{"mess', '{"error":{"mess'],
    ['a long page', 500, `<p>${'x'.repeat(2_000)}</p>`, `${'x'.repeat(300)}…`],
  ])(
    'an error that is %s becomes one of the dialect, its words go into the record',
    async (_what, status, page, cause) => {
      const { gateway } = hosts();
      const before = gateway.records.length;
      script((response) => {
        response.writeHead(status, { 'content-type': 'text/html', 'retry-after': '120' });
        response.end(page);
      });

      const answer = await ask(each);

      const { error } = JSON.parse(answer.body.toString()) as { error: Record<string, unknown> };
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toEqual(['application/json']);
      expect(error).toMatchObject({ message: expect.any(String), type: expect.any(String) });
      expect(answer.body.toString()).not.toContain('<');
      expect(answer.body.toString()).not.toContain(secrets.PROVIDER_KEY);
      const record = (await gateway.recorded(before + 1))[before];
      expect(record?.status).toBe(status);
      expect(record?.cause).toBe(cause);
    },
  );

  test('headers with a secret in them are scrubbed too', async () => {
    script(json(each.plain, 200, { 'x-ratelimit-note': `key ${secrets.PROVIDER_KEY}` }));

    const answer = await ask(each);

    expect(answer.headers.get('x-ratelimit-note')).toEqual(['key [secret]']);
  });

  test('an answer that is not JSON leaves none of its text in the record', async () => {
    const { gateway } = hosts();
    const before = gateway.records.length;
    script(json(`${secrets.PROVIDER_KEY.slice(0, 8)}, the rest is no JSON`));

    const answer = await ask(each);

    expect(answer.status).toBe(502);
    const record = (await gateway.recorded(before + 1))[before];
    expect(record).toMatchObject({ outcome: 'failed', cause: 'SyntaxError' });
  });

  test('the same request asked without a stream gets its answer in one piece', async () => {
    const answer = await ask(each, { stream: false });

    expect(answer.body.toString()).toBe(plain);
  });
});

function expectErrorEvent(dialect: string, text: string): void {
  const lines = text.trimEnd().split('\n');
  const data = JSON.parse((lines.at(-1) ?? '').slice('data: '.length));
  if (dialect === 'chat') expect(lines).toHaveLength(1);
  else expect(lines[0]).toBe('event: error');
  expect(text.endsWith('\n\n')).toBe(true);
  expect(data.error.message.length).toBeGreaterThan(10);
  expect(data.error.reason).toMatch(/^provider\./);
  if (dialect !== 'chat') expect(data.type).toBe('error');
  if (dialect === 'responses') expect(data.sequence_number).toBe(2);
  expect(data.request_id).toMatch(/^req_/);
}

describe('a provider that is not there', () => {
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    gateway = await startGateway(
      twoHosts({ anthropic: url, openai: url, provider: 'breaker: { failures: 4, open: 30s }' }),
    );
  });
  afterAll(() => gateway?.stop());

  test('is 502, then, when the breaker has opened, 503 with Retry-After', async () => {
    if (gateway === undefined) throw new Error('no gateway');
    const [, chat] = dialectCases;
    const request = requestFor('chat', 'gpt-test');

    const first = await askAt(gateway, chat.path, request);
    const second = await askAt(gateway, chat.path, request);
    const third = await askAt(gateway, chat.path, request);
    const listed = await fetch(`${gateway.url}/v1/gateway/models`, { headers: { 'x-api-key': gateway.key } });

    expectOwnError(first, 502, 'provider.unreachable');
    expectOwnError(second, 502, 'provider.unreachable');
    expectOwnError(third, 503, 'provider.unavailable');
    expect(Number(third.headers.get('retry-after')?.[0])).toBeGreaterThan(20);
    expect(listed.status).toBe(200);
    expect(await listed.text()).toContain('"unhealthy"');
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('raw nonsense', () => {
  test.each([
    ['not HTTP at all', 'SSH-2.0-OpenSSH\r\n'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a head of 40 KB', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(40_000)}\r\ncontent-length: 2\r\n\r\n{}`],
    [
      'a switch of protocols',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    [
      'a bad chunk',
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n',
    ],
  ])('%s is 502', async (_name, bytes) => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(bytes));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const gateway = await startGateway(
      twoHosts({ anthropic: url, openai: url, provider: 'retries: { attempts: 1 }' }),
    );

    const answer = await askAt(gateway, '/v1/chat/completions', requestFor('chat', 'gpt-test'));

    await gateway.stop();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    expectOwnError(answer, 502, 'provider.broken_response');
  });
});

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}

describe('a client that does not read', () => {
  test('applies back-pressure to the provider: buffers stay bounded, and nothing is lost', async () => {
    const { openai, gateway } = hosts();
    const event = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(10_000)}"},"finish_reason":null}]}\n\n`;
    const total = 2_000;
    let written = 0;
    let isStalled: () => void = () => undefined;
    const stalled = new Promise<void>((resolve) => {
      isStalled = resolve;
    });
    openai.script(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (; written < total; written += 1) {
        if (response.write(event)) continue;
        // Nobody takes more: half a second without a drain is standstill, not slowness.
        const timer = setTimeout(isStalled, 500);
        await drained(response);
        clearTimeout(timer);
        if (response.destroyed) return;
      }
      response.end('data: [DONE]\n\n');
    });
    const connection = openRaw(gateway.port);
    connection.socket.pause();
    const body = JSON.stringify(requestFor('chat', 'gpt-test', { stream: true }));
    const lines = ['Host: localhost', `x-api-key: ${gateway.key}`, 'Content-Type: application/json'];

    await connection.write(
      head('POST /v1/chat/completions HTTP/1.1', ...lines, `Content-Length: ${body.length}`),
      body,
    );
    await stalled;
    const underWay = written * event.length;
    connection.socket.resume();
    const answer = await connection.answer();

    connection.socket.destroy();
    // What the kernel's four socket buffers hold, not the 20 MB of the whole stream.
    expect(underWay).toBeLessThan(14_000_000);
    expect(answer.isWhole).toBe(true);
    expect(answer.body.length).toBe(total * event.length + 'data: [DONE]\n\n'.length);
  });

  test('and leaves: that ends the call at the provider, not a time-out', async () => {
    const { openai, gateway } = hosts();
    const event = `data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(100_000)}"}}]}\n\n`;
    openai.script((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = () => {
        while (!response.destroyed && response.write(event));
      };
      response.on('drain', more);
      more();
    });
    const arrived = openai.next();
    const before = gateway.records.length;
    const connection = openRaw(gateway.port);
    connection.socket.pause();
    const body = JSON.stringify(requestFor('chat', 'gpt-test', { stream: true }));
    const lines = ['Host: localhost', `x-api-key: ${gateway.key}`, 'Content-Type: application/json'];
    await connection.write(
      head('POST /v1/chat/completions HTTP/1.1', ...lines, `Content-Length: ${body.length}`),
      body,
    );
    const received = await arrived;

    connection.socket.resetAndDestroy();
    const end = await received.ended;

    expect(end).toBe('gone');
    expect((await gateway.recorded(before + 1)).at(-1)).toMatchObject({ outcome: 'left', stream: true });
  });
});

describe('retries and fallbacks', () => {
  let gateway: TestGateway | undefined;
  const shared = (): { gateway: TestGateway; first: ScriptedHost; second: ScriptedHost } => {
    if (gateway === undefined) throw new Error('no gateway');
    return { gateway, first: hosts().anthropic, second: hosts().openai };
  };
  beforeAll(async () => {
    gateway = await startGateway(`
providers:
  first: { dialect: openai, base_url: "${hosts().anthropic.url}/v1" }
  second: { dialect: openai, base_url: "${hosts().openai.url}/v1" }
models:
  - { match: "one-*", provider: first }
  - { match: "two-*", provider: first, fallbacks: [{ provider: second, model: gpt-test }] }
projects: { shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] } }
`);
  });
  afterAll(() => gateway?.stop());

  test('a refusal for load is asked again after Retry-After', async () => {
    const { gateway, first } = shared();
    let count = 0;
    first.script((response, request) => {
      count += 1;
      const answer =
        count === 1 ? json('{"error":{"message":"busy"}}', 429, { 'retry-after': '0' }) : speakAll;
      return answer(response, request);
    });

    const answer = await post(gateway, '/v1/chat/completions', requestFor('chat', 'one-model'));

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-attempts')).toBe('2');
  });

  test('a 500 is not asked again: the work may have been done', async () => {
    const { gateway, first } = shared();
    first.script(json('{"error":{"message":"broken"}}', 500));
    const before = first.requests.length;

    const answer = await post(gateway, '/v1/chat/completions', requestFor('chat', 'one-model'));

    expect(answer.status).toBe(500);
    expect(first.requests.length).toBe(before + 1);
  });

  test('with a fallback, a 500 leads to the next target, under its model name there', async () => {
    const { gateway, first, second } = shared();
    first.script(json('{"error":{"message":"broken"}}', 500));
    second.script(speakAll);

    const answer = await post(gateway, '/v1/chat/completions', requestFor('chat', 'two-model'));

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gateway-provider')).toBe('second');
    expect(answer.headers.get('x-gateway-model')).toBe('gpt-test');
    expect(answer.headers.get('x-gateway-body')).toBe('spliced');
    expect(JSON.parse(second.requests.at(-1)?.body.toString() ?? '').model).toBe('gpt-test');
  });
});
