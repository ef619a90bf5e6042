// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { expect, test } from 'vitest';
import { type Config, rebuildConfig } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { allowAll, createWorkspace, nowMs } from './workspace.ts';

const yaml = `
providers:
  gpt: { dialect: openai, api_key: "\${PROVIDER_KEY}" }
  unset: { dialect: openai, api_key: "\${NOWHERE}" }
models: [{ match: "gpt-*", provider: gpt }]
policies: { house: { apply: all, rules: [{ id: shell, action: block, when: { tools: [shell] } }] } }
projects:
  shop: { models: ["gpt-*"], keys: [{ id: web, value: "\${SHOP_KEY}" }, { id: batch, file: key.txt }] }
`;

/** What two configurations must agree on, as data. */
function facts(config: Config) {
  const { hash, server, providers, models, projects, secrets, policySource, records, plants } = config;
  return { hash, server, providers, models, projects, secrets, policySource, records, plants };
}

test('another process builds the same configuration from the source, sent as data', async () => {
  const cwd = createWorkspace({ 'gateway.yaml': yaml, 'key.txt': 'a-key-from-a-file-0123456789' });
  const env = { HOME: cwd, PROVIDER_KEY: 'sk-provider-0123456789', SHOP_KEY: 'a-key-from-the-environment' };
  const { config } = await loadConfig({ cwd, env, nowMs, consent: allowAll });
  const local = config.withKey({ id: 'local', project: 'shop', value: 'a-key-made-at-run-time' });

  const rebuilt = rebuildConfig(structuredClone(local.source));

  expect(facts(rebuilt)).toEqual(facts(local));
  expect(rebuilt.keys.size).toBe(3);
  expect(rebuilt.providers.get('unset')).toMatchObject({ isConfigured: false });
  expect(rebuilt.secrets).toContain('a-key-made-at-run-time');
});
