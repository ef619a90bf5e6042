import { expect, test } from 'vitest';
import type { NowResponse } from '../../src/inspector/contract/events.ts';
import { problemsOf } from '../config/workspace.ts';
import { projects } from '../kit/gateway.ts';
import { startInspected } from '../kit/inspector.ts';

const limited = projects.replace(
  '  shop:\n',
  '  shop:\n    limits: { requests_per_minute: 100, tokens_per_day: 1000000, usd_per_day: 5, mode: enforce }\n',
);

const gateway = await startInspected(limited);

const ask = () => gateway.say('hi');

test('budgets are shown as they stand, and looking uses nothing up', async () => {
  await ask();
  await ask();
  const budgets = async () => ((await gateway.api('now')) as NowResponse).budgets;

  const first = await budgets();
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  const second = await budgets();

  const byName = Object.fromEntries(first.map((budget) => [budget.limit, budget]));
  expect(byName.requests_per_minute).toMatchObject({
    scope: 'project',
    name: 'shop',
    max: 100,
    used: 2,
    mode: 'enforce',
  });
  expect(byName.tokens_per_day?.used).toBeGreaterThan(0);
  expect(byName.usd_per_day).toMatchObject({ max: 5, resets: expect.any(String) });
  expect(second.map(({ used }) => used)).toEqual(first.map(({ used }) => used));
});

test('bodies are kept from a reload on that asks for it, without anybody looking', async () => {
  await gateway.reload(`records: { bodies: true }\n${limited}`);
  await ask();

  expect((await gateway.rows())[0]).toMatchObject({ status: 200, bodies: true });
});

test('a reload can switch the page off, which ends its event streams, and on again', async () => {
  const status = async () =>
    (await fetch(`${gateway.url}/_/api/now`, { headers: await gateway.session() })).status;
  const events = await fetch(`${gateway.url}/_/api/events`, { headers: await gateway.session() });
  const ended = events.text();

  await gateway.reload(`inspector: { enabled: false }\n${limited}`);

  expect(await ended).not.toContain('resync');
  expect(await status()).toBe(404);
  await gateway.reload(limited);
  expect(await status()).toBe(200);
});

test('who asks for the page with several workers is warned', async () => {
  expect(await problemsOf('server: { workers: 2 }\ninspector: { enabled: true }\n')).toEqual([
    'gateway.yaml:2:23  warning: inspector.enabled: with 2 workers there is no live page',
  ]);
});
