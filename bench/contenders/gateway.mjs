import { hash } from 'node:crypto';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { policies } from '../policies.mjs';

/**
 * The gateway of a checkout, as somebody has it who writes a configuration and nothing more: a ledger, the live page,
 * records in a file. A variant has another policy of policies.mjs, what a team turns on (limits, limits in Redis, metrics,
 * tracing), no ledger, or its records `logged`: as a service runs it, as JSON lines on stderr as well, and with the flags of
 * deploy/systemd/gateway.service. `extend` changes its configuration.
 */
export function gateway({
  name,
  root,
  policy = 'small',
  records = 'file',
  with: on = [],
  without: off = [],
  extend = (plain) => plain,
}) {
  return {
    name,
    isGateway: true,
    root,
    policy,
    needsRedis: on.includes('redis'),
    prepare({ port, provider, folder, key, redis, workers = 1 }) {
      const home = join(folder, `gateway-${port}`);
      mkdirSync(home, { recursive: true });
      const file = join(home, 'gateway.yaml');
      // JSON is YAML.
      writeFileSync(
        file,
        JSON.stringify(extend(configuration({ provider, key, policy, redis, on, off })), null, 2),
      );
      const logging = records === 'logged' ? ['--log', 'json'] : ['--quiet'];
      return {
        command: [
          process.execPath,
          ...(records === 'logged' ? serviceFlags : []),
          join(resolve(root), 'bin/gateway.js'),
          'serve',
          '--config',
          file,
          '--port',
          String(port),
          '--no-watch',
          ...(workers > 1 ? ['--workers', String(workers)] : []),
          ...logging,
        ],
        environment: {
          XDG_STATE_HOME: home,
          HOME: home,
          // The provider answers everything with 200, as a collector does.
          ...(on.includes('tracing')
            ? { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${provider.port}` }
            : {}),
        },
        cwd: home,
        stderr: records === 'logged' ? openSync(join(home, 'stderr'), 'a') : 'pipe',
      };
    },
  };
}

const unit = readFileSync(new URL('../../deploy/systemd/gateway.service', import.meta.url), 'utf8');
const serviceFlags = /^ExecStart=.*/m
  .exec(unit)[0]
  .split(' ')
  .filter((word) => word.startsWith('--'));

// More than any run uses up.
const limits = { requests_per_minute: 1e9, tokens_per_day: 1e9, concurrent_requests: 1e5 };

/** Without the plant store, which is another service. */
function configuration({ provider, key, policy, redis, on, off }) {
  const rules = policies[policy];
  return {
    server: { limits: { body_size: '64MiB' } },
    providers: {
      provider: {
        dialect: 'openai',
        base_url: `http://127.0.0.1:${provider.port}/v1`,
        api_key: 'sk-provider-0123456789abcdef',
        connections: 2_048,
      },
    },
    models: [{ match: '*', provider: 'provider' }],
    ...(rules === undefined ? {} : { policies: { bench: { apply: 'all', rules } } }),
    projects: {
      bench: {
        keys: [{ id: 'bench', hash: `sha256:${hash('sha256', key)}` }],
        ...(on.includes('limits') ? { limits } : {}),
      },
    },
    ...(on.includes('redis') ? { state: redis.url } : {}),
    records: off.includes('ledger') ? { ledger: false } : {},
    ...(on.includes('metrics') ? { metrics: { port: 0 } } : {}),
    plants: { store: { enabled: false } },
  };
}
