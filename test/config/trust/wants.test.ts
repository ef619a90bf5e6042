// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inspectConfig } from '../../../src/config/load.ts';
import type { JudgedFile } from '../../../src/config/trust/wants.ts';
import { createWorkspace, nowMs } from '../workspace.ts';

type Env = Readonly<Record<string, string>>;

/** What a found file asks for, in its own words. */
async function wantsOf(yaml: string, cwd = createWorkspace({ 'gateway.yaml': yaml }), more: Env = {}) {
  const { pending } = await inspectConfig({ cwd, env: { HOME: join(cwd, 'home'), ...more }, nowMs });
  return pending.map(({ text }) => text.replaceAll(cwd, '.'));
}

const provider = (settings: string) => `providers: { p: { dialect: openai, ${settings} } }\nmodels: []`;
const key = (settings: string) => `projects: { shop: { keys: [{ id: one, ${settings} }] } }`;

test.each(
  // biome-ignore format: a case a line
  [
    ['no setting', '{}'],
    ['a login, to the vendor it is for', 'providers: { a: { dialect: anthropic, credentials: client } }'],
    ['a vendor and its own variable', 'providers: { a: { dialect: anthropic, api_key: "${ANTHROPIC_API_KEY}" } }'],
    ['a vendor by its address', provider('base_url: "https://api.mistral.ai/v1", api_key: "${MISTRAL_API_KEY}"')],
    ['AWS, whose account the credentials say', 'providers: { a: { dialect: bedrock, credentials: aws, base_url: "https://bedrock-runtime.eu-west-1.amazonaws.com" } }'],
    ['AWS and its own variable', provider('base_url: "https://bedrock-mantle.us-east-1.api.aws/v1", api_key: "${AWS_BEARER_TOKEN_BEDROCK}"')],
    ['a server on this machine', provider('base_url: "http://127.0.0.1:11434/v1", api_key: none-needed')],
    ['a server on this machine by name', provider('base_url: "http://localhost:1/v1"')],
    ['a server on this machine in IPv6', provider('base_url: "http://[::1]:1/v1"')],
    ['no proxy', provider('base_url: "http://127.0.0.1:1", proxy: none')],
    ['policies', 'policies: { p: { apply: all, rules: [{ id: r, action: block, when: { model: [x] } }] } }'],
    ['a key by its hash and limits', key(`hash: "sha256:${'0'.repeat(64)}", limits: { usd_per_day: 1 }`)],
    ['loopback listeners', 'server: { host: "::1" }\nmetrics: { port: 9464, host: localhost }'],
    ['pages of this machine', 'server: { allowed_origins: ["http://localhost:3000"] }'],
    ['counters in memory', 'state: memory'],
    ['records in the state directory', 'records: { bodies: false, file: home/.local/state/gateway/r.jsonl }'],
    ['the store of this machine', 'plants: { base_url: "http://127.0.0.1:4101/v3/" }'],
    ["the store's usual database", 'plants: { store: { database: "sqlite:home/.local/state/gateway/plants.sqlite" } }'],
  ],
)('%s is free', async (_name, yaml) => {
  expect(await wantsOf(yaml)).toEqual([]);
});

test.each(
  // biome-ignore format: a case a line
  [
    ['an address', provider('base_url: "http://10.0.0.1/v1"'), ['requests go to http://10.0.0.1/v1']],
    ['all addresses', provider('base_url: "http://0.0.0.0:9"'), ['requests go to http://0.0.0.0:9']],
    ['a name below localhost', provider('base_url: "http://a.localhost"'), ['requests go to http://a.localhost']],
    [
      'a variable in an address of this machine',
      provider('base_url: "http://127.0.0.1/${TOKEN}"'),
      ['requests go to http://127.0.0.1/${TOKEN}', 'TOKEN goes to http://127.0.0.1/${TOKEN}'],
    ],
    ['a variable that is the address', provider('base_url: "${URL}"'), ['requests go to ${URL}', 'URL goes to ${URL}']],
    [
      "another vendor's variable",
      provider('base_url: "https://api.mistral.ai/v1", api_key: "${OPENAI_API_KEY}"'),
      ['OPENAI_API_KEY goes to https://api.mistral.ai/v1'],
    ],
    ["a vendor's variable in part", provider('api_key: "${OPENAI_API_KEY}-x"'), ['OPENAI_API_KEY goes to https://api.openai.com/v1']],
    [
      "a vendor's variable without encryption",
      provider('base_url: "http://api.openai.com/v1", api_key: "${OPENAI_API_KEY}"'),
      ['requests go to http://api.openai.com/v1', 'OPENAI_API_KEY goes to http://api.openai.com/v1'],
    ],
    [
      'the port of somebody else',
      provider('base_url: "https://api.openai.com:8443", api_key: "${OPENAI_API_KEY}"'),
      ['requests go to https://api.openai.com:8443', 'OPENAI_API_KEY goes to https://api.openai.com:8443'],
    ],
    [
      "several keys, one of them in the vendor's variable",
      provider('api_keys: { work: "${OPENAI_API_KEY}", spare: "${SPARE}", theirs: sk-theirs }'),
      ['SPARE goes to https://api.openai.com/v1', 'requests to https://api.openai.com/v1 use a key that the file brings'],
    ],
    [
      'the same as a list',
      provider('api_keys: ["${OPENAI_API_KEY}", "${SPARE}", sk-theirs]'),
      ['SPARE goes to https://api.openai.com/v1', 'requests to https://api.openai.com/v1 use a key that the file brings'],
    ],
    ['the account of its author', provider('api_key: sk-theirs'), ['requests to https://api.openai.com/v1 use a key that the file brings']],
    ['a look-alike host', provider('base_url: "https://api.оpenai.com/v1"'), ['requests go to https://api.xn--penai-iye.com/v1']],
    [
      "an agent's login, to another vendor",
      provider('base_url: "https://openrouter.ai/api/v1", credentials: client'),
      ["your agents' own login goes to https://openrouter.ai/api/v1"],
    ],
    [
      "an agent's login, on this machine",
      provider('base_url: "http://127.0.0.1:1/v1", credentials: client'),
      ["your agents' own login goes to http://127.0.0.1:1/v1"],
    ],
    [
      "a resource of Azure, which may be somebody else's",
      provider('base_url: "https://theirs.openai.azure.com/openai/v1", credentials: azure'),
      ['requests go to https://theirs.openai.azure.com/openai/v1'],
    ],
    [
      "the same with Azure's own variable",
      provider('base_url: "https://theirs.services.ai.azure.com", api_key: "${AZURE_OPENAI_API_KEY}"'),
      ['requests go to https://theirs.services.ai.azure.com'],
    ],
    [
      "a project of Google, which may be somebody else's",
      'providers: { v: { dialect: vertex, credentials: google, base_url: "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5" } }',
      ['requests go to https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5'],
    ],
    [
      "a cloud's credentials to another host",
      provider('base_url: "https://bedrock-runtime.us-east-1.amazonaws.com.evil.example", credentials: aws, region: us-east-1'),
      [
        'requests go to https://bedrock-runtime.us-east-1.amazonaws.com.evil.example',
        'your credentials of AWS are for https://bedrock-runtime.us-east-1.amazonaws.com.evil.example',
      ],
    ],
    [
      'to another cloud',
      provider('base_url: "https://bedrock-runtime.us-east-1.amazonaws.com", credentials: google'),
      ['your credentials of Google are for https://bedrock-runtime.us-east-1.amazonaws.com'],
    ],
    [
      'to a process of this machine',
      provider('base_url: "http://127.0.0.1:1", credentials: azure'),
      ['your credentials of Azure are for http://127.0.0.1:1'],
    ],
    [
      "another variable to AWS",
      provider('base_url: "https://bedrock-mantle.us-east-1.api.aws/v1", api_key: "${GITHUB_TOKEN}"'),
      ['GITHUB_TOKEN goes to https://bedrock-mantle.us-east-1.api.aws/v1'],
    ],
    ['a proxy', provider('proxy: "http://me:pw@127.0.0.1:8080"'), ['requests to https://api.openai.com/v1 go through the proxy http://***@127.0.0.1:8080']],
    ['a service on this machine that is asked about texts', 'policies: { p: { rules: [{ id: r, action: block, when: { check: { url: "http://127.0.0.1:5002/analyze" } } }] } }', []],
    [
      'a service elsewhere that is asked about texts',
      'policies: { p: { rules: [{ id: r, action: block, unless: { check: { url: "https://check.example/v1" } } }] } }',
      ['what requests say goes to https://check.example/v1, before anything is redacted'],
    ],
    [
      'the same for a route, with a variable',
      'models: [{ match: "*", provider: p, when: { check: { url: "http://127.0.0.1:5002/${WHICH}", kinds: ["${KIND}"] } } }]',
      ['what requests say goes to http://127.0.0.1:5002/${WHICH}, before anything is redacted', 'WHICH goes to http://127.0.0.1:5002/${WHICH}', 'KIND is read (models[0].when.check.kinds[0])'],
    ],
    ['authorities', provider('ca_file: ca.pem'), ['https://api.openai.com/v1 may show certificates of ./ca.pem']],
    ['a key from the environment', key('value: "${CI_KEY}"'), ['CI_KEY is read (projects.shop.keys[0].value)']],
    ['a key from a file', key('file: ../key'), [expect.stringMatching(/^a key or password is read from \/.*\/key$/)]],
    [
      'records',
      'records: { file: ".git/x", bodies: true }',
      [
        'records of requests are appended to ./.git/x',
        'whole requests, with what they say, are appended to ./.git/x',
      ],
    ],
    [
      'whole requests in the usual file',
      'records: { bodies: true }',
      ['whole requests, with what they say, are kept with your records'],
    ],
    [
      'whole requests in the state directory',
      'records: { bodies: true, file: home/.local/state/gateway/r.jsonl }',
      ['whole requests, with what they say, are appended to ./home/.local/state/gateway/r.jsonl'],
    ],
    [
      'another kind of file in the state directory',
      'records: { file: home/.local/state/gateway/local-key.json }',
      ['records of requests are appended to ./home/.local/state/gateway/local-key.json'],
    ],
    [
      'a file beside the state directory',
      'records: { file: home/.local/state/gateway/../r.jsonl }',
      ['records of requests are appended to ./home/.local/state/r.jsonl'],
    ],
    ['a file that a variable names', 'records: { file: "${HOME}/.bashrc" }', ['records of requests are appended to ${HOME}/.bashrc']],
    ['fewer days of records', 'records: { days: 89 }', ['your records of requests are deleted after 89 days']],
    ['usage', 'records: { ledger_file: l.sqlite }', ['usage is kept in the SQLite file ./l.sqlite']],
    [
      'a database',
      'records: { ledger_database: "postgres://u:${PW}@localhost/d?host=h" }',
      [
        'usage is kept in the database postgres://***@localhost/d?host=h',
        'PW goes to postgres://***@localhost/d?host=h',
      ],
    ],
    [
      "a database in the state directory, which may be another configuration's",
      'records: { ledger_days: 1, ledger_file: home/.local/state/gateway/x.sqlite }\nplants: { store: { database: "sqlite:home/.local/state/gateway/y.sqlite" } }',
      ['usage is kept in the SQLite file ./home/.local/state/gateway/x.sqlite', 'plants are kept in the SQLite file ./home/.local/state/gateway/y.sqlite'],
    ],
    ['a key in the state directory', key('file: home/.local/state/gateway/local-key.json'), ['a key or password is read from ./home/.local/state/gateway/local-key.json']],
    ['Redis', 'state: "redis://127.0.0.1:6379/0"', ['limits are counted in the database redis://127.0.0.1:6379/0']],
    ['a store', 'plants: { base_url: "http://10.0.0.1/v3" }', ['plants, and your login for them, go to http://10.0.0.1/v3']],
    ['a store of its choice on this machine', 'plants: { base_url: "http://127.0.0.1:5000/v3" }', ['plants, and your login for them, go to http://127.0.0.1:5000/v3']],
    [
      'the ledger of another configuration, for plants',
      'plants: { store: { database: "sqlite:home/.local/state/gateway/ledger.sqlite" } }',
      ['plants are kept in the SQLite file ./home/.local/state/gateway/ledger.sqlite'],
    ],
    ['the database of a store', 'plants: { store: { database: "sqlite:p.sqlite" } }', ['plants are kept in the SQLite file ./p.sqlite']],
    ['to be reached', 'server: { host: 0.0.0.0 }', ['other machines can connect, at 0.0.0.0 (server.host)']],
    ['metrics reached', 'metrics: { host: "::" }', ['other machines can connect, at :: (metrics.host)']],
    ['a name', 'server: { allowed_hosts: [x.example] }', ['it answers requests for the host x.example']],
    ['a page', 'server: { allowed_origins: ["https://x.example"] }', ['web pages of https://x.example may call it']],
    [
      'a secret that its author knows',
      `masking: { secret: ${'s'.repeat(40)} }`,
      ['values are masked with a secret that the file brings, so its author can guess them'],
    ],
    ['a secret for masking', 'masking: { secret: "${TOKEN}" }', ['TOKEN is read (masking.secret)']],
    [
      'a variable in a policy',
      'policies: { p: { rules: [{ id: r, action: block, when: { model: [x] }, message: "${TOKEN}" }] } }',
      ['TOKEN is read (policies.p.rules[0].message)'],
    ],
  ],
)('%s is asked for', async (_name, yaml, expected) => {
  expect(await wantsOf(yaml, undefined, { TOKEN: 't', URL: 'http://10.0.0.1' })).toEqual(expected);
});

test.each(['ledger.sqlite', 'ledger-0123456789ab.sqlite', 'History.sqlite', 'plants.sqlite'])(
  "the gateway's own %s is no ledger that a found file may prune",
  async (name) => {
    const file = `home/.local/state/gateway/${name}`;

    expect(await wantsOf(`records: { ledger_days: 1, ledger_file: ${file} }`)).toEqual([
      `usage is kept in the SQLite file ./${file}`,
    ]);
  },
);

test('nothing invisible hides in what is asked for', async () => {
  const yaml = 'records: { file: "a\\u001b[2K\\u200b\\nAllowed: nothing" }';

  expect(await wantsOf(yaml)).toEqual([
    'records of requests are appended to "./a\\u001b[2K\\u{200b}\\nAllowed: nothing"',
  ]);
});

test('a file is where its links lead, whether it is there or not', async () => {
  const cwd = createWorkspace({ 'gateway.yaml': 'records: { file: logs/r.jsonl, ledger_file: l.sqlite }' });
  mkdirSync(join(cwd, 'elsewhere'));
  symlinkSync('elsewhere', join(cwd, 'logs'));
  symlinkSync('missing/target', join(cwd, 'l.sqlite'));

  expect(await wantsOf('', cwd)).toEqual([
    'records of requests are appended to ./elsewhere/r.jsonl',
    'usage is kept in the SQLite file ./missing/target',
  ]);
});

test("a link to the user's own file is a file of the place where the link is", async () => {
  const cwd = createWorkspace({
    'home/.config/gateway/gateway.yaml': provider('base_url: "http://10.0.0.1", ca_file: ca.pem'),
    'repository/ca.pem': '',
  });
  const repository = join(cwd, 'repository');
  symlinkSync(join(cwd, 'home/.config/gateway/gateway.yaml'), join(repository, 'gateway.yaml'));

  const { pending } = await inspectConfig({ cwd: repository, env: { HOME: join(cwd, 'home') }, nowMs });

  expect(pending.map(({ text }) => text.replaceAll(cwd, '.'))).toEqual([
    'requests go to http://10.0.0.1',
    'http://10.0.0.1 may show certificates of ./repository/ca.pem',
  ]);
});

test('the same want has the same id, wherever it stands; another one has another', async () => {
  const idsOf = async (yaml: string) => {
    const cwd = createWorkspace({ 'gateway.yaml': yaml });
    const { pending } = await inspectConfig({ cwd, env: { HOME: cwd }, nowMs });
    return pending.map(({ id }) => id);
  };
  const first = await idsOf(provider('base_url: "http://10.0.0.1/${TOKEN}"'));

  const renamed = await idsOf(
    '# new\nproviders: { q: { base_url: "http://10.0.0.1/${TOKEN}", dialect: openai, connections: 9 } }\nmodels: []',
  );
  const other = await idsOf(provider('base_url: "http://10.0.0.2/${TOKEN}"'));
  const password = await idsOf('state: "redis://u:one@h/0"');
  const password2 = await idsOf('state: "redis://u:two@h/0"');

  expect(renamed).toEqual(first);
  expect(other.filter((id) => first.includes(id))).toEqual([]);
  expect(password).not.toEqual(password2);
});

test.each(['flag', 'environment', 'user'] as const)('a file from %s is not asked about', async (from) => {
  const cwd = createWorkspace({
    'gateway.yaml': provider('base_url: "http://10.0.0.1"'),
    'home/.config/gateway/gateway.yaml': provider('base_url: "http://10.0.0.1"'),
  });
  const found = {
    flag: { file: 'gateway.yaml' },
    environment: { env: { HOME: cwd, GATEWAY_CONFIG: 'gateway.yaml' } },
    user: { cwd: join(cwd, 'home/.config/gateway') },
  }[from];

  const { pending, config } = await inspectConfig({ cwd, env: { HOME: join(cwd, 'home') }, nowMs, ...found });

  expect([pending, config?.providers.get('p')?.baseUrl]).toEqual([[], 'http://10.0.0.1']);
});

test('nothing of a file that is not allowed is used, and a wrong one is not asked about', async () => {
  const wrong = createWorkspace({ 'gateway.yaml': `${provider('base_url: "http://10.0.0.1"')}\nwrong: 1` });
  const asked: JudgedFile[] = [];
  const consent = async (file: JudgedFile) => {
    asked.push(file);
    return file.wants;
  };

  const { config, problems } = await inspectConfig({ cwd: wrong, env: { HOME: wrong }, nowMs, consent });

  expect(config).toBeUndefined();
  expect(asked.map(({ isValid }) => isValid)).toEqual([false]);
  expect(problems.map(({ message }) => message)).toEqual([
    'unknown key',
    'nobody has allowed: requests go to http://10.0.0.1',
  ]);
});
