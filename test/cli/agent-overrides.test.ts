import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clientOf } from '../../src/cli/agents/clients.ts';
import { checkClaude } from '../../src/cli/doctor/check-claude.ts';
import { checkCodexOverrides } from '../../src/cli/doctor/check-codex.ts';
import { checkManagedOpencode } from '../../src/cli/doctor/check-opencode.ts';
import { createWorkspace } from '../config/workspace.ts';

// Each case was tried with the real agent: its requests went elsewhere, or those of a "fine" one to the gateway.

const url = 'http://127.0.0.1:4100';
const elsewhere = 'http://127.0.0.1:4999';

type Files = Readonly<Record<string, string>>;
type Variables = Readonly<Record<string, string>>;

function errorsOf(check: typeof checkClaude | typeof checkCodexOverrides, files: Files, env: Variables = {}) {
  const root = createWorkspace(files);
  const io = { env: { HOME: join(root, 'home'), ...env }, cwd: join(root, 'project') };
  return check(io, url, root)
    .filter(({ status }) => status === 'error')
    .map(({ message }) => message.replace(`${root}/`, ''));
}

describe('Claude Code', () => {
  const settings = (env: Variables) => JSON.stringify({ env });

  test.each<[unknown, boolean]>([
    [1, true],
    [' Yes ', true],
    [0, false],
    [false, false],
    ['no', false],
    ['', false],
  ])('another cloud by %j: %s', (value, isFault) => {
    const own = JSON.stringify({ env: { ANTHROPIC_BASE_URL: url, CLAUDE_CODE_USE_BEDROCK: value } });

    expect(errorsOf(checkClaude, { 'home/.claude/settings.json': own })).toHaveLength(isFault ? 1 : 0);
  });

  test.each([
    ['etc/claude-code/managed-settings.json', { ANTHROPIC_BASE_URL: elsewhere }, 'ANTHROPIC_BASE_URL'],
    ['etc/claude-code/managed-settings.d/10.json', { ANTHROPIC_BASE_URL: elsewhere }, 'ANTHROPIC_BASE_URL'],
    ['home/.claude/settings.json', { ANTHROPIC_UNIX_SOCKET: '/tmp/s' }, 'ANTHROPIC_UNIX_SOCKET'],
    [
      'home/.claude/settings.json',
      { ANTHROPIC_BASE_URL: url, ANTHROPIC_UNIX_SOCKET: '/tmp/s' },
      'ANTHROPIC_UNIX_SOCKET',
    ],
  ])('%s with %j', (file, env, name) => {
    expect(errorsOf(checkClaude, { [file]: settings(env) })).toEqual([
      `${file} sets ${name}, which overrides the environment`,
    ]);
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
    ['exceptions only', { NO_PROXY: 'intranet' }, {}, false],
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

  test.each<[Files, string[]]>([
    [
      { [managed]: `model_provider = "mine"\n${provider('mine', elsewhere)}` },
      [`${managed} sets model_provider, ${overrides}`],
    ],
    [
      { [managed]: provider('gateway', elsewhere) },
      [`${managed} sets model_providers.gateway.base_url, ${overrides}`],
    ],
    [{ [managed]: 'model_provider = ' }, [expect.stringContaining(`${managed} can't be read`)]],
    [{ [managed]: `model_provider = "gateway"\n${provider('gateway', url)}` }, []],
    [{ [managed]: 'model = "o9"' }, []],
    [{ 'home/.codex/config.toml': provider('gateway', elsewhere) }, []],
    [{ 'home/.codex/config.toml': 'model_provider = "mine"' }, []],
    [
      { 'home/.codex/config.toml': 'profile = "work"' },
      [expect.stringContaining('chooses the profile work')],
    ],
    [{ 'home/.codex/.env': `HTTP_PROXY=${elsewhere}` }, []],
    [
      { 'home/.codex/.env': `HTTP_PROXY=${elsewhere}\nNO_PROXY=intranet` },
      ["home/.codex/.env sets NO_PROXY without the gateway's host, so that a proxy gets its requests"],
    ],
  ])('%j', (files, expected) => {
    expect(errorsOf(checkCodexOverrides, files)).toEqual(expected);
  });
});

describe('opencode', () => {
  test.each([
    [
      'an address',
      { provider: { openai: { options: { baseURL: `${elsewhere}/v1` } } } },
      'sets provider.openai.options.baseURL',
    ],
    [
      'another provider',
      { enabled_providers: ['openai', 'openrouter'] },
      'has openrouter in enabled_providers',
    ],
    [
      'what leads to the gateway',
      { model: 'openai/gpt-5', enabled_providers: ['openai'], theme: 'dark' },
      undefined,
    ],
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
