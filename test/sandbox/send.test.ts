import { type IncomingMessage, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { defaultListenLimits, listen } from '../../src/http/listen.ts';
import { type Frame, sendStream } from '../../src/sandbox/send.ts';

function endless() {
  let made = 0;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  function* make(): Generator<Frame> {
    try {
      // Not quite endless: a sender that is not held back must fail the test, not fill the memory.
      while (made < 60_000) {
        made += 1;
        yield { kind: 'delta', text: `data: ${'x'.repeat(1_000)}\n\n` };
      }
    } finally {
      end();
    }
  }
  return { frames: make(), count: () => made, ended }; // how many were made so far
}

async function serveStream(source: ReturnType<typeof endless>, pace: 'free' | 'slow') {
  let settle: (reason: unknown) => void = () => {};
  const outcome = new Promise<unknown>((resolve) => {
    settle = resolve;
  });
  const { port, drain } = await listen({
    host: '127.0.0.1',
    port: 0,
    limits: { ...defaultListenLimits, drainMs: 0 },
    onRequest: (_request, response) => {
      const left = new AbortController();
      response.onClose(() => left.abort());
      sendStream(response, { frames: source.frames, pace }, { headers: [], signal: left.signal }).then(
        () => settle(undefined),
        settle,
      );
    },
  });
  onTestFinished(drain);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: '127.0.0.1', port }, resolve).on('error', reject).end();
  });
  return { answer, outcome };
}

test.each(['free', 'slow'] as const)('stops making events when the client leaves (%s)', async (pace) => {
  const source = endless();
  const { answer, outcome } = await serveStream(source, pace);
  await new Promise((resolve) => answer.once('data', resolve));

  answer.destroy();

  await source.ended;
  expect(await outcome).toMatchObject({ name: 'AbortError' });
});

test('makes no more events than a stalled reader leaves room for', async () => {
  const source = endless();
  const { answer } = await serveStream(source, 'free');
  answer.pause();

  // Waits until the count stands still, which it does only if somebody holds the sender back.
  let last = -1;
  for (let i = 0; i < 200 && last !== source.count(); i += 1) {
    last = source.count();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  expect(source.count()).toBe(last);
  expect(last).toBeLessThan(30_000);
  answer.destroy();
  await source.ended;
});
