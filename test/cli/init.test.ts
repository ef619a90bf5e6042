import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ollamaUrl } from '../../src/cli/init/find-providers.ts';
import { command, emptyDirectory, printed } from '../kit/command.ts';
import { startHost } from '../kit/host.ts';

/** A server on this machine that has these models. */
async function modelServer(...ids: readonly string[]): Promise<string> {
  const data = ids.map((id) => ({ id, object: 'model' }));
  const host = await startHost((response) => response.end(JSON.stringify({ object: 'list', data })));
  return host.url;
}

/** Nothing is found by accident on the machine of whoever runs the tests. */
const noOllama = { OLLAMA_HOST: '127.0.0.1:9' };

async function init(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cwd = emptyDirectory();
  const ended = await command(['init', ...argv], { cwd, env: { ...noOllama, ...env } });
  const file = join(cwd, 'gateway.yaml');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const check = () => command(['config', 'check'], { cwd, env });
  return { ...ended, cwd, file, text, check };
}

describe('on a machine', () => {
  test('with nothing: the sandbox, and a file that config check passes without a warning', async () => {
    const { exit, stdout, stderr, file, text, check } = await init([]);

    expect([exit, stdout, stderr]).toEqual([0, `${file}\n`, '']);
    expect(text).toContain('sandbox: { dialect: sandbox }');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await check()).toEqual(printed('gateway.yaml: fine\n'));
  });

  test('with keys in the environment: their providers, but not the keys', async () => {
    const env = {
      ANTHROPIC_API_KEY: 'sk-ant-secret-1',
      OPENAI_API_KEY: 'sk-secret-2',
      GEMINI_API_KEY: 'secret-3',
    };

    const { exit, text, check } = await init([], env);

    expect(exit).toBe(0);
    expect(text).not.toContain('secret-');
    for (const name of ['anthropic', 'openai', 'gemini']) expect(text).toContain(`\n  ${name}:\n`);
    expect(text).not.toContain('mistral');
    expect(text).toContain('- { match: "claude-*", provider: anthropic }');
    expect(await check()).toMatchObject({ exit: 0, stdout: 'gateway.yaml: fine\n' });
  });

  test('with model servers: the models of each, and the last gets what no other has', async () => {
    const ollama = await modelServer('llama3.2:latest', 'qwen3:8b');
    const other = await modelServer('phi-4', 'odd "name"\nserver: { host: 0.0.0.0 }');

    const { exit, text, check } = await init(['--local', `${other}/v1`], { OLLAMA_HOST: ollama });

    expect(exit).toBe(0);
    expect(text).toContain(`base_url: "${ollama}/v1"`);
    expect(text).toContain('- { match: "llama3.2:latest", provider: ollama }');
    expect(text).toContain('- { match: "*", provider: local }');
    expect(text).toContain('default_model: "llama3.2:latest"');
    expect(text).not.toContain('odd');
    expect(await check()).toMatchObject({ exit: 0, stdout: 'gateway.yaml: fine\n' });
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
    expect(await check()).toMatchObject({ exit: 0, stdout: 'gateway.yaml: fine\n' });
  });

  test('with Ollama and a key: the agents of that vendor go there', async () => {
    const { text } = await init([], { OLLAMA_HOST: await modelServer('qwen3:8b'), ANTHROPIC_API_KEY: 'x' });

    expect(text).toContain('{ match: "claude-*", provider: anthropic }');
    expect(text).toContain('{ match: "gpt-*", provider: ollama, model: "qwen3:8b" }');
  });

  test('with a server that is none of models: it is not used', async () => {
    const host = await startHost((response) => response.end('<html>'));

    expect((await init([], { OLLAMA_HOST: host.url })).text).toContain('dialect: sandbox');
  });
});

describe('with options', () => {
  test('with servers that take connections and say nothing: it says so, and goes on without them', async () => {
    const hosts = await Promise.all([1, 2, 3].map(() => startHost(() => undefined)));
    onTestFinished(() => Promise.all(hosts.map((host) => host.close())).then(() => undefined));
    const local = hosts.slice(1).flatMap(({ url }) => ['--local', url]);

    const start = performance.now();
    const { exit, stderr, text } = await init(local, { OLLAMA_HOST: hosts[0]?.url ?? '' });

    expect(exit).toBe(0);
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(stderr.match(/didn't answer within 0.8 s, so it is left out; gateway init --force/g)).toHaveLength(
      3,
    );
    expect(text).toContain('provider: sandbox');
  });

  test('--provider chooses, found or not', async () => {
    const { text, stdout } = await init(['--provider', 'anthropic', '--provider', 'ollama', '-o', 'json'], {
      OPENAI_API_KEY: 'x',
    });

    expect(text).not.toContain('openai:');
    expect(text).toContain('ANTHROPIC_API_KEY}"');
    expect(JSON.parse(stdout)).toMatchObject({
      providers: ['anthropic', 'ollama'],
      project: null,
      key: null,
    });
  });

  test('--provider sandbox leaves out what was found', async () => {
    const { exit, text } = await init(['--provider', 'sandbox'], { OPENAI_API_KEY: 'x' });

    expect(exit).toBe(0);
    expect(text).toContain('providers:\n  sandbox: { dialect: sandbox }');
  });

  test('--project makes a key that works, and leaves its hash alone in the file', async () => {
    const { stdout, text, cwd, check } = await init(['--project', 'shop']);

    const key = /GATEWAY_KEY=(gw_\w+)/.exec(stdout)?.[1] ?? '';
    expect(text).not.toContain(key);
    expect(await check()).toMatchObject({ exit: 0, stdout: 'gateway.yaml: fine\n' });
    const doctor = await command(['doctor'], { cwd, env: { GATEWAY_KEY: key } });
    expect(doctor.stdout).not.toContain('GATEWAY_KEY is no key');
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
    writeFileSync(join(cwd, 'request.json'), JSON.stringify({ model: 'sandbox-mini', messages }));

    const { stdout } = await command(['policy', 'explain', 'request.json', '-o', 'json'], { cwd });

    const { decision, rules } = JSON.parse(stdout);
    const { matches } = rules.find(({ rule }: { rule: string }) => rule === 'secrets');
    expect([decision, matches]).toMatchObject(['mask', [{ at: '/messages/0/content', count: 12 }]]);
  });

  test('--mask chooses what the policy keeps from leaving', async () => {
    const { text, check } = await init(['--mask', 'secrets,email', '--mask', 'iban']);

    expect(text).toContain('action: mask');
    expect(text).toContain('detect: [{ secrets: possible }, email, iban]');
    expect(await check()).toMatchObject({ exit: 0 });
  });

  test('--no-policy leaves the policy out', async () => {
    expect((await init(['--no-policy'])).text).not.toContain('policies:');
  });

  test('-c writes another file', async () => {
    const { cwd } = await init(['-c', 'staging.yaml']);

    expect(readdirSync(cwd)).toEqual(['staging.yaml']);
  });

  test.each([
    [['--provider', 'nobody'], 2, 'known are sandbox, anthropic'],
    [['--local', 'ftp://x'], 2, 'expected an address'],
    [['--mask', 'emails'], 2, 'expected detectors such as secrets,email'],
    [['--project', 'a b'], 2, 'expected at most 58'],
    [['-c', 'missing/gateway.yaml'], 1, "gateway.yaml can't be written: ENOENT"],
    [['-o', 'yaml'], 2, 'prints text or json'],
  ])('%j is exit %i, and nothing is written', async (argv, exit, words) => {
    const ended = await init(argv);

    expect([ended.exit, ended.stdout]).toEqual([exit, '']);
    expect(ended.stderr).toContain(words);
    expect(readdirSync(ended.cwd)).toEqual([]);
  });
});

describe('a file that is there', () => {
  test.each(['gateway.yaml', 'directory'])('is not replaced unasked: %s', async (kind) => {
    const cwd = emptyDirectory();
    if (kind === 'directory') mkdirSync(join(cwd, 'gateway.yaml'));
    else writeFileSync(join(cwd, 'gateway.yaml'), 'mine: 1\n');

    const { exit, stderr } = await command(['init'], { cwd, env: noOllama });

    expect(exit).toBe(2);
    expect(stderr).toContain('--force replaces it');
    if (kind !== 'directory') expect(readFileSync(join(cwd, 'gateway.yaml'), 'utf8')).toBe('mine: 1\n');
    expect(readdirSync(cwd)).toEqual(['gateway.yaml']);
  });

  test('is replaced with --force', async () => {
    const cwd = emptyDirectory();
    writeFileSync(join(cwd, 'gateway.yaml'), 'mine: 1\n', { mode: 0o644 });

    const { exit } = await command(['init', '--force'], { cwd, env: noOllama });

    expect(exit).toBe(0);
    expect(statSync(join(cwd, 'gateway.yaml')).mode & 0o777).toBe(0o600);
  });
});

test.each([
  ['', 'http://127.0.0.1:11434/v1'],
  ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
  [':8080', 'http://127.0.0.1:8080/v1'],
  ['box:8080', 'http://box:8080/v1'],
  ['https://models.example', 'https://models.example/v1'],
  ['not a host', 'http://127.0.0.1:11434/v1'],
])('OLLAMA_HOST=%j is %s', (given, url) => {
  expect(ollamaUrl({ OLLAMA_HOST: given })).toBe(url);
});

describe('with credentials of a cloud', () => {
  /** A home with these files, which hold no credentials that init could want. */
  function home(files: Readonly<Record<string, string>>): string {
    const folder = emptyDirectory();
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return folder;
  }
  const secret = 'very-secret-0123456789';

  test('AWS: the region of the profile, and what agents ask for; no credentials are in the file', async () => {
    const HOME = home({
      '.aws/credentials': `[default]\naws_access_key_id = ${secret}\naws_secret_access_key = ${secret}\n`,
      '.aws/config': '[default]\nregion = us-west-2\n[profile work]\noutput = json\nregion=eu-central-1\n',
    });

    const { exit, text, check } = await init(['--provider', 'bedrock'], { HOME, AWS_PROFILE: 'work' });

    expect(exit).toBe(0);
    expect(text).toContain(
      'base_url: "https://bedrock-runtime.eu-central-1.amazonaws.com"\n    credentials: aws\n',
    );
    expect(text).toContain(
      '- { match: "claude-*", provider: bedrock, model: "global.anthropic.claude-sonnet-5" }',
    );
    expect(text).not.toContain(secret);
    expect(await check()).toMatchObject({ exit: 0, stdout: 'gateway.yaml: fine\n' });
  });

  test('AWS with a key of Bedrock: the key is a variable, and no package is needed', async () => {
    const { text, check } = await init([], { AWS_BEARER_TOKEN_BEDROCK: secret, AWS_REGION: 'us-east-1' });

    expect(text).toContain('AWS_BEARER_TOKEN_BEDROCK}"');
    expect(text).not.toContain('credentials: aws');
    expect(text).not.toContain(secret);
    expect(await check()).toMatchObject({ exit: 0 });
  });

  test.each([
    ['global', 'https://aiplatform.googleapis.com/v1/projects/shop/locations/global'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com/v1/projects/shop/locations/eu'],
    ['us-east5', 'https://us-east5-aiplatform.googleapis.com/v1/projects/shop/locations/us-east5'],
  ])("Google: Claude and Gemini in %s, in gcloud's project", async (location, url) => {
    const HOME = home({
      '.config/gcloud/application_default_credentials.json': `{"refresh_token":"${secret}"}`,
      '.config/gcloud/active_config': 'mine',
      '.config/gcloud/configurations/config_mine': '[core]\naccount = me@shop.example\nproject = shop\n',
    });

    const { text, check } = await init(['--provider', 'vertex', '--provider', 'vertex-gemini'], {
      HOME,
      GOOGLE_CLOUD_LOCATION: location,
    });

    expect(text).toContain(`dialect: vertex\n    base_url: "${url}"\n    credentials: google\n`);
    expect(text).toContain(
      `dialect: gemini\n    base_url: "${url}/publishers/google"\n    credentials: google\n`,
    );
    expect(text).toContain('- { match: "gemini-*", provider: vertex-gemini }');
    expect(text).not.toContain(secret);
    expect(await check()).toMatchObject({ exit: 0, stdout: 'gateway.yaml: fine\n' });
  });

  test('Azure: a key that is sent as Azure wants it, and a login for Claude', async () => {
    const HOME = home({ '.azure/azureProfile.json': '{}' });
    const env = {
      AZURE_OPENAI_ENDPOINT: 'https://shop.openai.azure.com/',
      AZURE_OPENAI_API_KEY: secret,
      ANTHROPIC_FOUNDRY_RESOURCE: 'shop',
    };

    const { text, check } = await init([], { HOME, ...env });

    expect(text).toContain(
      `base_url: "https://shop.openai.azure.com/openai/v1"\n    api_key: "\${AZURE_OPENAI_API_KEY}"    # read when the gateway starts\n    credentials: azure\n`,
    );
    expect(text).toContain(
      'base_url: "https://shop.services.ai.azure.com/anthropic"\n    credentials: azure\n',
    );
    expect(text).not.toContain(secret);
    expect(await check()).toMatchObject({ exit: 0, stdout: 'gateway.yaml: fine\n' });
  });

  test('a login that may be for something else is left out where nobody can be asked', async () => {
    const HOME = home({ '.aws/config': '[default]\nregion = us-west-2\n' });

    const { exit, text, stderr } = await init([], { HOME });

    expect([exit, text.includes('bedrock')]).toEqual([0, false]);
    expect(stderr).toContain('bedrock is left out, although');
    expect(stderr).toContain('gateway init --force --provider bedrock takes it');
  });

  test('half of what a cloud needs is not enough, and what a variable has instead of a name is not used', async () => {
    const HOME = home({ '.azure/azureProfile.json': '{}' });
    const env = { GOOGLE_APPLICATION_CREDENTIALS: '/a/file', GOOGLE_CLOUD_PROJECT: 'a/../b"\n' };

    expect((await init([], { HOME, ...env })).text).toContain('dialect: sandbox');
  });

  test("a vendor's own key comes first, and no line is one that is never reached", async () => {
    const { text, check } = await init([], { ANTHROPIC_API_KEY: secret, AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE' });

    expect(text.match(/match: "claude-\*"/g)).toHaveLength(1);
    expect(text).toContain('{ match: "claude-*", provider: anthropic }');
    expect(await check()).toMatchObject({ exit: 0, stdout: 'gateway.yaml: fine\n' });
  });
});
