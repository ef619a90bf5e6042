import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyDirectory } from '../../kit/command.ts';
import {
  answering,
  ask,
  body,
  canMount,
  configure,
  fill,
  host,
  keys,
  onDisk,
  query,
  segments,
  serve,
  serveIn,
  statuses,
  stop,
  withBudget,
} from './workers/serving.ts';

const rounds = 6;
const usage = { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 };

test.each([1, 2])(
  'a second gateway with a budget in the same file is warned of the first, while that runs (workers: %i)',
  async (workers) => {
    const [{ url }, ledger] = [await answering(), join(emptyDirectory(), 'ledger.sqlite')];
    const warning = `another gateway writes the ledger ${ledger} too`;
    const homes = [emptyDirectory(), emptyDirectory()] as const;
    const more = `records: { ledger_file: ${ledger} }`;
    for (const home of homes) configure(home, withBudget(url, { limits: 'usd_per_day: 1', workers, more }));
    const first = await serveIn(homes[0]);
    expect(await statuses(first, 1)).toEqual([200]);

    // The first one locks its journal a moment after it has begun to serve.
    await expect
      .poll(() => readdirSync(`${ledger}.journal`).some((name) => name.endsWith('.lock')))
      .toBe(true);
    const second = await serveIn(homes[1]);
    await second.child.wrote(warning);
    expect(await statuses(second, 1)).toEqual([200]);
    for (const each of [first, second]) await stop(each, 'SIGKILL');

    const third = await serveIn(homes[0]);
    expect(await statuses(third, 1)).toEqual([200]);
    await stop(third);
    for (const { child } of [first, third]) expect((await child.ended).stderr).not.toContain(warning);
  },
  60_000,
);

test.skipIf(!canMount)(
  'on a full disk requests under a budget are 503, the others go on',
  () =>
    onDisk('600k', async (mounted) => {
      const more = `records: { ledger_file: ${mounted}/ledger.sqlite }`;
      const gateway = await serve(
        withBudget((await answering()).url, { limits: 'usd_per_day: 100', more }),
        [],
        keys,
      );
      expect(await statuses(gateway, 1)).toEqual([200]);
      fill(mounted);

      // What the log of SQLite has left over is used up first.
      let last: Response | undefined;
      const status = async () => {
        last = await ask(gateway, body);
        return last.status;
      };
      await expect.poll(status, { timeout: 20_000, interval: 1 }).toBe(503);
      expect(last?.headers.get('retry-after')).toBe('5');
      expect(await last?.text()).toContain('the ledger cannot be written');
      expect(await statuses({ ...gateway, key: keys.FREE_KEY }, 1)).toEqual([200]);

      rmSync(join(mounted, 'filler'));
      await expect.poll(status).toBe(200);
      await gateway.child.wrote('can be written again');
      await stop(gateway);
    }),
  60_000,
);

test('after kill -9 in mid-stream nothing is missing and nothing is there twice', async () => {
  const served = new Set<string>();
  let count = 0;
  let kill: (() => void) | undefined;
  const scripted = await host(async (response) => {
    count += 1;
    const chunk = (delta: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-test', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < 10; i += 1) {
      response.write(chunk({ content: 'word ' }));
      await new Promise((resume) => setTimeout(resume, 20));
      if (i === 4) kill?.();
    }
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
  });
  const home = emptyDirectory();
  configure(home, withBudget(scripted.url, { limits: 'usd_per_day: 1000' }));

  for (let round = 0; round < rounds; round += 1) {
    const gateway = await serveIn(home);
    const client = async () => {
      for (;;) {
        const response = await ask(gateway, { ...body, stream: true }).catch(() => undefined);
        if (response?.status !== 200) return;
        const all = await response.text().catch(() => '');
        if (all.includes('[DONE]')) served.add(response.headers.get('x-request-id') ?? '');
      }
    };
    const clients = Array.from({ length: 8 }, client);
    const enough = served.size + 8 + round * 4;
    kill = () => {
      if (served.size >= enough) gateway.child.process.kill('SIGKILL');
    };
    await gateway.child.ended;
    await Promise.all(clients);
  }
  const last = await serveIn(home);
  await expect.poll(() => new Set(segments(home).map(({ owner }) => owner)).size).toBe(1);
  await stop(last);
  expect(segments(home)).toEqual([]);

  const rows = await query<{ request_id: string; outcome: string; tokens: number }>(
    home,
    'select request_id, outcome, input_tokens + output_tokens as tokens from exchanges',
  );
  const known = new Map(rows.map((row) => [row.request_id, row]));
  expect(served.size).toBeGreaterThanOrEqual(8 * rounds);
  expect([...served].filter((id) => !known.has(id))).toEqual([]);
  // One row for each request that reached the host; an intent that was never sent may add one each time.
  expect(rows.length).toBeGreaterThanOrEqual(count);
  expect(rows.length).toBeLessThanOrEqual(count + rounds * 8);
  expect(rows.filter(({ outcome }) => outcome === 'unknown').length).toBeGreaterThan(0);
  for (const { outcome, tokens } of rows) if (outcome === 'answered') expect(tokens).toBe(120);
  const exact = [...served].filter((id) => known.get(id)?.outcome === 'answered');
  const others = [...served].map((id) => known.get(id)).filter((row) => row?.outcome !== 'answered');
  expect(others).toEqual([]);
  expect(exact).toHaveLength(served.size);
  expect(await query(home, 'select sum(requests) as sum from sums')).toEqual([{ sum: rows.length }]);
}, 120_000);
