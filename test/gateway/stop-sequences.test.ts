import { expect, test } from 'vitest';
import { anthropicClient, projects } from '../kit/gateway.ts';
import { startHosts } from '../kit/lifecycle.ts';

// The host speaks Responses alone, which knows no stop sequences.
const { openai, gateway } = await startHosts(
  () => undefined,
  ({ openai }) => `
providers:
  host: { dialect: openai, base_url: "${openai}/v1", endpoints: [responses] }
models:
  - { match: gpt-test, provider: host }
${projects}`,
);

const delta = (text: string) =>
  `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: text })}\n\n`;
const turns = [{ role: 'user' as const, content: 'hello' }];

test('a stream ends there for the SDK, its host is aborted immediately, and the usage is an estimate', async () => {
  openai.script((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const text of ['Hello ', 'wor', 'ld, EN', 'D and ']) response.write(delta(text));
    // It would go on for ever.
    const timer = setInterval(() => response.write(delta('more and more ')), 10);
    response.once('close', () => clearInterval(timer));
  });
  const arrived = openai.next();
  const startedAt = performance.now();

  const message = await anthropicClient(gateway)
    .messages.stream({ model: 'gpt-test', max_tokens: 99, messages: turns, stop_sequences: ['never', 'END'] })
    .finalMessage();

  expect(await (await arrived).ended).toBe('gone');
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(message.content).toMatchObject([{ type: 'text', text: 'Hello world, ' }]);
  expect([message.stop_reason, message.stop_sequence]).toEqual(['stop_sequence', 'END']);
  expect(message.usage.output_tokens).toBe(4);
  const record = await gateway.recordWhere(({ stream }) => stream === true);
  expect(record).toMatchObject({ outcome: 'answered', usage: { estimated: true } });
  // "Hello ", "wor", "ld, EN", "D and " are at most this many.
  expect(record.usage?.output_tokens).toBeGreaterThanOrEqual(2 + 1 + 2 + 2);
  expect(record.usage?.input_tokens).toBeGreaterThan(5);
});
