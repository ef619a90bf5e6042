import { hash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findProviders, ollamaUrl } from '../../src/cli/init/find-providers.ts';
import { command, failure, homeWith, printed } from '../kit/command.ts';
import { startHost } from '../kit/host.ts';
import type { Files } from '../kit/own-configuration.ts';

/** A server on this machine that has these models. */
async function modelServer(...ids: readonly string[]): Promise<string> {
  const data = ids.map((id) => ({ id, object: 'model' }));
  const host = await startHost((response) => response.end(JSON.stringify({ object: 'list', data })));
  return host.url;
}

/** Nothing is found by accident on the machine of whoever runs the tests. */
const noOllama = { OLLAMA_HOST: '127.0.0.1:9' };

async function init(argv: readonly string[], env: Readonly<Record<string, string>> = {}, files: Files = {}) {
  const ended = await command(['init', ...argv], { files, env: { ...noOllama, ...env } });
  const cwd = ended.home;
  const file = join(cwd, 'gateway.yaml');
  const text = statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8') : '';
  const check = async () => expect(await command('config check', { cwd, env })).toEqual(fine);
  return { ended, cwd, file, text, check };
}

const fine = printed('gateway.yaml: fine\n');
const secret = 'very-secret-0123456789';

interface Machine {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: Files;
  /** What is in the file, and what is not, beside the secret. */
  readonly has: readonly string[];
  readonly lacks?: readonly string[];
}

const gcloud: Files = {
  '.config/gcloud/application_default_credentials.json': { refresh_token: secret },
  '.config/gcloud/active_config': 'mine',
  '.config/gcloud/configurations/config_mine': '[core]\naccount = me@shop.example\nproject = shop\n',
};
const inGoogle = (location: string, host: string): Machine => {
  const url = `https://${host}/v1/projects/shop/locations/${location}`;
  return {
    argv: ['--provider', 'vertex', '--provider', 'vertex-gemini'],
    env: { GOOGLE_CLOUD_LOCATION: location },
    home: gcloud,
    has: [
      `dialect: vertex\n    base_url: "${url}"\n    credentials: google\n`,
      `dialect: gemini\n    base_url: "${url}/publishers/google"\n    credentials: google\n`,
      '- { match: "gemini-*", provider: vertex-gemini }',
    ],
  };
};

const machines: Readonly<Record<string, Machine>> = {
  'nothing: the sandbox': { has: ['providers:\n  sandbox: { dialect: sandbox }'] },
  'keys in the environment: their providers, but not the keys': {
    env: { ANTHROPIC_API_KEY: secret, OPENAI_API_KEY: secret, GEMINI_API_KEY: secret },
    has: ['anthropic', 'openai', 'gemini'].map((name) => `\n  ${name}:\n`),
    lacks: ['mistral'],
  },
  "AWS' credentials: the region of the profile, and what agents ask for": {
    argv: ['--provider', 'bedrock'],
    env: { AWS_PROFILE: 'work' },
    home: {
      '.aws/credentials': `[default]\naws_access_key_id = ${secret}\naws_secret_access_key = ${secret}\n`,
      '.aws/config': '[default]\nregion = us-west-2\n[profile work]\noutput = json\nregion=eu-central-1\n',
    },
    has: [
      'base_url: "https://bedrock-runtime.eu-central-1.amazonaws.com"\n    credentials: aws\n',
      '- { match: "claude-*", provider: bedrock, model: "global.anthropic.claude-sonnet-5" }',
    ],
  },
  'a key of Bedrock: it is a variable, and no package is needed': {
    env: { AWS_BEARER_TOKEN_BEDROCK: secret, AWS_REGION: 'us-east-1' },
    has: ['AWS_BEARER_TOKEN_BEDROCK}"'],
    lacks: ['credentials: aws'],
  },
  "Google's credentials: Claude and Gemini everywhere, in gcloud's project": inGoogle(
    'global',
    'aiplatform.googleapis.com',
  ),
  'the same in Europe': inGoogle('eu', 'aiplatform.eu.rep.googleapis.com'),
  'the same in one region': inGoogle('us-east5', 'us-east5-aiplatform.googleapis.com'),
  "Azure's key, which is sent as Azure wants it, and a login for Claude": {
    env: {
      AZURE_OPENAI_ENDPOINT: 'https://shop.openai.azure.com/',
      AZURE_OPENAI_API_KEY: secret,
      ANTHROPIC_FOUNDRY_RESOURCE: 'shop',
    },
    home: { '.azure/azureProfile.json': '{}' },
    has: [
      `base_url: "https://shop.openai.azure.com/openai/v1"\n    api_key: "\${AZURE_OPENAI_API_KEY}"    # read when the gateway starts\n    credentials: azure\n`,
      'base_url: "https://shop.services.ai.azure.com/anthropic"\n    credentials: azure\n',
    ],
  },
  'half of what a cloud needs, and in a variable something instead of a name: the sandbox': {
    env: { GOOGLE_APPLICATION_CREDENTIALS: '/a/file', GOOGLE_CLOUD_PROJECT: 'a/../b"\n' },
    home: { '.azure/azureProfile.json': '{}' },
    has: ['providers:\n  sandbox: { dialect: sandbox }'],
  },
  "a vendor's own key and a cloud: the key comes first": {
    env: { ANTHROPIC_API_KEY: secret, AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE' },
    has: ['- { match: "claude-*", provider: anthropic }'],
  },
  'a key, which --provider sandbox leaves out': {
    argv: ['--provider', 'sandbox'],
    env: { OPENAI_API_KEY: secret },
    has: ['providers:\n  sandbox: { dialect: sandbox }'],
  },
  'what --mask keeps from leaving': {
    argv: ['--mask', 'secrets,email', '--mask', 'iban'],
    has: ['action: mask', 'detect: [{ secrets: possible }, email, iban]'],
  },
  'no policy with --no-policy': { argv: ['--no-policy'], has: [], lacks: ['policies:'] },
};

describe('writes a file that config check passes without a warning, for a machine with', () => {
  test.each(Object.entries(machines))('%s', async (_name, { argv = [], env = {}, home, has, lacks = [] }) => {
    const { ended, file, text, check } = await init(argv, {
      ...env,
      ...(home && { HOME: homeWith(home) }),
    });

    expect(ended).toMatchObject({ exit: 0, stdout: `${file}\n` });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const words of has) expect(text).toContain(words);
    for (const words of [...lacks, secret]) expect(text).not.toContain(words);
    // No line is one that is never reached.
    expect(text.match(/match: "claude-\*"/g) ?? []).not.toHaveProperty('1');
    await check();
  });

  test('with model servers: the models of each, and the last gets what no other has', async () => {
    const ollama = await modelServer('llama3.2:latest', 'qwen3:8b');
    const other = await modelServer('phi-4', 'odd "name"\nserver: { host: 0.0.0.0 }');

    const { text, check } = await init(['--local', `${other}/v1`], { OLLAMA_HOST: ollama });

    expect(text).toContain(`base_url: "${ollama}/v1"`);
    expect(text).toContain('- { match: "llama3.2:latest", provider: ollama }');
    expect(text).toContain('- { match: "*", provider: local }');
    expect(text).toContain('default_model: "llama3.2:latest"');
    expect(text).not.toContain('odd');
    await check();
  });

  test('with Ollama alone: agents get a model of it, and its own names stay', async () => {
    const ollama = await modelServer('nomic-embed-text:latest', 'qwen3:8b', 'gpt-oss:20b');

    const { text, check } = await init([], { OLLAMA_HOST: ollama });

    const lines = text.split('\n').filter((line) => line.includes('match:'));
    expect(lines).toEqual([
      '  - { match: "gpt-oss:20b", provider: ollama }',
      '  - { match: "claude-*", provider: ollama, model: "qwen3:8b" }',
      '  - { match: "gpt-*", provider: ollama, model: "qwen3:8b" }',
      '  - { match: "codex-*", provider: ollama, model: "qwen3:8b" }',
      '  - { match: "*", provider: ollama }    # whatever else is asked for',
    ]);
    expect(text).toContain('default_model: "qwen3:8b"');
    await check();
  });

  test('with Ollama beside a key of OpenAI: all that Codex asks for goes to OpenAI, and the file says why the rest does not', async () => {
    const ollama = await modelServer('qwen3:8b');

    const { text, check } = await init([], { OLLAMA_HOST: ollama, OPENAI_API_KEY: secret });

    expect(text).toContain(
      '- { match: "gpt-*", provider: openai }\n  - { match: "codex-*", provider: openai }',
    );
    expect(text).toMatch(
      /no key or login here serves them.*\n.*\n {2}- \{ match: "claude-\*", provider: ollama/,
    );
    expect(text.match(/provider: ollama, model/g)).toHaveLength(1);
    await check();
  });

  test('with servers that take connections and say nothing: it says so, and goes on without them', async () => {
    const hosts = await Promise.all([1, 2, 3].map(() => startHost(() => undefined)));
    const local = hosts.slice(1).flatMap(({ url }) => ['--local', url]);

    const start = performance.now();
    const { ended, text } = await init(local, { OLLAMA_HOST: hosts[0]?.url ?? '' });

    expect(performance.now() - start).toBeLessThan(2_000);
    expect(ended.exit).toBe(0);
    const said = /didn't answer within 0.8 s, so it is left out; gateway init --force/g;
    expect(ended.stderr.match(said)).toHaveLength(3);
    expect(text).toContain('provider: sandbox');
  });

  test('with a server that answers while this program is busy: it is found', async () => {
    const OLLAMA_HOST = await modelServer('qwen3:8b');

    const finding = findProviders({ HOME: homeWith({}), OLLAMA_HOST }, []);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);

    const found = (await finding).filter(({ isFound }) => isFound).map(({ name }) => name);
    expect(found).toContain('ollama');
  });

  test('a login that may be for something else is left out where nobody can be asked', async () => {
    const HOME = homeWith({ '.aws/config': '[default]\nregion = us-west-2\n' });

    const { ended, text } = await init([], { HOME });

    expect([ended.exit, text.includes('bedrock')]).toEqual([0, false]);
    expect(ended.stderr).toContain('bedrock is left out, although');
    expect(ended.stderr).toContain('gateway init --force --provider bedrock takes it');
  });
});

describe('with options', () => {
  test('--provider chooses, found or not', async () => {
    const argv = ['--provider', 'anthropic', '--provider', 'ollama', '-o', 'json'];

    const { text, ended } = await init(argv, { OPENAI_API_KEY: 'x' });

    expect(text).not.toContain('openai:');
    expect(text).toContain('ANTHROPIC_API_KEY}"');
    expect(ended.json).toMatchObject({ providers: ['anthropic', 'ollama'], project: null, key: null });
  });

  test('--project makes a key that works, and leaves its hash alone in the file', async () => {
    const { ended, text, cwd, check } = await init(['--project', 'shop']);

    const key = /GATEWAY_KEY=(gw_\w+)/.exec(ended.stdout)?.[1] ?? '';
    expect(text).not.toContain(key);
    await check();
    const doctor = await command('doctor', { cwd, env: { GATEWAY_KEY: key } });
    expect(doctor.stdout).not.toContain('GATEWAY_KEY is not a key');
  });

  test('the policy catches the usual lines of a .env', async () => {
    // Fixed, so that none is by chance too plain to be a secret.
    const digest = (text: string) => hash('sha512', text, 'base64').replaceAll(/[^A-Za-z0-9]/g, '');
    const value = (length: number) => digest(`of length ${length}`).slice(0, length);
    const lines = [
      `DB_PASSWORD=${value(16)}`,
      `DATABASE_URL=postgres://app:${value(16)}@db:5432/app`,
      `SECRET_KEY_BASE=${hash('sha512', 'base', 'hex')}`,
      `OPENAI_API_KEY=sk-proj-${value(48)}`,
      `ACME_API_KEY=${value(32)}`,
      `STRIPE_SECRET_KEY=sk_live_${value(24)}`,
      `AWS_SECRET_ACCESS_KEY=${value(40)}`,
      `AZURE_STORAGE_ACCOUNT_KEY=${hash('sha512', 'account', 'base64')}`,
      `JWT_SECRET=${value(32)}`,
      `GITHUB_TOKEN=ghp_${value(36)}`,
      `SLACK_BOT_TOKEN=xoxb-123456789012-1234567890123-${value(24)}`,
      `INTERNAL_AUTH_TOKEN=${value(32)}`,
    ];
    const { cwd } = await init([]);
    const messages = [{ role: 'user', content: lines.join('\n') }];
    const stdin = JSON.stringify({ model: 'sandbox-mini', messages });

    const { json } = await command('policy explain - -o json', { cwd, stdin });

    const { matches } = json.rules.find(({ rule }: { rule: string }) => rule === 'secrets');
    expect([json.decision, matches]).toMatchObject(['mask', [{ at: '/messages/0/content', count: 12 }]]);
  });

  test.each([
    [['--provider', 'nobody'], 2, 'known are sandbox, anthropic'],
    [['--local', 'ftp://x'], 2, 'expected an address'],
    [['--mask', 'emails'], 2, 'expected detectors such as secrets,email'],
    [['--project', 'a b'], 2, 'expected at most 58'],
    [['-c', 'missing/gateway.yaml'], 1, "gateway.yaml can't be written: ENOENT"],
    [['-o', 'yaml'], 2, 'prints text or json'],
  ])('%j is exit %i, and nothing is written', async (argv, exit, words) => {
    const { ended, cwd } = await init(argv);

    expect(ended).toEqual(failure(exit, words));
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('a file that is there', () => {
  const mine = { 'gateway.yaml': 'mine: 1\n' };

  test.each<[string, Files]>([
    ['a configuration', mine],
    ['a directory', { 'gateway.yaml/file': '' }],
  ])('is not replaced unasked: %s', async (kind, files) => {
    const { ended, cwd, file } = await init([], {}, files);

    expect(ended).toEqual(failure(2, '--force replaces it'));
    if (kind !== 'a directory') expect(readFileSync(file, 'utf8')).toBe('mine: 1\n');
    expect(readdirSync(cwd)).toEqual(['gateway.yaml']);
  });

  test('is not written with a key that is none, and the message names its variable', async () => {
    const { ended, cwd } = await init([], { ANTHROPIC_API_KEY: 'sk-ant-…' });

    expect(ended).toEqual(failure(2, /^gateway: a problem in gateway\.yaml\ngateway\.yaml:\d/));
    expect(ended.stderr).toMatch(/api_key: expected visible ASCII.*the value is from ANTHROPIC_API_KEY\n$/s);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('is replaced with --force', async () => {
    const { ended, cwd } = await init(['--force'], {}, mine);
    chmodSync(join(cwd, 'gateway.yaml'), 0o644);
    const again = await command('init --force', { cwd, env: noOllama });

    expect([ended.exit, again.exit]).toEqual([0, 0]);
    expect(statSync(join(cwd, 'gateway.yaml')).mode & 0o777).toBe(0o600);
  });
});

test.each([
  ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
  [':8080', 'http://127.0.0.1:8080/v1'],
  ['https://models.example', 'https://models.example/v1'],
  ['not a host', 'http://127.0.0.1:11434/v1'],
])('OLLAMA_HOST=%j is %s', (given, url) => {
  expect(ollamaUrl({ OLLAMA_HOST: given })).toBe(url);
});
