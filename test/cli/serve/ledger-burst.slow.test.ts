import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openSqliteReader } from '../../../src/database/sqlite-engine.ts';
import { type Child, startProgram } from '../../kit/child.ts';
import { emptyDirectory } from '../../kit/command.ts';
import { ask, configure, host } from './workers/serving.ts';

const key = 'a-project-key-for-the-ledger';
const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 };
// What a request may use at most is what it uses.
const inputTokens = Math.ceil(JSON.stringify(body).length / 3);
const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-test',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: inputTokens, completion_tokens: 100, total_tokens: inputTokens + 100 },
});
const budget = 50 * (inputTokens + 100);

const running: Child[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.process.kill('SIGKILL');
});

test.each([1, 2])(
  '400 requests at once never spend more than a budget for 50, nor after kill -9 in their midst (workers: %i)',
  async (workers) => {
    let isSlow = false;
    const scripted = await host((response) => {
      const send = () => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(answer);
      };
      if (isSlow) setTimeout(send, 60_000).unref();
      else send();
    });
    const home = emptyDirectory();
    configure(
      home,
      `
server: { workers: ${workers} }
providers: { gpt: { dialect: openai, base_url: "${scripted.url}/v1" } }
models: [{ match: "gpt-*", provider: gpt }]
projects:
  shop:
    limits: { tokens_per_day: ${budget} }
    keys: [{ id: shop-web, value: "\${SHOP_KEY}" }]
`,
    );
    const start = async () => {
      const child = startProgram(['serve', '-p', '0'], home, { SHOP_KEY: key });
      running.push(child);
      await child.wrote('"listening"');
      const { url } = JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8'));
      return { child, home, url: url as string, key, workers: [] };
    };
    const burst = async (gateway: Awaited<ReturnType<typeof start>>, count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          ask(gateway, body).then(
            async (response) => {
              await response.text();
              return response.status;
            },
            () => 0,
          ),
        ),
      );
    const granted = (statuses: readonly number[]) => statuses.filter((status) => status === 200).length;

    const first = await start();
    const served = granted(await burst(first, 20));
    isSlow = true;
    const asked = scripted.requests.length;
    const open = burst(first, 10);
    await expect.poll(() => scripted.requests.length).toBe(asked + 10);
    first.child.process.kill('SIGKILL');
    await open;
    await first.child.ended;
    isSlow = false;

    const second = await start();
    const again = granted(await burst(second, 400));
    second.child.process.kill('SIGKILL');
    await second.child.ended;
    const third = await start();
    const after = granted(await burst(third, 400));
    expect([served, again, after]).toEqual([20, 20, 0]);
    // What dead gateways left is moved once it is clear that they are dead.
    const spent = async () => {
      const engine = await openSqliteReader(join(home, '.local/state/gateway/ledger.sqlite'));
      const [sums] = engine
        .prepare(
          "select count(*) as rows, sum(outcome = 'unknown') as unknown, sum(input_tokens + output_tokens) as tokens from exchanges",
        )
        .all();
      engine.close();
      return sums;
    };
    await expect.poll(spent, { timeout: 60_000 }).toEqual({ rows: 50, unknown: 10, tokens: budget });
    third.child.process.kill('SIGTERM');
    await third.child.ended;
  },
  120_000,
);
