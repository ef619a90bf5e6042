import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clientOf } from '../../src/cli/agents/clients.ts';
import { checkClaude } from '../../src/cli/doctor/check-claude.ts';
import { checkCodexOverrides } from '../../src/cli/doctor/check-codex.ts';
import { checkManagedOpencode } from '../../src/cli/doctor/check-opencode.ts';
import { checkQwen } from '../../src/cli/doctor/check-qwen.ts';
import { createWorkspace } from '../config/workspace.ts';

// Each case was tried with the real agent: its requests went elsewhere, or those of a "fine" one to the gateway.

const url = 'http://127.0.0.1:4100';
const elsewhere = 'http://127.0.0.1:4999';

type Files = Readonly<Record<string, string>>;
type Variables = Readonly<Record<string, string>>;

function errorsOf(
  check: typeof checkClaude | typeof checkCodexOverrides | typeof checkQwen,
  files: Files,
  env: Variables = {},
) {
  const root = createWorkspace(files);
  const io = { env: { HOME: join(root, 'home'), ...env }, cwd: join(root, 'project') };
  return check(io, url, root)
    .filter(({ status }) => status === 'error')
    .map(({ message }) => message.replace(`${root}/`, ''));
}

describe('Claude Code', () => {
  const settings = (env: Variables) => JSON.stringify({ env });
  const socket = { ANTHROPIC_UNIX_SOCKET: '/tmp/s' };

  test.each<[unknown, boolean]>([
    [' Yes ', true],
    ['another word', true],
    [0, false],
    ['off', false],
    ['', false],
  ])('another cloud by %j: %s', (value, isFault) => {
    const own = JSON.stringify({ env: { ANTHROPIC_BASE_URL: url, CLAUDE_CODE_USE_BEDROCK: value } });

    expect(errorsOf(checkClaude, { 'home/.claude/settings.json': own })).toHaveLength(isFault ? 1 : 0);
  });

  test.each<[string, string, Variables]>([
    ['etc/claude-code/managed-settings.json', 'ANTHROPIC_BASE_URL', { ANTHROPIC_BASE_URL: elsewhere }],
    ['etc/claude-code/managed-settings.d/10.json', 'ANTHROPIC_BASE_URL', { ANTHROPIC_BASE_URL: elsewhere }],
    ['home/.claude/settings.json', 'ANTHROPIC_UNIX_SOCKET', socket],
    ['home/.claude/settings.json', 'ANTHROPIC_UNIX_SOCKET', { ANTHROPIC_BASE_URL: url, ...socket }],
  ])('%s sets %s in %j', (file, name, env) => {
    expect(errorsOf(checkClaude, { [file]: settings(env) })).toEqual([
      `${file} sets ${name}, which overrides the environment`,
    ]);
  });

  // Claude Code 2.1.332 has none of the last ones.
  test.each<[string, string, string]>([
    ['ANTHROPIC_BASE_URL', '', 'is empty'],
    ['ANTHROPIC_AUTH_TOKEN', '', 'is empty'],
    ['CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD', '1', 'is a cloud'],
    ['CLAUDE_CODE_USE_GATEWAY', '1', 'is a login'],
    ['CLAUDE_CODE_USE_NEW_CLOUD', 'true', 'looks like a cloud'],
    ['ANTHROPIC_USE_NEW_CLOUD', '1', 'looks like a cloud'],
    ['CLAUDE_CODE_API_BASE_URL', elsewhere, 'is an address'],
    ['ANTHROPIC_NEW_ENDPOINT', 'example.com', 'is named as an address'],
    ['CLAUDE_NEW_PLACE', elsewhere, 'has an address'],
  ])('%s=%s: %s', (name, value) => {
    const file = 'project/.claude/settings.json';

    expect(errorsOf(checkClaude, { [file]: settings({ [name]: value }) })).toEqual([
      `${file} sets ${name}, which overrides the environment`,
    ]);
  });

  test.each<Variables>([
    { ANTHROPIC_BEDROCK_BASE_URL: elsewhere },
    { CLAUDE_CODE_USE_POWERSHELL_TOOL: '1' },
    { ANTHROPIC_MODEL: 'opus', CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY: '4', DISABLE_TELEMETRY: '1' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: elsewhere },
    { ANTHROPIC_CUSTOM_HEADERS: 'x-team: a' },
  ])('%j is fine', (env) => {
    expect(errorsOf(checkClaude, { 'home/.claude/settings.json': settings(env) })).toEqual([]);
  });

  const away = settings({ ANTHROPIC_BASE_URL: elsewhere });
  test.each<[string, Files, Variables?]>([
    ['home/.claude.json', {}],
    ['config/.claude.json', {}, { CLAUDE_CONFIG_DIR: 'config' }],
    ['home/.claude/.config.json', {}],
    ['home/.claude/cowork_settings.json', {}],
    ['project/.claude/settings.json', {}],
    ['project/.claude/settings.local.json', {}],
    // Of a folder above, if that is the repository's root.
    ['.claude/settings.local.json', {}],
    // Of the main checkout, from a worktree.
    [
      'main/.claude/settings.local.json',
      { 'project/.git': 'gitdir: ../main/.git/worktrees/p\n', 'main/.git/worktrees/p/commondir': '../..\n' },
    ],
  ])('%s is read', (file, others, { CLAUDE_CONFIG_DIR } = {}) => {
    const root = createWorkspace({ 'project/a': '', ...others, [file]: away });
    const config =
      CLAUDE_CONFIG_DIR === undefined ? {} : { CLAUDE_CONFIG_DIR: join(root, CLAUDE_CONFIG_DIR) };
    const io = { env: { HOME: join(root, 'home'), ...config }, cwd: join(root, 'project') };

    expect(checkClaude(io, url, root).map(({ status, message }) => [status, message])).toEqual([
      ['error', `${join(root, file)} sets ANTHROPIC_BASE_URL, which overrides the environment`],
    ]);
  });

  test.each<[string, Files]>([
    ['.claude/settings.json', {}],
    ['.claude/settings.local.json', { 'project/.git/HEAD': '' }],
    ['main/.claude/settings.local.json', { 'project/.git': 'gitdir: ../main/.git/modules/p\n' }],
  ])('%s of another folder is not', (file, others) => {
    expect(errorsOf(checkClaude, { 'project/a': '', ...others, [file]: away })).toEqual([]);
  });

  test('a folder behind a link is in the repository of its real path', () => {
    const root = createWorkspace({
      'real/.git/HEAD': '',
      'real/sub/a': '',
      'real/.claude/settings.local.json': away,
    });
    symlinkSync(join(root, 'real/sub'), join(root, 'link'));

    const found = checkClaude({ env: { HOME: join(root, 'home') }, cwd: join(root, 'link') }, url, root);

    expect(found.map(({ status }) => status)).toEqual(['error']);
  });

  test('the variable of the socket is not passed on', () => {
    expect(clientOf('claude').conflicts).toContain('ANTHROPIC_UNIX_SOCKET');
  });

  const proxy = { HTTP_PROXY: elsewhere };
  test.each<[string, Variables, Variables, boolean]>([
    ['a proxy, and exceptions without the gateway', { ...proxy, NO_PROXY: 'intranet' }, {}, true],
    ['no exceptions at all', { ...proxy, NO_PROXY: '', no_proxy: '' }, {}, true],
    ['such exceptions, and a proxy in the environment', { NO_PROXY: 'intranet' }, proxy, true],
    ['a proxy only: the exceptions of gateway run hold', proxy, {}, false],
    ['a proxy, and exceptions with the gateway', { ...proxy, NO_PROXY: 'intranet,127.0.0.1' }, {}, false],
    ['a proxy, and every host excepted', { ...proxy, NO_PROXY: '*', no_proxy: '*' }, {}, false],
  ])('settings with %s', (_what, own, env, isFault) => {
    const file = 'home/.claude/settings.json';

    expect(errorsOf(checkClaude, { [file]: settings(own) }, env)).toEqual(
      isFault ? [`${file} sets NO_PROXY without the gateway's host, so that a proxy gets its requests`] : [],
    );
  });
});

describe('Codex', () => {
  const provider = (id: string, address: string) => `[model_providers.${id}]\nbase_url = "${address}/v1"\n`;
  const managed = 'etc/codex/managed_config.toml';
  const overrides = 'which overrides what gateway run sets';

  const own = 'home/.codex/config.toml';
  const dotenv = 'home/.codex/.env';
  const proxy = `HTTP_PROXY=${elsewhere}`;

  test.each<[string, string, string?]>([
    [managed, `model_provider = "mine"\n${provider('mine', elsewhere)}`, `sets model_provider, ${overrides}`],
    [managed, provider('gateway', elsewhere), `sets model_providers.gateway.base_url, ${overrides}`],
    [managed, 'model_provider = ', "can't be read"],
    [managed, `model_provider = "gateway"\n${provider('gateway', url)}`],
    [managed, 'model = "o9"'],
    [own, provider('gateway', elsewhere)],
    [own, 'profile = "work"', 'chooses the profile work'],
    [dotenv, proxy],
    [
      dotenv,
      `${proxy}\nNO_PROXY=intranet`,
      "sets NO_PROXY without the gateway's host, so that a proxy gets its",
    ],
  ])('%s with %j: %s', (file, text, problem) => {
    expect(errorsOf(checkCodexOverrides, { [file]: text })).toEqual(
      problem === undefined ? [] : [expect.stringMatching(new RegExp(`^${file} ${problem}`))],
    );
  });
});

describe('opencode', () => {
  const address = { provider: { openai: { options: { baseURL: `${elsewhere}/v1` } } } };
  const fine = { model: 'openai/gpt-5', enabled_providers: ['openai'], theme: 'dark' };
  test.each<[string, object, string?]>([
    ['an address', address, 'sets provider.openai.options.baseURL'],
    ['another provider', { enabled_providers: ['openai', 'other'] }, 'has other in enabled_providers'],
    ['what leads to the gateway', fine],
  ])("the administrator's files with %s", (_what, managed, problem) => {
    const cwd = createWorkspace({ 'managed/opencode.json': JSON.stringify(managed) });
    const env = { OPENCODE_TEST_MANAGED_CONFIG_DIR: 'managed' };

    const messages = checkManagedOpencode({ env, cwd }, url).map(({ message }) => message);

    const file = join(cwd, 'managed/opencode.json');
    expect(messages).toEqual(
      problem === undefined ? [] : [`${file} ${problem}, and overrides what gateway run sets`],
    );
  });
});

describe('Qwen Code', () => {
  const providers = (of: object) => JSON.stringify({ modelProviders: of });
  const own = providers({ openai: [{ id: 'house', baseUrl: `${elsewhere}/v1`, envKey: 'KEY' }] });

  test.each(['home/.qwen/settings.json', 'project/.qwen/settings.json'])(
    '%s names other addresses',
    (file) => {
      expect(errorsOf(checkQwen, { [file]: own })).toEqual([
        `${file} gives models addresses of their own (modelProviders)`,
      ]);
    },
  );

  // The argument and the variables hold over these.
  test.each<[string, string]>([
    ['another login', JSON.stringify({ security: { auth: { selectedType: 'gemini' } } })],
    ['an address', JSON.stringify({ security: { auth: { baseUrl: elsewhere } } })],
    ['no providers', providers({})],
  ])('%s is fine', (_what, settings) => {
    expect(errorsOf(checkQwen, { 'home/.qwen/settings.json': settings })).toEqual([]);
  });

  test('a file that cannot be read is not taken for harmless', () => {
    expect(errorsOf(checkQwen, { 'home/.qwen/settings.json': '{ // mine' })).toHaveLength(1);
  });
});
