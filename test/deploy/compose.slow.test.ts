import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, fetch, type Response } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { type Child, startProgram } from '../kit/child.ts';
import { emptyDirectory } from '../kit/command.ts';
import { freePort } from '../kit/ports.ts';
import { hasPrometheus, type Prometheus, startPrometheus } from '../kit/prometheus.ts';
import { hasRedis, startRedis } from '../kit/redis.ts';
import { postgresPrograms, startPostgres } from '../plants/postgres.ts';
import { deployed, environmentOf, root, startNginx } from './parts.ts';

// What deploy/compose.yaml starts in containers, started here as programs: its configuration, its environment, its
// nginx, its queries; only addresses are others.

const hasAll =
  hasRedis && hasPrometheus && postgresPrograms !== undefined && spawnSync('nginx', ['-v']).status === 0;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const key = 'team-key-0123456789abcdef';

interface Started {
  readonly url: string;
  readonly gateways: readonly Child[];
  readonly metricsPorts: readonly number[];
  readonly ledgerUrl: string;
  readonly home: string;
}

async function start(): Promise<Started> {
  const redis = await startRedis();
  closing.push(() => redis.stop());
  const postgres = await startPostgres();
  closing.push(() => postgres.stop());
  const ledgerUrl = await postgres.createDatabase();
  const home = emptyDirectory();
  copyFileSync(join(root, 'deploy/gateway.yaml'), join(home, 'gateway.yaml'));
  const ports = [await freePort(), await freePort()];
  const metricsPorts = [await freePort(), await freePort()];
  const gateways = ['gateway-1', 'gateway-2'].map((name, i) => {
    const directory = emptyDirectory();
    const child = startProgram(
      ['serve', '-c', join(home, 'gateway.yaml'), '--host', '127.0.0.1'],
      directory,
      {
        ...environmentOf(name, { TEAM_KEY: key, POSTGRES_PASSWORD: 'unused' }),
        GATEWAY_PORT: String(ports[i]),
        METRICS_PORT: String(metricsPorts[i]),
        REDIS_URL: redis.url,
        LEDGER_URL: ledgerUrl,
      },
    );
    closing.push(async () => {
      child.process.kill('SIGKILL');
      await child.ended;
    });
    return child;
  });
  await Promise.all(gateways.map((child) => child.wrote('"listening"')));
  const nginx = await startNginx(
    { 'gateway-1:4100': `127.0.0.1:${ports[0]}`, 'gateway-2:4100': `127.0.0.1:${ports[1]}` },
    await freePort(),
  );
  closing.push(() => nginx.stop());
  return { url: nginx.url, gateways, metricsPorts, ledgerUrl, home };
}

// A connection for each request: nginx closes idle ones when it reloads, and a POST is not sent again then.
const dispatcher = new Agent({ pipelining: 0 });

function ask({ url }: Started, model: string, { stream = false, text = 'hello' } = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, stream, max_tokens: 60, messages: [{ role: 'user', content: text }] }),
  });
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const queries = () =>
  (JSON.parse(deployed('grafana', 'dashboards', 'gateway.json')) as Dashboard).panels.flatMap(
    ({ title, targets }) =>
      targets.map(({ expr }) => ({ title, expr: expr.replaceAll('$__rate_interval', '10s') })),
  );

/** Traffic of every kind that the dashboard shows, as rates need it: more than once. */
async function traffic(started: Started): Promise<void> {
  for (let i = 0; i < 4; i += 1) {
    await (await ask(started, 'sandbox-mini')).text();
    await (await ask(started, 'sandbox-mini', { stream: true })).text();
    await (await ask(started, 'unknown')).text();
    await (await ask(started, 'sandbox-mini', { text: 'AKIAQYLPMN5HHHFPZAM2 is the key' })).text();
    await (await ask(started, 'sandbox-cut', { stream: true })).text().catch(() => 'cut');
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

async function withoutData(prometheus: Prometheus): Promise<string[]> {
  const empty: string[] = [];
  for (const { title, expr } of queries()) {
    const samples = await prometheus.query(expr);
    if (!samples.some(({ value }) => Number.isFinite(Number(value[1])))) empty.push(`${title}: ${expr}`);
  }
  return empty;
}

test.runIf(hasAll)(
  'both gateways serve behind nginx, share limits and ledger, and fill the dashboard',
  async () => {
    const started = await start();
    const targets = started.metricsPorts.map((port) => `"127.0.0.1:${port}"`).join(', ');
    const rules = join(root, 'deploy/prometheus/rules.yml');
    const prometheus = await startPrometheus(`
global: { scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms }
rule_files: ["${rules}"]
scrape_configs: [{ job_name: gateway, static_configs: [{ targets: [${targets}] }] }]
`);
    closing.push(() => prometheus.stop());

    await traffic(started);
    let empty = await withoutData(prometheus);
    for (let tries = 0; tries < 10 && empty.length > 0; tries += 1) {
      await traffic(started);
      empty = await withoutData(prometheus);
    }
    expect(empty).toEqual([]);
    // Both have served, and what is left of the budget is the same for both.
    const served = await prometheus.query('sum by (instance) (gateway_requests_total{outcome="answered"})');
    expect(served).toHaveLength(2);
    const distinct = async () => {
      const left = await prometheus.query('gateway_budget_remaining_tokens');
      return new Set(left.map(({ value }) => value[1])).size;
    };
    await expect.poll(distinct, { timeout: 10_000 }).toBe(1); // once both have been scraped after the last request
    expect(
      await prometheus.query(
        'ALERTS{alertstate="firing",alertname!~"GatewayFailures|GatewaySlowFirstToken"}',
      ),
    ).toEqual([]);

    const slow = await ask(started, 'sandbox-slow', { stream: true });
    const reader = (slow.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (text.split('\n\n').length < 4) text += Buffer.from((await reader.read()).value ?? []).toString();
    expect(text).not.toContain('[DONE]'); // nginx passes events on as they come
    await reader.cancel();

    for (const { process: child } of started.gateways) child.kill('SIGTERM');
    const ends = await Promise.all(started.gateways.map(({ ended }) => ended));
    expect(ends.map(({ exit }) => exit)).toEqual([0, 0]);
    const usage = await startProgram(
      ['usage', '-c', join(started.home, 'gateway.yaml'), '--by', 'project', '-o', 'json'],
      started.home,
      {
        ...environmentOf('gateway-1', { TEAM_KEY: key }),
        LEDGER_URL: started.ledgerUrl,
        REDIS_URL: 'redis://127.0.0.1:1/0',
      },
    ).ended;
    const answered = served.reduce((sum, { value }) => sum + Number(value[1]), 0);
    const [row] = JSON.parse(usage.stdout) as { requests: number }[];
    expect(row?.requests).toBeGreaterThan(answered);
  },
  120_000,
);
