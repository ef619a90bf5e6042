import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { ExchangeMetrics } from '../../src/record/metrics/exchange-metrics.ts';
import { ProcessMetrics } from '../../src/record/metrics/process-metrics.ts';
import { heapFlags } from '../../src/server/workers/spawn-worker.ts';
import { hasPrometheus, promtool } from '../kit/prometheus.ts';
import { compose, deployed, root } from './parts.ts';

const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' });
const variables = [...deployed('gateway.yaml').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name as string);

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: of another system's shape, of which a few places are looked at
  readonly spec: Record<string, any>;
}

const manifests = () =>
  parseAllDocuments(deployed('kubernetes', 'gateway.yaml')).map((document) => document.toJS() as Manifest);

test('the image and the unit start Node with the flags that the gateway gives its own processes', () => {
  const flags = heapFlags({});

  expect(flags).toEqual([expect.stringMatching(/^--max-semi-space-size=\d+$/), '--no-memory-reducer']);
  const inJson = flags.map((flag) => `"${flag}"`).join(', ');
  expect(deployed('Dockerfile')).toContain(`ENTRYPOINT ["node", ${inJson}, "bin/gateway.js"]`);
  const inWords = flags.join(' ');
  expect(deployed('systemd', 'gateway.service')).toContain(
    `ExecStart=/usr/bin/node ${inWords} /opt/gateway/`,
  );
  expect(deployed('kubernetes', 'gateway.yaml')).not.toMatch(/^\s+command:/m); // the image's own
  expect(heapFlags({ NODE_OPTIONS: '--max-semi-space-size=64' })).toEqual(['--no-memory-reducer']);
  expect(heapFlags({ NODE_OPTIONS: '--max_semi_space_size=64' })).toEqual(['--no-memory-reducer']);
});

test.each(files.filter((name) => /\.ya?ml$/.test(name)))('%s is YAML without mistakes', (name) => {
  for (const { errors, warnings } of parseAllDocuments(deployed(name), { merge: true })) {
    expect([...errors, ...warnings]).toEqual([]);
  }
});

/** The configuration as the containers have it. */
function load() {
  const env = Object.fromEntries(variables.map((name) => [name, '4100']));
  const addresses = { METRICS_PORT: '9464', REDIS_URL: 'redis://r', LEDGER_URL: 'postgres://p/g' };
  return loadConfig({
    file: join(root, 'deploy/gateway.yaml'),
    cwd: root,
    env: { ...env, ...addresses, TEAM_KEY: 'team-key-0123456789abcdef' },
    nowMs: Date.now(),
  });
}

test('the configuration is valid, with nothing to warn of but providers without keys', async () => {
  const { config, warnings } = await load();

  expect(config.metrics).toEqual({ host: '0.0.0.0', port: 9464 });
  expect(warnings.filter(({ message }) => !/anthropic|openai|_API_KEY/.test(message))).toEqual([]);
});

test('the gateways of the compose file have every variable, a read-only root, and longer to stop than to drain', () => {
  const { services } = compose();
  for (const name of ['gateway-1', 'gateway-2']) {
    const service = services[name];
    expect(variables.filter((variable) => service?.environment?.[variable] === undefined)).toEqual([]);
    expect(service?.read_only).toBe(true);
    expect(Number.parseInt(service?.stop_grace_period ?? '', 10)).toBeGreaterThan(60);
    expect(service?.ports).toBeUndefined();
  }
  const published = Object.values(services).flatMap(({ ports = [] }) => ports);
  expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
});

test('every name by which services and proxies call the gateways is allowed', async () => {
  const { config } = await load();
  const service = manifests().find(({ kind }) => kind === 'Service');
  const gateways = Object.keys(compose().services).filter((name) => name.startsWith('gateway'));
  const sent = /proxy_set_header Host (\S+);/.exec(deployed('nginx.conf'))?.[1] ?? '';

  const name = service?.metadata.name ?? '';
  const called = [...gateways, sent, name, `${name}.default`, `${name}.default.svc.cluster.local`];
  expect(called.filter((host) => !config.server.allowedHosts.has(host))).toEqual([]);
  expect(called.length).toBe(6);
});

test('the manifests probe, stay up and scale by open streams', () => {
  const kinds = new Map(manifests().map(({ kind, spec }) => [kind, spec]));
  const pod = kinds.get('Deployment')?.template.spec;
  const [container] = pod.containers;

  expect(container.readinessProbe.httpGet.path).toBe('/readyz');
  expect(container.livenessProbe.httpGet.path).toBe('/healthz');
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    expect(container[probe].httpGet.httpHeaders).toBeUndefined(); // the pod's address in Host is as good
    expect(container[probe].timeoutSeconds).toBeGreaterThanOrEqual(5);
  }
  expect(container.securityContext).toMatchObject({
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
  });
  expect(pod.securityContext.runAsNonRoot).toBe(true);
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(60 + 5);
  expect(kinds.get('PodDisruptionBudget')?.minAvailable).toBe(1);
  expect(kinds.get('HorizontalPodAutoscaler')?.metrics[0].pods.metric.name).toBe('gateway_open_streams');
  const set = container.env.map(({ name }: { name: string }) => name);
  const secret = deployed('kubernetes', 'gateway.yaml')
    .match(/--from-literal=(\w+)/g)
    ?.map((text) => text.slice(15));
  expect(variables.filter((name) => !set.includes(name) && !secret?.includes(name))).toEqual([]);
});

test.runIf(hasPrometheus)('promtool has nothing to object to the rules', () => {
  expect(promtool(['check', 'rules', join(root, 'deploy/prometheus/rules.yml')])).toBe('');
});

test('rules and dashboard ask for metrics that there are', () => {
  const measured = new ProcessMetrics();
  const gauges = {
    open: { exchanges: 0, streams: 0 },
    providers: [],
    ledger: { isWritable: true, isMoving: true, unwritten: 0, pending: 0, lagMs: 0 },
    isStateShared: true,
  };
  const names = [...new ExchangeMetrics(String).read(), ...measured.read(gauges, [])].map(({ name }) => name);
  measured.close();

  const texts = deployed('prometheus', 'rules.yml') + deployed('grafana', 'dashboards', 'gateway.json');
  const asked = new Set(
    [...texts.matchAll(/\b(?:gateway|gen_ai|process)_\w+?(?=_bucket\b|[^\w])/g)].map(([name]) => name),
  );

  const labels = new Set(['gen_ai_request_model', 'gen_ai_provider_name', 'gen_ai_token_type']);
  expect([...asked].filter((name) => !names.includes(name) && !labels.has(name))).toEqual([]);
  expect(asked.size).toBeGreaterThan(20);
});

test.runIf(spawnSync('systemd-analyze', ['--version']).status === 0)('systemd takes the unit', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-unit-'));
  const file = join(directory, 'gateway.service');
  writeFileSync(file, deployed('systemd', 'gateway.service').replace('/usr/bin/node', process.execPath));

  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  rmSync(directory, { recursive: true });

  expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('gateway.service'))).toEqual([]);
  expect(status).toBe(0);
});
