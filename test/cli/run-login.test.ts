import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, failure } from '../kit/command.ts';
import { useGateway } from '../kit/lifecycle.ts';
import { run } from './run-agent.ts';

const token = `sk-ant-oat01-${'x'.repeat(60)}`;
const files: Readonly<Record<string, object>> = {
  '.claude/.credentials.json': { claudeAiOauth: { accessToken: token, refreshToken: `${token}2` } },
  '.codex/auth.json': { auth_mode: 'chatgpt', tokens: { access_token: token, account_id: 'acc' } },
};

/** Runs a shell script in the agent's place, which prints what it was started with. */
const start = (options: Parameters<typeof run>[0]) =>
  run({
    files,
    script: `case "$0" in */codex) printf "%s\\n" "$@" ;; *) echo "token \${ANTHROPIC_AUTH_TOKEN-unset} key \${ANTHROPIC_API_KEY-unset}"; echo "$ANTHROPIC_CUSTOM_HEADERS" ;; esac`,
    ...options,
  });

const keyed = `
providers: { anthropic: { dialect: anthropic, api_key: "\${ANTHROPIC_API_KEY}" } }
models: [{ match: "claude-*", provider: anthropic }]
`;

describe('Claude Code', () => {
  const taken = {
    ANTHROPIC_AUTH_TOKEN: 'other',
    ANTHROPIC_API_KEY: 'other',
    ANTHROPIC_CUSTOM_HEADERS: 'x-team: a',
  };
  const own = /^token unset key unset\nx-gateway-key: gw_\w{38}~run-\w{12}\n$/;
  const gateways = /^token gw_\w{38}~run-\w{12} key unset\n\n$/;
  const withKey = { yaml: keyed, env: { ANTHROPIC_API_KEY: 'sk-key' } };
  test.each<[string, RegExp, Parameters<typeof run>[0]]>([
    ['uses its login, and the key is in a header', own, {}],
    [
      '… whose place nothing takes',
      /^token unset key unset\nx-team: a\nx-gateway-key: gw_\w{38}~run-\w{12}\n$/,
      { env: taken },
    ],
    ['… where the key of the configuration is not set', own, { yaml: keyed }],
    ['… where --login asks for it next to a key', own, { ...withKey, argv: ['run', '--login', 'claude'] }],
    ['… by CLAUDE_CODE_OAUTH_TOKEN', own, { files: {}, env: { CLAUDE_CODE_OAUTH_TOKEN: token } }],
    ['without a login gets the key as its token', gateways, { files: {} }],
    [
      '… with only logins of MCP servers',
      gateways,
      { files: { '.claude/.credentials.json': { mcpOAuth: {} } } },
    ],
    ['… with a key in the configuration', gateways, withKey],
  ])('%s', async (_case, stdout, given) => {
    expect(await start(given)).toMatchObject({ exit: 0, stdout: expect.stringMatching(stdout) });
  });

  test('its key for the gateway ends with it, because it sends it to its vendor too', async () => {
    const { home, stdout } = await start({});
    const state = join(home, '.local/state/gateway');
    const written = readdirSync(state, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));

    const key = /gw_\w+/.exec(stdout)?.[0] ?? '';
    expect(written.join('')).not.toContain(key);
    expect(written.join('')).not.toContain(token);
  });

  test('--login where the configuration sends its models elsewhere is refused', async () => {
    const yaml = `
providers: { own: { dialect: anthropic, base_url: "https://llm.example", api_key: "\${ANTHROPIC_API_KEY}" } }
models: [{ match: "*", provider: own }]`;

    const env = { ANTHROPIC_API_KEY: 'k' };

    expect(await start({ argv: ['run', '--login', 'claude'], yaml, env })).toEqual(
      failure(126, 'does not send claude-sonnet-4-5 with your own login'),
    );
  });

  test.each([
    ['apiKeyHelper', { apiKeyHelper: 'echo key' }],
    ['env.ANTHROPIC_CUSTOM_HEADERS', { env: { ANTHROPIC_CUSTOM_HEADERS: 'a: b' } }],
  ])('%s in its settings, which would hide the login or the key, is refused', async (name, settings) => {
    expect(await start({ files: { ...files, '.claude/settings.json': settings } })).toEqual(
      failure(126, `sets ${name}, which keeps its login from the gateway`),
    );
  });
});

describe('Codex', () => {
  test('with a ChatGPT login uses it', async () => {
    const { stdout } = await start({ argv: ['run', 'codex'] });

    expect(stdout).toContain('requires_openai_auth=true, env_http_headers={"x-gateway-key"="GATEWAY_KEY"}');
    expect(stdout).not.toContain('env_key=');
  });

  test('with an API key in its file gets the gateway’s', async () => {
    expect(
      await start({
        argv: ['run', 'codex'],
        files: { '.codex/auth.json': { auth_mode: 'apikey', OPENAI_API_KEY: 'sk-1', tokens: null } },
      }),
    ).toMatchObject({ stdout: expect.stringContaining('env_key="GATEWAY_KEY"') });
  });
});

const client = `
providers: { anthropic: { dialect: anthropic, credentials: client } }
models: [{ match: "claude-*", provider: anthropic }]`;

describe('at a gateway that takes logins', () => {
  const gateway = useGateway(client);
  const at = (line: string, env: Readonly<Record<string, string>> = {}) =>
    command(line, { gateway: gateway(), env, stdin: '' });

  test('env prints a header for the key', async () => {
    const { json } = await at('env claude -o json', {
      ANTHROPIC_AUTH_TOKEN: 'other',
      ANTHROPIC_CUSTOM_HEADERS: 'x-team: a\nX-Gateway-Key: old',
    });

    expect(json).toMatchObject({
      variables: { ANTHROPIC_CUSTOM_HEADERS: `x-team: a\nx-gateway-key: ${gateway().key}` },
      unset: ['ANTHROPIC_AUTH_TOKEN'],
    });
    expect(json.variables).not.toHaveProperty('ANTHROPIC_AUTH_TOKEN');
  });

  test('env takes the header back', async () => {
    const { stdout } = await at('env claude --unset', { ANTHROPIC_CUSTOM_HEADERS: 'x-gateway-key: k' });

    expect(stdout).toContain('unset ANTHROPIC_CUSTOM_HEADERS\n');
  });

  test.each([
    ['env codex --login', 126, 'does not send gpt-5 with your own login'],
    ['send -m claude-x hi', 4, 'provider anthropic takes your own login, not a key of the gateway'],
  ])('%s is refused: exit %i', async (line, exit, words) => {
    expect(await at(line)).toEqual(failure(exit, words));
  });
});

test('--login is for agents that have one', async () => {
  expect(await start({ argv: ['run', '--login', 'opencode'] })).toEqual(
    failure(2, '--login is for claude and codex'),
  );
});
