import { hash } from 'node:crypto';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { policies } from '../policies.mjs';

/**
 * The gateway of a checkout, in one variant: a policy of policies.mjs, with or without the ledger, and records `file` (as by default when
 * nobody watches), `logged` (JSON lines on stderr as well) or `discarded` (made, but written to /dev/null: the
 * product has no way not to make them).
 */
export function gateway({ name, root, policy, records, ledger = false }) {
  return {
    name,
    isGateway: true,
    policy,
    prepare({ port, provider, folder, key, workers = 1 }) {
      const home = join(folder, `gateway-${port}`);
      mkdirSync(home, { recursive: true });
      const file = join(home, 'gateway.yaml');
      const recordsFile = records === 'discarded' ? '/dev/null' : join(home, 'records.jsonl');
      // JSON is YAML.
      writeFileSync(
        file,
        JSON.stringify(configuration({ provider, key, policy, recordsFile, ledger }), null, 2),
      );
      const logging = records === 'logged' ? ['--log', 'json'] : ['--quiet'];
      return {
        command: [
          process.execPath,
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
        environment: { XDG_STATE_HOME: home, HOME: home },
        cwd: home,
        stderr: records === 'logged' ? openSync(join(home, 'stderr'), 'a') : 'pipe',
      };
    },
  };
}

/** Without the plant store, which is another service. */
function configuration({ provider, key, policy, recordsFile, ledger }) {
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
    projects: { bench: { keys: [{ id: 'bench', hash: `sha256:${hash('sha256', key)}` }] } },
    records: { file: recordsFile, ledger },
    plants: { store: { enabled: false } },
  };
}
