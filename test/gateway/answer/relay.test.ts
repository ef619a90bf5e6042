import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import type { RelayedStream } from '../../../src/gateway/answer/answer.ts';
import { bodyOf, type Relayed, relay } from '../relaying.ts';

const delta = 'data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}\n\n';
const done = 'data: [DONE]\n\n';

describe('a stream that is whole', () => {
  test('passes as it comes and ends as it should', async () => {
    const { answer, connection, outcome, exchange, answersRead } = await relay();
    answer.write(delta);
    await connection.until(() => bodyOf(connection).text === delta);
    answer.write(`${delta}data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n`);
    answer.write(done);
    answer.sink.end();

    expect(await outcome).toBe('complete');
    await connection.until(() => bodyOf(connection).isWhole);
    expect(bodyOf(connection).text.startsWith(delta + delta)).toBe(true);
    expect(answersRead).toMatchObject([
      {
        seen: {
          tally: { usage: { inputTokens: 3, outputTokens: 4 }, unreportedTokens: 0 },
          extent: 'whole',
        },
      },
    ]);
    expect(exchange.record.soFar.bytes_out).toBe(bodyOf(connection).text.length);
  });

  test('shows its head before its first event', async () => {
    const { connection } = await relay();

    await connection.until((received) => received.endsWith('\r\n\r\n'));

    expect(connection.received).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/event-stream\r\n/);
    expect(connection.received).toMatch(/\r\ncache-control: no-cache\r\n/);
  });
});

describe.each([
  ['messages', 'event: error\ndata: {"type":"error","error":{', 'event: ping\ndata: {"type":"ping"}\n\n'],
  ['chat', 'data: {"error":{', delta],
  [
    'responses',
    'event: error\ndata: {"type":"error","sequence_number":1,"code":"provider.broken_response",',
    'event: response.created\ndata: {"type":"response.created"}\n\n',
  ],
] as const)('a stream of %s that is cut', (name, words, event) => {
  const endings = {
    'ends too early': ({ answer }: Relayed) => answer.sink.end(),
    'breaks off': ({ answer }: Relayed) =>
      answer.sink.fail(new GatewayError('provider.broken_response', 'broke off')),
    'has an event that is too large': ({ answer }: Relayed) => {
      for (let i = 0; i < 530; i += 1) answer.write(`data: ${'x'.repeat(65_536)}`);
    },
  };

  test.each(Object.entries(endings))('because it %s: an error event, and no end', async (_why, end) => {
    const relayed = await relay(name);
    relayed.answer.write(event);
    end(relayed);

    expect(await relayed.outcome).toBe('provider.broken_response');
    await relayed.connection.closed;
    const { text, isWhole } = bodyOf(relayed.connection);
    expect(isWhole).toBe(false);
    expect(text.startsWith(event)).toBe(true);
    const last = text.slice(text.lastIndexOf('\n\n', text.length - 3) + 1).trimStart();
    expect(last.slice(last.lastIndexOf(words))).toContain('"reason":"provider.broken_response"');
    expect(text.endsWith('}\n\n')).toBe(true);
  });

  test.each(['data: {"cut', 'event: x\n', 'event: x\ndata: {"whole":1}', 'event: x\ndata: {"whole":1}\n'])(
    'in an event, %j: that never goes out',
    async (half) => {
      const relayed = await relay(name);
      relayed.answer.write(event + half);
      relayed.answer.sink.fail(new GatewayError('provider.broken_response', 'broke off'));

      await relayed.outcome;
      await relayed.connection.closed;
      expect(bodyOf(relayed.connection).text.startsWith(event + words)).toBe(true);
    },
  );
});

test('a stream that has already reported its failure gets no second error', async () => {
  const told = {
    transform: (chunk: Buffer) => chunk,
    end: () => Buffer.alloc(0),
    fail: () => Buffer.alloc(0),
    state: 'failed',
    hasLastEvent: false,
    tally: { usage: undefined, unreportedTokens: 0 },
    heldBytes: 0,
    heartbeat: () => Buffer.alloc(0),
  } satisfies RelayedStream;
  const { answer, connection, outcome } = await relay('chat', undefined, told);
  answer.write('data: {"error":{"message":"boom"}}\n\n');

  expect(await outcome).toBe('provider.broken_response');
  await connection.closed;
  expect(bodyOf(connection)).toEqual({ text: 'data: {"error":{"message":"boom"}}\n\n', isWhole: false });
});

test('an answer that is cut off after another one on its connection lets that one finish first', async () => {
  const { answer, connection, next, outcome } = await relay();
  const behind = await next();
  behind.answer.write(delta);
  behind.answer.sink.end();
  expect(await behind.outcome).toBe('provider.broken_response');

  answer.write(done);
  answer.sink.end();

  expect(await outcome).toBe('complete');
  await connection.closed;
  const [, first = '', second = ''] = connection.received.split('HTTP/1.1 200 OK');
  expect(first.endsWith(`${done}\r\n0\r\n\r\n`)).toBe(true);
  expect(second).toContain('"reason":"provider.broken_response"');
  expect(second.endsWith('0\r\n\r\n')).toBe(false);
});

describe('a client', () => {
  test('that leaves pays for what had arrived by then, and for no more', async () => {
    const { answer, connection, outcome, answersRead } = await relay();
    answer.write(delta);
    await connection.until(() => bodyOf(connection).text === delta);
    answer.arrived = delta;

    connection.reset();

    expect(await outcome).toBe('client.left');
    expect(answersRead).toMatchObject([{ seen: { tally: { unreportedTokens: 2 }, extent: 'cut' } }]);
  });

  test('that leaves ends the provider', async () => {
    const { answer, connection, outcome } = await relay();
    answer.write(delta);
    await connection.until((received) => received.includes('data:'));

    connection.reset();

    expect(await outcome).toBe('client.left');
    expect(answer.wasAborted).toBe(true);
  });

  test('that was gone before the relay began ends the provider', async () => {
    const { answer, outcome } = await relay('chat', ({ lifetime }) =>
      lifetime.end(new GatewayError('client.left', 'the client left')),
    );

    expect(await outcome).toBe('client.left');
    expect(answer.wasAborted).toBe(true);
  });

  test('that does not read pauses the provider until it does', async () => {
    const { answer, connection, outcome } = await relay();
    connection.socket.pause();
    const large = `data: {"x":"${'x'.repeat(100_000)}"}\n\n`;
    let written = 0;
    while (answer.write(large)) written += large.length;
    expect(written).toBeLessThan(50_000_000);
    // What was on its way already comes in spite of the pause.
    for (let i = 0; i < 3; i += 1) expect(answer.write(large)).toBe(false);

    const resumed = answer.resumed();
    connection.socket.resume();
    await resumed;
    answer.write(done);
    answer.sink.end();

    expect(await outcome).toBe('complete');
    expect(answer.timesResumed).toBe(1);
  });

  test('gets an error when the server stops', async () => {
    const { answer, connection, exchange, outcome } = await relay();
    answer.write(delta);

    exchange.lifetime.end(new GatewayError('gateway.draining', 'the gateway stopped'));

    expect(await outcome).toBe('gateway.draining');
    await connection.closed;
    expect(answer.wasAborted).toBe(true);
    expect(bodyOf(connection)).toEqual({
      text: expect.stringMatching(/"reason":"gateway\.draining".*\}\n\n$/),
      isWhole: false,
    });
  });
});

test('while the provider is silent the client gets a sign of life every 15 s, and none after the last event', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const silent = { heartbeatMs: 15_000 };
  const { answer, connection, exchange, outcome } = await relay('chat', undefined, undefined, silent);
  const received = (text: string) => connection.until(() => bodyOf(connection).text === text);
  const ping = ': ping\n\n';

  vi.advanceTimersByTime(15_000);
  await received(ping);
  expect(exchange.record.soFar.first_byte_ms).toBeUndefined();
  answer.write(delta.slice(0, 20)); // an event that is not whole yet
  vi.advanceTimersByTime(15_000);
  await received(ping + ping);
  answer.write(delta.slice(20));
  vi.advanceTimersByTime(14_000);
  answer.write(delta);
  vi.advanceTimersByTime(14_000);
  answer.write(done);
  answer.sink.end();
  expect(await outcome).toBe('complete');
  vi.advanceTimersByTime(60_000);
  await received(ping + ping + delta + delta + done);
});
