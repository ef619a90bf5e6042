import { expect, test } from 'vitest';
import type { NowResponse } from '../../src/inspector/contract/events.ts';
import { chatAnswer, json } from '../kit/answers.ts';
import { startHost } from '../kit/host.ts';
import { startInspected } from '../kit/inspector.ts';

test('waiting for a slot at a provider is a part of its own', async () => {
  const waiting: (() => unknown)[] = [];
  const host = await startHost((response, request) =>
    waiting.push(() => json(chatAnswer)(response, request)),
  );
  const gateway = await startInspected(`
providers: { host: { dialect: openai, base_url: "${host.url}/v1", connections: 1 } }
models: [{ match: m, provider: host }]
projects: { shop: { keys: [{ id: web, value: "\${PROJECT_KEY}" }] } }
`);
  const ask = () => gateway.say('hi', { model: 'm' });
  const release = async () => {
    await expect.poll(() => waiting.length).toBe(1);
    waiting.shift()?.();
  };

  const first = ask();
  await expect.poll(() => waiting.length).toBe(1);
  const second = ask();
  await expect
    .poll(async () => ((await gateway.api('now')) as NowResponse).breakers[0]?.queued, { timeout: 10_000 })
    .toBe(1);
  await release();
  await release();
  const [quick, queued] = await Promise.all([first, second]);

  const rows = await gateway.rows();
  const timesOf = (id: string) => rows.find((row) => row.id === id)?.times ?? {};
  expect(Object.keys(timesOf(quick))).toEqual(['read', 'decide', 'connect', 'first_byte', 'stream']);
  expect(Object.keys(timesOf(queued))).toEqual([
    'read',
    'decide',
    'queue',
    'connect',
    'first_byte',
    'stream',
  ]);
  expect(timesOf(queued).queue).toBeGreaterThan(0);
});
