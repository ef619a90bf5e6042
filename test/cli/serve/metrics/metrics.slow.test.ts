import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { chatEvents, openStream, requestFor, speakAll } from '../../../kit/answers.ts';
import { startProgram } from '../../../kit/child.ts';
import { emptyDirectory } from '../../../kit/command.ts';
import { listening } from '../../../kit/listening.ts';
import { freePort } from '../../../kit/ports.ts';
import { hasPrometheus, promtool } from '../../../kit/prometheus.ts';
import { head, sendRaw } from '../../../kit/raw.ts';
import { ask, askAlone, configure, host, serve, withHost } from '../workers/serving.ts';

interface Metered {
  readonly gateway: Awaited<ReturnType<typeof serve>>;
  readonly metricsPort: number;
  /** The value of a series, by its name and labels as they are written. */
  value(series: string): Promise<number>;
  text(): Promise<string>;
}

const budget = `
projects:
  shop:
    limits: { tokens_per_day: 1000000, usd_per_month: 40 }
    keys: [{ id: web, value: "\${KEY}" }]
`;
const key = 'project-key-0123456789';

async function metered(url: string, workers: number, more = budget): Promise<Metered> {
  const metricsPort = await freePort();
  const yaml = `${withHost({ url } as never, `workers: ${workers}`)}metrics: { port: ${metricsPort} }\n${more}`;
  const gateway = await serve(yaml.replace('"gpt-*"', '"gpt-test", pricing: { input: 1, output: 2 }'), [], {
    KEY: key,
  });
  const text = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return {
    gateway: { ...gateway, key },
    metricsPort,
    text,
    value: async (series) => {
      const line = (await text()).split('\n').find((each) => each.startsWith(`${series} `));
      return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
    },
  };
}

const served = 'gateway_requests_total{project="shop",endpoint="chat",outcome="answered",status="200"}';

describe.each([1, 2])('with %i processes', { timeout: 60_000 }, (workers) => {
  test('what clients did is counted in all of them, and what is open shows', async () => {
    const provider = await host(speakAll);
    const { gateway, value, text } = await metered(provider.url, workers);

    for (let i = 0; i < 6; i += 1) await (await askAlone(gateway)).text();
    await (await ask(gateway, requestFor('chat', 'made-up'), { connection: 'close' })).text();
    provider.script(openStream(chatEvents.slice(0, 2)));
    const streams = await Promise.all(
      [1, 2, 3].map(() =>
        ask(gateway, requestFor('chat', 'gpt-test', { stream: true }), { connection: 'close' }),
      ),
    );

    await expect.poll(() => value(served)).toBe(6);
    await expect.poll(() => value('gateway_refusals_total{project="shop",reason="model.unknown"}')).toBe(1);
    await expect.poll(() => value('gateway_open_streams')).toBe(3);
    expect(await value('gateway_processes')).toBe(workers);
    expect(await value('gateway_provider_active_requests{provider="gpt"}')).toBe(3);
    expect(await text()).not.toContain('made-up');
    const left = 'gateway_budget_remaining_tokens{scope="project",name="shop",limit="tokens_per_day"}';
    expect(await value(left)).toBeLessThan(1_000_000);
    expect(await value(left)).toBeGreaterThan(0);
    for (const stream of streams) await stream.body?.cancel();
  });

  test.runIf(hasPrometheus)('promtool has nothing to object', async () => {
    const provider = await host(speakAll);
    const { gateway, text } = await metered(provider.url, workers);
    await (await askAlone(gateway)).text();

    expect(promtool(['check', 'metrics'], await text())).toBe('');
  });
});

test('sums do not go down when a worker is killed, nor does a scrape fail', async () => {
  const provider = await host(speakAll);
  const { gateway, value } = await metered(provider.url, 2);
  for (let i = 0; i < 8; i += 1) await (await askAlone(gateway)).text();
  await expect.poll(() => value(served)).toBe(8);

  process.kill(gateway.workers[0] as number, 'SIGKILL');
  await gateway.child.wrote('serves in its place');
  for (let i = 0; i < 4; i += 1) await (await askAlone(gateway)).text();

  await expect.poll(() => value(served)).toBe(12);
  await expect.poll(() => value('gateway_processes')).toBe(2);
});

test('only GET /metrics is served, to loopback names, and no page of another origin', async () => {
  const { metricsPort, gateway } = await metered((await host(speakAll)).url, 1);

  for (const [status, ...lines] of [
    [200, 'GET /metrics HTTP/1.1', 'Host: localhost'],
    [200, 'GET /metrics?x=1 HTTP/1.1', 'Host: 127.0.0.1:9'],
    [405, 'POST /metrics HTTP/1.1', 'Host: localhost', 'Content-Length: 0'],
    [404, 'GET / HTTP/1.1', 'Host: localhost'],
    [421, 'GET /metrics HTTP/1.1', 'Host: evil.example'],
    [421, 'GET /metrics HTTP/1.1', 'Host: 10.0.0.1'],
    [403, 'GET /metrics HTTP/1.1', 'Host: localhost', 'Origin: http://evil.example'],
  ] as const) {
    const answer = await sendRaw(metricsPort, head(...lines, 'Connection: close'));
    expect(answer.status, lines.join()).toBe(status);
  }
  // The gateway's own port has none.
  expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
});

test('a port in use is named', async () => {
  const { port } = await listening(createServer());
  const home = emptyDirectory();
  configure(home, `metrics: { port: ${port} }`);

  const { exit, stderr } = await startProgram(['serve', '-p', '0'], home).ended;

  expect(exit).not.toBe(0);
  expect(stderr).toContain(`metrics.port ${port} is taken`);
});
