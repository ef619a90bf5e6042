// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Config, rebuildConfig } from '../../src/config/config.ts';
import { inspectConfig, loadConfig } from '../../src/config/load.ts';
import { markedSettings } from '../../src/config/schema/reach.ts';
import { settingsSchema } from '../../src/config/schema/schema.ts';
import { inFileOrder } from '../../src/config/source/problems.ts';
import { toFields } from '../../src/dialects/fields.ts';
import { makeAuthority } from '../kit/certificate.ts';
import { allowAll, createWorkspace, inspect, nowMs, problemsOf } from './workspace.ts';

async function load(yaml: string, env: Readonly<Record<string, string>> = {}): Promise<Config> {
  const cwd = createWorkspace({ 'gateway.yaml': yaml });
  return (await loadConfig({ cwd, env: { HOME: cwd, ...env }, nowMs, consent: allowAll })).config;
}

test('without a file there is the sandbox, ready for a key of its own', async () => {
  const cwd = createWorkspace();

  const { config, path, warnings } = await loadConfig({ cwd, env: { HOME: cwd }, nowMs, consent: allowAll });

  expect(path).toBeUndefined();
  expect(warnings).toEqual([]);
  expect(config).toMatchObject({ isSandboxMode: true, needsLocalKey: true });
  expect([...config.providers.values()]).toMatchObject([
    { name: 'sandbox', dialect: 'sandbox', isConfigured: true },
  ]);
  expect(config.findModel('sandbox-mini')?.targets).toEqual([{ provider: 'sandbox' }]);
  expect([...config.projects.keys()]).toEqual(['local']);
  expect(config.keys.size).toBe(0);
});

test('a container may be called by a name with an underscore', async () => {
  expect(await problemsOf('server: { allowed_hosts: [llm_gateway] }')).toEqual([]);
});

test.each(['{}', '{} # on purpose', 'server: { port: 4200 }'])('%j is the sandbox too', async (yaml) => {
  expect(await load(yaml)).toMatchObject({ isSandboxMode: true, needsLocalKey: true });
});

test.each(['', ' \n\n', '# all of it\n# commented out\n', '---\n', 'null\n', '~'])(
  '%j sets nothing',
  async (yaml) => {
    await expect(load(yaml)).rejects.toThrow(/the file sets nothing[\s\S]*write {} for sandbox mode/);
  },
);

test('warns of what matches or applies to nothing', async () => {
  const { problems } = await inspect(`models: [{ match: "sandbox-*", provider: sandbox }]
providers: { sandbox: { dialect: sandbox } }
policies:
  spare: { default: deny }
  empty: { apply: all }
  house:
    apply: all
    rules:
      - { id: gpt, action: block, when: { model: ["gpt-*", sandbox-mini], project: [shop, "sh*", stock] } }
projects: { shop: { models: ["sandbox-*", "claude-*", "*-mini"], keys: [] } }
`);

  expect(
    inFileOrder(problems).map(({ severity, path, message }) => [severity, path.join('.'), message]),
  ).toEqual([
    ['warning', 'policies.spare', 'applies to nothing: no project and no key names it'],
    ['warning', 'policies.empty', 'has no rules'],
    ['warning', 'policies.house.rules.0.when.model.0', '"gpt-*" matches no configured model'],
    ['warning', 'policies.house.rules.0.when.project.2', '"stock" matches no configured project'],
    ['warning', 'projects.shop.models.1', '"claude-*" matches no configured model'],
  ]);
});

test('a key that is added is found, is a secret, and leaves the configuration before as it was', async () => {
  const before = await load('{}');

  const after = before.withKey({ id: 'local', project: 'local', value: 'a-key-of-this-machine' });

  expect(after.keys.find('a-key-of-this-machine')).toMatchObject({ id: 'local', project: 'local' });
  expect(after.secrets).toEqual(['a-key-of-this-machine']);
  expect(before.keys.find('a-key-of-this-machine')).toBeUndefined();
});

test('turns durations and sizes into the numbers of reliability', async () => {
  const { server } = await load('{}');

  expect(server.limits).toEqual({
    headMs: 10_000,
    bodiesInFlightBytes: 512 * 1024 * 1024,
    bodyIdleMs: 15_000,
    bodyTotalMs: 60_000,
    headBytes: 16_384,
    bodyBytes: 33_554_432,
    connections: 10_000,
    pipelined: 16,
    idleMs: 620_000,
    writeMs: 30_000,
    drainMs: 30_000,
  });
});

test('fills in what depends on the dialect', async () => {
  const { providers } = await load(
    `providers:
      a: { dialect: anthropic, api_key: "\${KEY}" }
      b: { dialect: openai, base_url: "http://127.0.0.1:1/v1//", forward_headers: [X-One] }`,
    { KEY: 'provider-key' },
  );

  expect(providers.get('a')).toMatchObject({
    baseUrl: 'https://api.anthropic.com',
    apiKey: 'provider-key',
    isConfigured: true,
  });
  expect([...(providers.get('a')?.endpoints ?? [])]).toEqual(['messages', 'count_tokens']);
  expect(providers.get('b')).toMatchObject({
    baseUrl: 'http://127.0.0.1:1/v1',
    isConfigured: true,
    forwardHeaders: new Set(['x-one']),
    timeouts: { connectMs: 5000, headersMs: 600_000, idleMs: 300_000, totalMs: 3_600_000, queueMs: 10_000 },
    connections: 512,
    retries: { attempts: 2, budget: 0.2 },
    breaker: { failures: 5, openMs: 30_000 },
  });
  expect([...(providers.get('b')?.endpoints ?? [])]).toEqual(['chat', 'responses', 'embeddings']);
});

test('an unset variable disables its provider and says so where a model needs it', async () => {
  const { config, problems } = await inspect(`providers:
  a: { dialect: anthropic, api_key: "\${NO_SUCH_KEY}" }
  b: { dialect: openai }
  c: { dialect: openai, api_keys: ["\${NO_SUCH_KEY}", "\${NOR_THIS}"] }
models:
  - { match: "a-*", provider: a }
  - { match: "b-*", provider: b }
  - { match: "c-*", provider: c }
projects: {}
`);

  expect([...(config?.providers.values() ?? [])]).toMatchObject([
    { isConfigured: false, disabledBecause: 'NO_SUCH_KEY is not set' },
    { isConfigured: false, disabledBecause: 'it has no api_key' },
    { isConfigured: false, disabledBecause: 'NO_SUCH_KEY and NOR_THIS are not set' },
  ]);
  expect(problems.map(({ message }) => message)).toEqual([
    'provider a is not configured: NO_SUCH_KEY is not set',
    'provider b is not configured: it has no api_key',
    'provider c is not configured: NO_SUCH_KEY and NOR_THIS are not set',
  ]);
});

test('a variable that brings no key is named, and nothing follows from it', async () => {
  const yaml = `providers: { a: { dialect: anthropic, api_key: "\${KEY}" } }
models: [{ match: "a-*", provider: a }]
projects: {}
`;
  const cwd = createWorkspace({ 'gateway.yaml': yaml });
  const env = { HOME: cwd, KEY: 'sk-ant-…' };
  const { problems } = await inspectConfig({ cwd, env, nowMs, consent: allowAll });

  expect(problems).toMatchObject([
    {
      severity: 'error',
      path: ['providers', 'a', 'api_key'],
      message: 'expected visible ASCII characters without spaces',
      hint: 'the value is from KEY',
    },
  ]);
});

test('keeps what models say for discovery, with fallbacks after the provider', async () => {
  const { models } = await load(`models:
  - match: fast
    provider: sandbox
    model: sandbox-mini
    fallbacks: [{ provider: sandbox, model: sandbox-slow }]
    context_window: 128000
    max_output_tokens: 16384
    pricing: { input: 0.15, output: 0.6, cache_read: 0.075 }
`);

  expect(models).toEqual([
    {
      match: 'fast',
      isPattern: false,
      targets: [
        { provider: 'sandbox', model: 'sandbox-mini' },
        { provider: 'sandbox', model: 'sandbox-slow' },
      ],
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      pricing: { input: 0.15, output: 0.6, cacheRead: 0.075, cacheWrite: 0.15, longCacheWrite: 0.15 },
    },
  ]);
});

test('finds keys given as a hash, by the environment and in a file', async () => {
  const cwd = createWorkspace({
    'keys/batch': 'key-that-is-in-a-file\n',
    'gateway.yaml': `projects:
  shop:
    keys:
      - { id: hashed, hash: "sha256:5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8" }
      - { id: environment, value: "\${CI_KEY}", expires: 2027-06-30 }
      - { id: file, file: keys/batch }
`,
  });

  const env = { HOME: cwd, CI_KEY: 'key-of-the-environment' };
  const { config } = await loadConfig({ cwd, env, nowMs, consent: allowAll });

  // SHA-256 of the word "password", as published in many places.
  expect(config.keys.find('password')?.id).toBe('hashed');
  expect(config.keys.find('key-of-the-environment')).toMatchObject({
    id: 'environment',
    project: 'shop',
    expiresMs: Date.parse('2027-07-01T00:00:00Z'),
  });
  expect(config.keys.find('key-that-is-in-a-file')).toMatchObject({ id: 'file' });
  expect(config.keys.size).toBe(3);
  expect(config.secrets).toEqual(['key-of-the-environment', 'key-that-is-in-a-file']);
});

test('an unset variable skips its key, and only it', async () => {
  const { config, problems } = await inspect(
    `projects:
  shop:
    keys: [{ id: a, value: "\${NO_SUCH_KEY}" }, { id: b, value: "\${B_KEY}" }]
policies: { house: { apply: all, default: deny } }
`,
    { B_KEY: 'the-key-of-b-is-here' },
  );

  expect([...(config?.keys.records() ?? [])].map(({ id }) => id)).toEqual(['b']);
  expect(problems).toMatchObject([
    { severity: 'warning', message: 'key a is skipped: NO_SUCH_KEY is not set' },
  ]);
});

test.each([
  ['{ id: a, value: "x${K}" }', 'a key must not be in the file, not even in part'],
  ['{ id: a, value: key-written-in-the-file }', 'a key must not be in the file, not even in part'],
  ['{ id: a }', 'a key needs one of hash, value and file'],
  ['{ id: a, value: "${K}", file: k }', 'only one of value and file may be given'],
  ['{ id: a, file: nope }', 'no key in nope: there is no such file'],
  ['{ id: a, file: . }', 'no key in .: it is not a file'],
  ['{ id: a, value: "${SHORT}" }', 'expected a key of at least 16 visible characters'],
  ['{ id: a, value: "${K}" }, { id: b, value: "${K}" }', 'the same key as a: every key needs its own'],
  ['{ id: a, value: "${K}" }, { id: a, value: "${L}" }', 'another key of project shop has this id already'],
])('refuses the keys [%s]', async (keys, expected) => {
  const yaml = `policies: { house: { apply: all, default: deny } }\nprojects: { shop: { keys: [${keys}] } }`;

  const { problems } = await inspect(yaml, {
    K: 'a-key-long-enough',
    L: 'another-long-enough',
    SHORT: 'short',
  });

  expect(problems.map(({ message }) => message)).toEqual([expected]);
});

test('an expired key stays known, and is warned about like one that soon expires', async () => {
  const { config, problems } = await inspect(
    `policies: { house: { apply: all, default: deny } }
projects:
  shop:
    keys:
      - { id: old, value: "\${A}", expires: 2026-11-20 }
      - { id: soon, value: "\${B}", expires: 2026-12-04 }
      - { id: later, value: "\${C}", expires: 2026-12-06 }
`,
    { A: 'the-first-long-key', B: 'the-second-long-key', C: 'the-third-long-key' },
  );

  expect(config?.keys.find('the-first-long-key')?.expiresMs).toBe(Date.parse('2026-11-21T00:00:00Z'));
  expect(problems.map(({ message }) => message)).toEqual([
    'key old has expired',
    'key soon expires in 14 days',
  ]);
});

test('policies for all, of the project and of the key apply, each once', async () => {
  const { keys } = await load(
    `policies: { own: {}, house: { apply: all }, team: {} }
projects:
  shop: { policies: [team, house], keys: [{ id: a, value: "\${A}", policies: [own, team] }] }
`,
    { A: 'the-first-long-key' },
  );

  expect(keys.find('the-first-long-key')?.policies.names).toEqual(['house', 'team', 'own']);
});

test('the models of a project become a rule of its own', async () => {
  const { keys, projects } = await load(
    `projects: { shop: { models: ["claude-*", fast], keys: [{ id: a, value: "\${A}" }] } }`,
    { A: 'the-first-long-key' },
  );

  const found = keys.find('the-first-long-key');

  expect(found?.models).toEqual(['claude-*', 'fast']);
  expect(found?.policies.names).toContain('models of shop');
  expect(projects.get('shop')?.policies).toEqual(['models of shop']);
});

test.each(
  // biome-ignore format: a case a line
  [
    ['projects: { shop: {} }', 'projects.shop', 'no policy applies: its keys may send anything'],
    ['models: [{ match: "a-*", provider: sandbox }, { match: a-1, provider: sandbox }]', 'models[1].match', 'never reached: "a-*" comes before it and matches the same'],
    ['providers: { a: { dialect: openai, base_url: "http://127.0.0.1:1", api_key: written-here } }', 'providers.a.api_key', 'a key in the file is easily shared by mistake'],
    [`masking: { secret: ${'s'.repeat(32)} }`, 'masking.secret', 'a secret in the file is easily shared by mistake'],
    ['providers: { a: { dialect: openai, base_url: "http://h.example", api_key: "${K}" } }', 'providers.a.base_url', 'the key and all requests go over the network unencrypted'],
    ['providers: { a: { dialect: anthropic, base_url: "https://h.example/v1" } }', 'providers.a.base_url', 'hosts of dialect anthropic are given without /v1'],
  ],
)('warns: %s', async (yaml, path, message) => {
  const problems = await problemsOf(yaml, { K: 'a-key' });

  expect(problems).toEqual([expect.stringContaining(`warning: ${path}: ${message}`)]);
});

test.each(
  // biome-ignore format: a case a line
  [
    ['a: { dialect: anthropic, credentials: client, api_key: "${K}" }', 'a.api_key', "its requests carry the client's own credential: remove one of the two"],
    ['a: { dialect: openai, credentials: client, base_url: "http://h.example" }', 'a.base_url', "the client's own login must not go over the network unencrypted"],
    ['a: { dialect: sandbox, credentials: client }', 'a.credentials', 'the sandbox is built in and takes no login'],
    ['a: { dialect: anthropic, credentials: client }, b: { dialect: anthropic, credentials: client, base_url: "https://h.example" }', 'b.credentials', "a takes the client's own login for messages too, and it can be for one host only"],
  ],
)('a login of the client: %s', async (providers, path, message) => {
  const [problem] = await problemsOf(`providers: { ${providers} }`, { K: 'a-key' });

  expect(problem).toContain(`providers.${path}: ${message}`);
});

test('two hosts may take logins at different endpoints', async () => {
  const yaml = `providers:
  a: { dialect: anthropic, credentials: client }
  b: { dialect: openai, credentials: client, base_url: "https://chatgpt.com/backend-api/codex", endpoints: [responses] }`;

  expect(await problemsOf(yaml, {})).toEqual([]);
});

test.each([
  ['2024-10-21', false],
  ['2025-03-01-preview', true],
])('a version %s of Azure has Responses: %s', async (version, expected) => {
  const { providers } = await load(
    `providers: { a: { dialect: openai, base_url: "https://me.openai.azure.com/openai", credentials: azure, api_version: ${version} } }`,
  );

  expect(providers.get('a')?.endpoints.has('responses')).toBe(expected);
});

test('warns of a key file that everybody can read', async () => {
  const cwd = createWorkspace({
    'gateway.yaml':
      'policies: { a: { apply: all, default: deny } }\nprojects: { shop: { keys: [{ id: a, file: key }] } }',
  });
  writeFileSync(join(cwd, 'key'), 'key-that-is-in-a-file\r\n');
  chmodSync(join(cwd, 'key'), 0o644);

  const { problems, config } = await inspectConfig({ cwd, env: { HOME: cwd }, nowMs, consent: allowAll });

  expect(problems).toMatchObject([
    { severity: 'warning', message: 'every user of this machine can read key' },
  ]);
  expect(config?.keys.find('key-that-is-in-a-file')?.id).toBe('a');
});

test('numbers and truth values may come from the environment', async () => {
  const config = await load('server: { port: "${PORT}" }\nrecords: { bodies: "${BODIES}" }', {
    PORT: '4999',
    BODIES: 'true',
  });

  expect(config.server.port).toBe(4999);
  expect(config.records.bodies).toBe(true);
});

test('PLANTS_URL beats the file', async () => {
  const config = await load('plants: { base_url: "http://one/v3" }', { PLANTS_URL: 'http://two/v3/' });

  expect(config.plants.baseUrl).toBe('http://two/v3');
});

test('the hash follows the file and its variables, not the secrets', async () => {
  const yaml = 'server: { port: "${PORT}" }\nproviders: { a: { dialect: anthropic, api_key: "${KEY}" } }';
  const hashOf = async (PORT: string, KEY: string) => (await load(yaml, { PORT, KEY })).hash;

  const first = await hashOf('1', 'one-key');

  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(await hashOf('1', 'two-key')).toBe(first);
  expect(await hashOf('2', 'one-key')).not.toBe(first);
});

test('nothing in it can be changed', async () => {
  const { providers, models, server, plants } = await load('{}');
  const provider = providers.get('sandbox');

  const parts = [provider, provider?.timeouts, models, models[0]?.targets, server.limits, plants.store];
  expect(parts.filter((part) => !Object.isFrozen(part))).toEqual([]);
});

test('warnings come in the order of the file, whichever check found them', async () => {
  const cwd = createWorkspace({
    'gateway.yaml': `
policies: { house: { rules: [{ id: a, action: block, when: { model: [x] }, unless: { model: ['x*'] } }] } }
models: [{ match: 'b*', provider: sandbox }, { match: bc, provider: sandbox }, { match: a, provider: oa }]
masking: { secret: plain-written-secret-0123456789abcdefghijk }
providers:
  oa: { dialect: openai, base_url: 'http://127.0.0.1:9/v1', api_key: '\${NOPE}' }
  sandbox: { dialect: sandbox }
`,
  });

  const { warnings } = await loadConfig({ cwd, env: { HOME: cwd }, nowMs, consent: allowAll });

  expect(warnings.length).toBeGreaterThan(1);
  expect(warnings).toEqual(inFileOrder(warnings));
});

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

test('a variable that several providers and models need is one warning', async () => {
  const { problems } = await inspect(`providers:
  a: { dialect: anthropic, api_key: "\${NO_SUCH_KEY}" }
  b: { dialect: openai, api_key: "\${NO_SUCH_KEY}" }
models:
  - { match: "a-*", provider: a }
  - { match: "b-*", provider: b, fallbacks: [{ provider: a }] }
  - { match: "c-*", provider: a }
projects: {}
`);

  expect(problems).toMatchObject([
    {
      severity: 'warning',
      path: ['models', 0, 'provider'],
      message: 'providers a and b are not configured: NO_SUCH_KEY is not set (3 entries of models)',
    },
  ]);
});

test('an unknown key is one, whether or not its variable is set', async () => {
  const { problems } = await inspect(`providers:
  a: { dialect: anthropic, apikey: "\${NO_SUCH_KEY}", timeouts: { conect: "\${NO_SUCH_TIME}" } }
models: []
projects: {}
`);

  expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([
    { path: ['providers', 'a', 'timeouts', 'conect'], message: 'unknown key' },
    { path: ['providers', 'a', 'apikey'], message: 'unknown key', hint: 'did you mean "api_key"?' },
  ]);
});

test('authorities of ca_file are added to those of NODE_EXTRA_CA_CERTS', async () => {
  const [own, extra] = [makeAuthority('own').cert.trim(), makeAuthority('extra').cert.trim()];
  const provider = '{ dialect: openai, base_url: "https://a.example/v1", ca_file: ca.pem }';
  const yaml = `providers: { a: ${provider} }\nmodels: []\nprojects: {}\n`;
  const cwd = createWorkspace({ 'gateway.yaml': yaml, 'ca.pem': own, 'extra.pem': extra });
  const caWith = async (file: string) => {
    const env = { HOME: cwd, NODE_EXTRA_CA_CERTS: join(cwd, file) };
    const { config } = await loadConfig({ cwd, env, nowMs, consent: allowAll });
    return config.providers.get('a')?.ca;
  };

  expect(await caWith('extra.pem')).toBe(`${own}\n${extra}`);
  expect(await caWith('missing.pem')).toBe(own);
});

test.each(['"sk-secret-value"', "'sk-secret-value'"])(
  'a variable whose value kept its quotation marks is named: %s',
  async (value) => {
    const yaml = `providers:
  a: { dialect: openai, api_key: "\${KEY}" }
models: []
projects: {}
`;

    const { problems } = await inspect(yaml, { KEY: value });

    expect(problems).toContainEqual({
      severity: 'warning',
      path: ['providers', 'a', 'api_key'],
      message: 'KEY stands in quotation marks, which are a part of its value',
      hint: 'write it without them: docker --env-file keeps them',
      place: expect.anything(),
    });
    expect((await inspect(yaml, { KEY: 'sk-"secret"-value' })).problems).not.toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('quotation marks') }),
    );
  },
);

test.each(['sk-secret-value\n', 'sk-secret-value\r\n'])(
  'a variable that ends with the end of a line is named: %j',
  async (value) => {
    const yaml = `providers:
  a: { dialect: openai, api_key: "\${KEY}" }
models: []
projects: {}
`;

    expect((await inspect(yaml, { KEY: value })).problems).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        message: 'KEY ends with the end of a line, which is a part of its value',
      }),
    );
  },
);

test.each([
  'redis://:pa/ss@10.0.0.1:6379/0',
  'redis://user:12/ss@10.0.0.1:6379/0',
  'redis://user:12?ss@10.0.0.1:6379/0',
  'redis://user:12#ss@10.0.0.1:6379/0',
  'redis://user:p%ss@10.0.0.1:6379/0',
])('a password in state that is not encoded is refused, and not repeated: %s', async (url) => {
  const { problems } = await inspect(`state: "\${URL}"\n`, { URL: url });

  expect(problems).toMatchObject([
    { severity: 'error', message: expect.stringMatching(/expected a URL: in a password # \/ \? @ % are/) },
  ]);
  expect(JSON.stringify(problems)).not.toContain('ss@');
});

test.each(['redis://h/abc', 'redis://h/1/2', 'redis://h:1/0#a'])('%s names no database', async (url) => {
  expect(await problemsOf(`state: "${url}"\n`)).toEqual([
    expect.stringMatching(/state: expected the number of a database, or nothing/),
  ]);
});

test.each(['redis://h', 'redis://h:6379/', 'rediss://u:p%2Fs@h:6379/15?family=6', 'redis://[::1]:6379/0'])(
  '%s is a Redis',
  async (url) => {
    expect(await problemsOf(`state: "${url}"\n`)).toEqual([]);
  },
);

test.each(['postgres://u:12/ss@h/db', 'postgres://u:p%ss@h/db'])(
  'a password in records.ledger_database that is not encoded is refused: %s',
  async (url) => {
    expect((await problemsOf(`records: { ledger_database: "\${URL}" }\n`, { URL: url }))[0]).toMatch(
      /expected a URL: in a password # \/ \? @ % are/,
    );
  },
);

test('in paths ~ is the home directory, for what is read, written and asked about', async () => {
  const authority = makeAuthority('own').cert.trim();
  const directory = createWorkspace({
    'home/key': 'a-key-of-a-colleague',
    'home/ca.pem': authority,
    'gateway.yaml': `
records: { file: ~/r.jsonl, ledger_file: "~/l.sqlite" }
inspector: { password_file: ~/key }
plants: { store: { database: "sqlite:~/plants.sqlite" } }
models: []
projects: { shop: { keys: [{ id: web, file: ~/key }] } }
providers: { a: { dialect: openai, base_url: "https://a.example/v1", ca_file: ~/ca.pem } }
`,
  });
  const home = join(directory, 'home');

  const { config, settings, wants } = await inspectConfig({
    cwd: directory,
    file: '~/../gateway.yaml',
    env: { HOME: home },
    nowMs,
  });

  expect(config?.records).toMatchObject({
    file: `${home}/r.jsonl`,
    ledger: { file: `${home}/l.sqlite` },
  });
  expect(config?.plants.store.database).toBe(`sqlite:${home}/plants.sqlite`);
  expect(config?.keys.find('a-key-of-a-colleague')).toMatchObject({ id: 'web' });
  expect(config?.inspector.password).toBe('a-key-of-a-colleague');
  expect(config?.providers.get('a')?.ca).toBe(authority);
  expect(settings?.records.file).toBe('~/r.jsonl');
  expect(wants.map(({ text }) => text)).toContain(`a key or password is read from ${home}/key`);
});

// Whoever adds a setting that names a file finds it here.
test.each(
  markedSettings(settingsSchema)
    .filter(({ reach }) => /file|records|authorities|store database/.test(reach ?? ''))
    .map(({ path }) => path.join('.')),
)('%s is not taken for the home directory of another user', async (setting) => {
  const path = setting.split('.');
  const prefix = path.at(-1) === 'database' ? 'sqlite:' : '';
  const file = (name: string) =>
    path.toReversed().reduce<unknown>((value, step) => {
      if (step === '[]') return [{ id: 'web', ...toFields(value) }];
      return { [step === '*' ? 'a' : step]: value };
    }, `${prefix}${name}`);

  expect(await problemsOf(JSON.stringify(file('~other/x')))).toContainEqual(
    expect.stringMatching(
      /: of ~ only ~\/ is known, your own home directory: write the whole path, or \.\/~/,
    ),
  );
  expect(await problemsOf(JSON.stringify(file('./~other/x')))).not.toContainEqual(
    expect.stringContaining('of ~ only'),
  );
});

test('sslrootcert of a PostgreSQL is beside the configuration, unless its path is absolute', async () => {
  const ledgerAt = async (file: string) => {
    const yaml = `records: { ledger: true, ledger_database: "postgres://h/d?sslrootcert=${file}" }`;
    const cwd = createWorkspace({ 'gateway.yaml': yaml });
    const options = { cwd: '/', file: join(cwd, 'gateway.yaml'), env: { HOME: '/home/me' }, nowMs };
    const { config } = await loadConfig(options);
    return config.records.ledger?.database?.replace(encodeURIComponent(cwd), 'HERE');
  };

  expect(await ledgerAt('../ca.pem')).toBe('postgres://h/d?sslrootcert=HERE/../ca.pem');
  expect(await ledgerAt('/etc/ca.pem')).toBe('postgres://h/d?sslrootcert=/etc/ca.pem');
  expect(await ledgerAt('%2Fetc%2Fca.pem')).toBe('postgres://h/d?sslrootcert=%2Fetc%2Fca.pem');
  expect(await ledgerAt('~/ca.pem&x=1')).toBe('postgres://h/d?sslrootcert=%2Fhome%2Fme/ca.pem&x=1');
  expect(await ledgerAt('')).toBe('postgres://h/d?sslrootcert=');
});
