import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command, emptyDirectory } from '../../kit/command.ts';
import { dailyTokensIn, hasRedis, startRedis, type TestRedis } from '../../kit/redis.ts';
import { scale } from '../../kit/scale.ts';
import { type Postgres, postgresPrograms, startPostgres } from '../../plants/postgres.ts';
import {
  ask,
  body,
  configure,
  type Gateway,
  host,
  keys,
  maxima,
  serveIn,
  stop,
  withBudget,
} from './workers/serving.ts';

// `kill -9` of gateways, Redis and PostgreSQL in turn, under load.
const rounds = scale(1, 2);
const clients = 12;
const streamed = { ...body, stream: true };
const usage = { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 };
const worst = maxima(streamed);

interface Row {
  readonly request_id: string;
  readonly outcome: string;
  readonly tokens: number;
}

describe.skipIf(postgresPrograms === undefined || !hasRedis)('two gateways, a Redis and a PostgreSQL', () => {
  let postgres: Postgres;
  let redis: TestRedis;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([postgres?.stop(), redis?.stop()]);
  });

  test(
    `each killed ${rounds} times: nothing acknowledged is missing, nothing is there twice, no budget is given back`,
    async () => {
      let served = 0;
      const { url } = await host(async (response) => {
        served += 1;
        const piece = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-test' };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (let i = 0; i < 10 && !response.destroyed; i += 1) {
          const choices = [{ index: 0, delta: { content: 'word ' }, finish_reason: null }];
          response.write(`data: ${JSON.stringify({ ...piece, choices })}\n\n`);
          await new Promise((resume) => setTimeout(resume, 15));
        }
        response.end(`data: ${JSON.stringify({ ...piece, choices: [], usage })}\n\ndata: [DONE]\n\n`);
      });
      const database = await postgres.createDatabase();
      const more = `state: ${redis.url}\nrecords: { ledger_database: "${database}" }`;
      const homes = [emptyDirectory(), emptyDirectory()] as const;
      for (const home of homes)
        configure(home, withBudget(url, { limits: 'tokens_per_day: 1000000000', more }));
      const gateways = [await serveIn(homes[0]), await serveIn(homes[1])] as [Gateway, Gateway];

      const acknowledged = new Set<string>();
      let isOver = false;
      const client = async (i: number) => {
        while (!isOver) {
          const gateway = gateways[i % 2] as Gateway;
          const response = await ask(gateway, streamed).catch(() => undefined);
          const text = await response?.text().catch(() => '');
          if (text?.includes('[DONE]')) acknowledged.add(response?.headers.get('x-request-id') ?? '');
          if (response?.status !== 200) await new Promise((resume) => setTimeout(resume, 30));
        }
      };
      const load = Array.from({ length: clients }, (_, i) => client(i));
      const untilServed = async () => {
        const before = acknowledged.size;
        await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThan(before + 2 * clients);
      };
      for (let round = 0; round < rounds; round += 1) {
        await untilServed();
        const killed = round % 2 === 0 ? 0 : 1;
        await stop(gateways[killed], 'SIGKILL');
        gateways[killed] = await serveIn(homes[killed]);
        await untilServed();
        await postgres.kill();
        await new Promise((resume) => setTimeout(resume, 200));
        await postgres.resume();
        await untilServed();
        await redis.kill();
        await new Promise((resume) => setTimeout(resume, 200));
        await redis.start();
      }
      await untilServed();
      isOver = true;
      await Promise.all(load);
      for (const gateway of gateways) await stop(gateway);

      const client_ = new pg.Client({ connectionString: database });
      await stop(await serveIn(homes[0])); // settles what its last kill left open, and tells Redis
      client_.on('error', () => undefined); // where this test fails, the server ends before its client
      await client_.connect();
      const query = async <R>(sql: string) => (await client_.query(sql)).rows as R[];
      const rows = await query<Row>(
        'select request_id, outcome, (input_tokens + output_tokens)::int as tokens from ledger_exchanges',
      );
      const [sums] = await query<{ requests: number; tokens: number }>(
        'select sum(requests)::int as requests, sum(input_tokens + output_tokens)::int as tokens from ledger_sums',
      );
      await client_.end();

      const known = new Map(rows.map((row) => [row.request_id, row]));
      const kills = 3 * rounds;
      expect(known.size).toBe(rows.length);
      expect([...acknowledged].filter((id) => !known.has(id))).toEqual([]);
      for (const id of acknowledged) expect(known.get(id)?.tokens).toBeGreaterThanOrEqual(120);
      for (const { outcome, tokens } of rows) if (outcome === 'answered') expect(tokens).toBe(120);
      // Everything that reached the provider has its row; what was only about to may have one for each kill and client.
      expect(rows.length).toBeGreaterThanOrEqual(served);
      expect(rows.length).toBeLessThanOrEqual(served + kills * clients);
      const total = rows.reduce((sum, { tokens }) => sum + tokens, 0);
      expect(sums).toEqual({ requests: rows.length, tokens: total });

      // What Redis counts is never below the ledger, and above it by no more than what each kill left open.
      const counters = new Redis(redis.url);
      const counted = await dailyTokensIn(counters, 'shop');
      counters.disconnect();
      expect(counted).toBeGreaterThanOrEqual(total);
      expect(counted - total).toBeLessThanOrEqual(kills * clients * worst);

      const report = await command(['usage', '-o', 'json'], { cwd: homes[1], env: keys });
      expect(JSON.parse(report.stdout)).toMatchObject([{ project: 'shop', requests: rows.length }]);
    },
    60_000 + rounds * 60_000,
  );
});
