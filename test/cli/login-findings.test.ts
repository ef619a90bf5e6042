import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Diagnosis } from '../../src/cli/doctor/finding.ts';
import { command, withoutStore } from '../kit/command.ts';
import { startHost } from '../kit/host.ts';
import type { Files } from '../kit/own-configuration.ts';

// What init and doctor make of the logins that agents keep.

const token = `sk-ant-oat01-${'x'.repeat(60)}`;
const claude: Files = { '.claude/.credentials.json': { claudeAiOauth: { accessToken: token } } };
const codex: Files = { '.codex/auth.json': { auth_mode: 'chatgpt', tokens: { access_token: token } } };

async function init(env: Readonly<Record<string, string>>) {
  const files = { ...claude, ...codex };
  const { home } = await command('init', { files, env: { OLLAMA_HOST: '127.0.0.1:9', ...env } });
  const { stdout } = await command('config check', { cwd: home, env });
  return { check: stdout, text: readFileSync(join(home, 'gateway.yaml'), 'utf8') };
}

test('init offers logins, with a policy that masks secrets', async () => {
  const { text, check } = await init({});

  expect(check).toBe('gateway.yaml: fine\n');
  expect(text).toMatch(/claude-login:\n {4}dialect: anthropic\n {4}base_url: .*\n {4}credentials: client/);
  expect(text).toMatch(/chatgpt-login:\n(?:.*\n)*? {4}endpoints: \[responses\]\n/);
  expect(text).toContain('- { match: "claude-*", provider: claude-login }');
  expect(text).toContain('action: mask');
  expect(text).not.toContain(token);
});

test('init prefers keys to logins', async () => {
  const { text } = await init({ ANTHROPIC_API_KEY: 'sk-1', OPENAI_API_KEY: 'sk-2' });

  expect(text).toContain('provider: anthropic }');
  expect(text).not.toContain('login:');
});

async function findings(files: Files): Promise<readonly string[]> {
  const host = await startHost((response) => response.writeHead(401).end());
  const yaml = `
server: { port: 0 }
${withoutStore}providers: { own: { dialect: anthropic, base_url: "${host.url}", credentials: client } }
models: [{ match: "claude-*", provider: own }]
`;
  const { stdout, json } = await command('doctor -o json --timeout 3', {
    files: { ...files, 'gateway.yaml': yaml },
  });
  expect(host.requests.flatMap(({ headers }) => headers.map(([name]) => name))).not.toContain(
    'authorization',
  );
  expect(stdout).not.toContain(token);
  return json.findings.map(({ subject, status, message }: Diagnosis) => `${status} ${subject}: ${message}`);
}

test('doctor calls such a provider without a credential, and says whether its login is there', async () => {
  expect(await findings({ ...claude, ...codex })).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^ok provider own: .* takes the client's own login$/),
      'ok claude: logged in: provider own gets its login',
      'ok codex: logged in: gateway run --login codex uses it instead of a key',
    ]),
  );
  expect(await findings({})).toContain(
    'warning claude: provider own takes its login, and none was found here',
  );
});
