import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Child, startProgram } from '../kit/child.ts';
import { emptyDirectory } from '../kit/command.ts';
import { startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';

interface Start {
  /** Claude Code's settings, in the home. */
  readonly claude?: object;
  /** A shell script in the agent's place. */
  readonly script?: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly yaml?: string;
}

function start({ claude, script, argv, env = {}, yaml = '' }: Start): Child & { readonly home: string } {
  const home = emptyDirectory();
  if (yaml !== '') writeFileSync(join(home, 'gateway.yaml'), yaml, { mode: 0o600 });
  if (script !== undefined) {
    for (const name of ['claude', 'codex', 'opencode', 'gemini'])
      writeFileSync(join(home, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  if (claude !== undefined) {
    mkdirSync(join(home, '.claude'));
    writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(claude));
  }
  const child = startProgram(argv, home, { PATH: `${home}:${process.env.PATH}`, ...env });
  return Object.assign(child, { home });
}

const ask = (variables: string) =>
  `node -e 'fetch(${variables}).then(async (answer) => console.log(answer.status, await answer.text()))'`;

test('an agent gets a private gateway, which nothing else finds and which ends with it', async () => {
  const script = `${ask('process.env.ANTHROPIC_BASE_URL + "/v1/models", { headers: { authorization: `Bearer ${process.env.ANTHROPIC_AUTH_TOKEN}` } }')}
echo "$ANTHROPIC_BASE_URL"`;
  const agent = start({ script, argv: ['run', 'claude'] });

  const { exit, stdout, stderr } = await agent.ended;

  expect([exit, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^200 .*sandbox-mini/);
  const url = stdout.trim().split('\n').at(-1) ?? '';
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  expect(readdirSync(join(agent.home, '.local/state/gateway')).sort()).toEqual([
    'local-key.json',
    'records.jsonl',
    'run.log',
  ]);
});

test("everything after the agent's name is the agent's", async () => {
  const own = ['-p', 'a  b', '--help', '-o', 'json', '-c', 'x', '--', '--version', 'help', ''];
  const agent = start({ script: 'printf "[%s]" "$@"', argv: ['run', '-q', 'claude', ...own] });

  const { exit, stdout } = await agent.ended;

  expect([exit, stdout]).toEqual([0, own.map((word) => `[${word}]`).join('')]);
});

test("-- behind the agent's name is not one of its arguments", async () => {
  const agent = start({ script: 'printf "[%s]" "$@"', argv: ['run', '-q', 'claude', '--', '-p', '--', 'a'] });

  expect((await agent.ended).stdout).toBe('[-p][--][a]');
});

test.each([
  ['exit 3', 3],
  ['kill -TERM $$', 143],
])('"%s" ends the command with %i', async (script, code) => {
  expect((await start({ script, argv: ['run', 'codex'] }).ended).exit).toBe(code);
});

test.each(['SIGINT', 'SIGHUP'] as const)('%s is for the agent to decide', async (signal) => {
  const name = signal.slice(3);
  const script = `trap 'echo got ${name}; exit 7' ${name}; echo ready; while :; do sleep 0.05; done`;
  const agent = start({ script, argv: ['run', 'opencode'] });
  await agent.wrote('ready');

  agent.process.kill(signal);

  expect(await agent.ended).toMatchObject({ exit: 7, stdout: `ready\ngot ${name}\n` });
});

test("standard input is the agent's, down to the last byte", async () => {
  const agent = start({ script: 'wc -c', argv: ['run', 'claude'] });

  agent.process.stdin?.end('x'.repeat(300_000));

  expect((await agent.ended).stdout.trim()).toBe('300000');
});

test('what is not installed is 127, and how to get it', async () => {
  const { exit, stdout, stderr } = await start({ argv: ['run', 'claude'], env: { PATH: '/nowhere' } }).ended;

  expect([exit, stdout]).toEqual([127, '']);
  expect(stderr).toBe(
    'gateway: claude is not installed, or not on PATH; to get it: npm install -g @anthropic-ai/claude-code\n',
  );
});

test('what would lead the agent elsewhere is left out, the rest of the environment stays', async () => {
  const script = 'echo "${ANTHROPIC_API_KEY-unset} $OTHER $ANTHROPIC_MODEL"';
  const env = { ANTHROPIC_API_KEY: 'sk-ant-1', OTHER: 'kept', GATEWAY_MODEL: 'claude-9' };

  expect((await start({ script, argv: ['run', 'claude'], env }).ended).stdout).toBe('unset kept claude-9\n');
});

test('Claude Code gets nothing that would have it use another cloud', async () => {
  const names = ['BEDROCK', 'VERTEX', 'FOUNDRY', 'MANTLE', 'ANTHROPIC_AWS'].map(
    (cloud) => `CLAUDE_CODE_USE_${cloud}`,
  );
  const env = Object.fromEntries(names.map((name) => [name, '1']));

  const agent = start({ script: 'env | grep -c CLAUDE_CODE_USE', argv: ['run', 'claude'], env });

  expect((await agent.ended).stdout).toBe('0\n');
});

test('Claude Code is not started if its own settings lead past the gateway', async () => {
  const past = { env: { ANTHROPIC_BASE_URL: 'https://api.example.com' } };
  const agent = start({ claude: past, script: 'echo started', argv: ['run', 'claude'] });

  const { exit, stdout, stderr } = await agent.ended;

  expect([exit, stdout]).toEqual([126, '']);
  expect(stderr).toContain(
    `claude would not use the gateway: ${agent.home}/.claude/settings.json sets ANTHROPIC_BASE_URL`,
  );
});

test('other agents are, and so is Claude Code with settings of another kind', async () => {
  const past = { env: { ANTHROPIC_BASE_URL: 'https://api.example.com' } };
  const codex = start({ claude: past, script: 'echo started', argv: ['run', 'codex'] });
  const claude = start({ claude: { model: 'opus' }, script: 'echo started', argv: ['run', 'claude'] });

  expect((await codex.ended).stdout).toBe('started\n');
  expect((await claude.ended).stdout).toBe('started\n');
});

test("the agent's calls of the gateway don't go to the proxy of the environment", async () => {
  const proxy = await startHost((response) => response.writeHead(502).end());
  const env = { http_proxy: proxy.url, HTTP_PROXY: proxy.url, NO_PROXY: 'intranet' };
  const script = 'curl -s -o /dev/null -w "%{http_code} $NO_PROXY" "$ANTHROPIC_BASE_URL/healthz"';

  const { stdout } = await start({ script, argv: ['run', 'claude'], env }).ended;

  expect(stdout).toBe('200 intranet,127.0.0.1,localhost,::1');
  expect(proxy.requests).toEqual([]);
});

test('GATEWAY_URL is used as it is, and nothing is started', async () => {
  const gateway = await startGateway('plants: { store: { enabled: false } }');
  const env = { GATEWAY_URL: `${gateway.url}/`, GATEWAY_KEY: gateway.key };
  const agent = start({
    script: 'echo "$ANTHROPIC_BASE_URL $ANTHROPIC_AUTH_TOKEN"',
    argv: ['run', 'claude'],
    env,
  });

  expect((await agent.ended).stdout).toBe(`${gateway.url} ${gateway.key}\n`);
  expect(existsSync(join(agent.home, '.local'))).toBe(false);
});

describe("a model's limits", () => {
  const yaml = `
models:
  - { match: tiny, provider: sandbox, model: sandbox-mini, context_window: 32768, max_output_tokens: 2048 }
  - { match: plain, provider: sandbox, model: sandbox-mini }
plants: { store: { enabled: false } }
`;
  const variables = 'echo "$CLAUDE_CODE_MAX_CONTEXT_TOKENS $CLAUDE_CODE_MAX_OUTPUT_TOKENS"';
  const run = async (argv: readonly string[], script: string, env: Readonly<Record<string, string>> = {}) =>
    (await start({ script, argv, env, yaml }).ended).stdout.trim();

  test('are told to Claude Code, unless the user has set others', async () => {
    const argv = ['run', '-m', 'tiny', 'claude'];

    expect(await run(argv, variables)).toBe('32768 2048');
    expect(await run(argv, variables, { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '9' })).toBe('32768 9');
  });

  test('are told to Codex and opencode', async () => {
    expect(await run(['run', '-m', 'tiny', 'codex'], 'echo "$@"')).toContain('model_context_window=32768');
    const config = await run(['run', '-m', 'tiny', 'opencode'], 'echo "$OPENCODE_CONFIG_CONTENT"');
    expect(JSON.parse(config)).toMatchObject({
      provider: { gateway: { models: { tiny: { limit: { context: 32_768, output: 2_048 } } } } },
    });
  });

  test('are left to the agent where the configuration has none, or no model is named', async () => {
    expect(await run(['run', '-m', 'plain', 'claude'], variables)).toBe('');
    expect(await run(['run', 'claude'], variables)).toBe('');
  });
});

const run = (argv: readonly string[], script: string, yaml: string, env = {}) =>
  start({ script, argv, yaml: `${yaml}plants: { store: { enabled: false } }\n`, env }).ended;

describe('a model that nothing serves', () => {
  const local = 'models: [{ match: tiny, provider: sandbox, model: sandbox-mini }]\n';

  test.each([
    ['claude', 'echo "$ANTHROPIC_MODEL"', 'claude-sonnet-4-5'],
    ['codex', 'echo "$@"', 'gpt-5'],
    ['opencode', 'echo "$OPENCODE_CONFIG_CONTENT"', 'claude-sonnet-4-5'],
  ])('%s uses default_model, and says so', async (name, script, own) => {
    const { stdout, stderr } = await run(['run', name], script, `${local}default_model: tiny\n`);

    expect(stdout).toContain('tiny');
    expect(stderr).toBe(`gateway: nothing serves ${own}, so ${name} is to use default_model: tiny\n`);
  });

  test.each([
    [
      ['run', 'claude'],
      'nothing serves claude-sonnet-4-5, which claude asks for: gateway run -m MODEL claude, or',
    ],
    [['run', '-m', 'big', 'claude'], 'nothing serves big;'],
    [['run', '-m', 'tiny', '--model-small', 'big', 'claude'], 'nothing serves big;'],
  ])('%j: one line before it starts', async (argv, line) => {
    const { stdout, stderr } = await run(argv, 'echo started', local);

    expect([stdout, stderr]).toEqual([
      'started\n',
      `gateway: ${line} "gateway models" lists what is served\n`,
    ]);
  });

  test('a provider without a key is named', async () => {
    const yaml = `providers: { anthropic: { dialect: anthropic, api_key: "\${ANTHROPIC_API_KEY}" } }
models: [{ match: "claude-*", provider: anthropic }]
`;

    expect((await run(['run', 'claude'], 'true', yaml)).stderr).toContain(
      'provider anthropic, which serves claude-sonnet-4-5, lacks its key ("gateway doctor")',
    );
  });

  test('the model that Codex is set to counts', async () => {
    const codex = emptyDirectory();
    writeFileSync(join(codex, 'config.toml'), 'model = "tiny"\n');

    const ended = await run(['run', 'codex'], 'echo "$@"', `${local}default_model: tiny\n`, {
      CODEX_HOME: codex,
    });

    expect(ended.stderr).toBe('');
    expect(ended.stdout).not.toContain('model="tiny"');
  });
});

describe('--model-small', () => {
  test('is for small tasks of Claude Code and opencode', async () => {
    const argv = ['run', '-m', 'big', '--model-small', 'tiny'];
    const script = 'echo "$ANTHROPIC_MODEL $ANTHROPIC_DEFAULT_HAIKU_MODEL$OPENCODE_CONFIG_CONTENT"';

    expect((await start({ script, argv: [...argv, 'claude'] }).ended).stdout).toBe('big tiny\n');
    const config = (await start({ script, argv: [...argv, 'opencode'] }).ended).stdout.trim();
    expect(JSON.parse(config)).toMatchObject({
      enabled_providers: ['gateway'],
      provider: { gateway: { models: { big: {}, tiny: {} } } },
      model: 'gateway/big',
      small_model: 'gateway/tiny',
    });
  });

  test('and --model-thinking for planning', async () => {
    const argv = ['run', '-m', 'big', '--model-thinking', 'deep'];
    const script =
      'echo "$ANTHROPIC_MODEL $ANTHROPIC_DEFAULT_OPUS_MODEL $ANTHROPIC_DEFAULT_SONNET_MODEL$OPENCODE_CONFIG_CONTENT"';

    expect((await start({ script, argv: [...argv, 'claude'] }).ended).stdout).toBe('opusplan deep big\n');
    const config = (await start({ script, argv: [...argv, 'opencode'] }).ended).stdout.trim();
    expect(JSON.parse(config)).toMatchObject({
      provider: { gateway: { models: { big: {}, deep: {} } } },
      agent: { plan: { model: 'gateway/deep' } },
    });
  });

  test('the configuration names them too; what is asked for comes first', async () => {
    const yaml = `providers: { sandbox: { dialect: sandbox } }
models: [{ match: "*", provider: sandbox }]
agent_models: { main: big, small: tiny, thinking: deep }
`;
    const script =
      'echo "$ANTHROPIC_MODEL $ANTHROPIC_DEFAULT_HAIKU_MODEL $ANTHROPIC_DEFAULT_OPUS_MODEL $ANTHROPIC_DEFAULT_SONNET_MODEL"';

    expect((await run(['run', 'claude'], script, yaml)).stdout).toBe('opusplan tiny deep big\n');
    expect((await run(['run', '-m', 'other', 'claude'], script, yaml)).stdout).toBe(
      'opusplan tiny deep other\n',
    );
    expect((await run(['run', 'codex'], 'echo "$@"', yaml)).stdout).toContain('model="big"');
  });

  test('a model of the configuration that nothing serves is an error of it', async () => {
    const yaml = 'providers: { sandbox: { dialect: sandbox } }\nagent_models: { small: tiny }\n';

    expect((await run(['run', 'claude'], 'true', yaml)).stderr).toContain(
      'agent_models.small: no entry of models serves "tiny"',
    );
  });

  test('is refused for Codex, which has none', async () => {
    const { exit, stderr } = await start({ script: '', argv: ['run', '--model-small', 'x', 'codex'] }).ended;

    expect([exit, stderr]).toEqual([2, 'gateway: --model-small: codex has no other model for small tasks\n']);
    const planning = start({ script: '', argv: ['run', '--model-thinking', 'x', 'codex'] });
    expect((await planning.ended).stderr).toBe(
      'gateway: --model-thinking: codex has no other model for planning\n',
    );
  });
});

test('another cloud that is switched off is named', async () => {
  const env = { CLAUDE_CODE_USE_BEDROCK: '1', CLAUDE_CODE_USE_VERTEX: '0' };

  expect((await start({ script: 'true', argv: ['run', 'claude'], env }).ended).stderr).toBe(
    'gateway: CLAUDE_CODE_USE_BEDROCK is off for claude, whose requests go through the gateway\n',
  );
});

test('GATEWAY_URL may have a path', async () => {
  const gateway = await startGateway('plants: { store: { enabled: false } }');
  const proxy = await startHost(async (response, { target }) => {
    const headers = { authorization: `Bearer ${gateway.key}` };
    const answer = await fetch(gateway.url + target.replace(/^\/llm\//, '/'), { headers });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  const env = { GATEWAY_URL: `${proxy.url}/llm/`, GATEWAY_KEY: gateway.key };

  const agent = await start({ script: 'echo "$ANTHROPIC_BASE_URL"', argv: ['run', 'claude'], env }).ended;

  expect([agent.stderr, agent.stdout]).toEqual(['', `${proxy.url}/llm\n`]);
  expect(proxy.requests.map(({ target }) => target)).toEqual([
    '/llm/v1/models/claude-sonnet-4-5',
    '/llm/v1/models/claude-sonnet-4-5',
    '/llm/v1/gateway/models',
  ]);
});

test('an agent is not started for a gateway that is not there, or that does not take the key', async () => {
  const gateway = await startGateway('plants: { store: { enabled: false } }');
  const host = await startHost((response) => response.writeHead(404).end('not found'));
  const runWith = async (url: string) => {
    const env = { GATEWAY_URL: url, GATEWAY_KEY: 'gw_other' };
    const { exit, stdout, stderr } = await start({ script: 'echo started', argv: ['run', 'claude'], env })
      .ended;
    return [exit, stdout, stderr.split('\n')[0]];
  };

  expect(await runWith('http://127.0.0.1:1')).toEqual([8, '', expect.stringContaining('127.0.0.1:1')]);
  expect(await runWith(host.url)).toEqual([8, '', expect.stringContaining('is not a gateway')]);
  expect(await runWith(gateway.url)).toEqual([4, '', expect.stringContaining('key')]);
});

test('a configuration with projects needs a key of one', async () => {
  const yaml = 'projects: { me: { keys: [{ id: me, value: "${ME}" }] } }\n';
  const ME = 'gw_0123456789abcdef';
  const without = await start({ script: 'echo no', argv: ['run', 'claude'], yaml, env: { ME } }).ended;
  const script = 'echo "$ANTHROPIC_AUTH_TOKEN"';
  const withKey = await start({ script, argv: ['run', 'claude'], yaml, env: { ME, GATEWAY_KEY: ME } }).ended;

  expect([without.exit, without.stdout]).toEqual([4, '']);
  expect(without.stderr).toContain('set GATEWAY_KEY to the key of one');
  expect([withKey.exit, withKey.stdout]).toEqual([0, `${ME}\n`]);
});

test('the running gateway is used, and keeps running', async () => {
  const served = start({ argv: ['serve', '-p', '0'], yaml: 'plants: { store: { enabled: false } }\n' });
  await served.wrote('"listening"');
  const { url } = /"url":"(?<url>[^"]+)"/.exec(served.text('stderr'))?.groups ?? {};

  const env = { HOME: served.home };
  const agent = start({ script: 'echo "$ANTHROPIC_BASE_URL"', argv: ['run', 'claude'], env });
  const { exit, stdout } = await agent.ended;
  const alive = await fetch(`${url}/healthz`);
  const other = { ...env, GATEWAY_URL: 'http://127.0.0.1:9' }; // not used
  const file = join(served.home, 'gateway.yaml');
  const named = start({
    script: 'echo "$ANTHROPIC_BASE_URL"',
    argv: ['-c', file, 'run', 'claude'],
    env: other,
  });
  expect((await named.ended).stdout).toBe(`${url}\n`);
  served.process.kill('SIGKILL');
  await served.ended;
  const later = await start({ script: 'echo "$ANTHROPIC_BASE_URL"', argv: ['run', 'claude'], env }).ended;

  expect([exit, stdout, alive.status]).toEqual([0, `${url}\n`, 200]);
  expect(later.exit).toBe(0);
  expect(later.stdout).not.toBe(stdout);
});

test('an agent it does not know is exit 2', async () => {
  const { exit, stderr } = await start({ argv: ['run', 'vim'] }).ended;

  expect(exit).toBe(2);
  expect(stderr).toContain('Allowed choices are claude, codex, opencode, gemini');
});

test('opencode is not started if its own file sets a model of another provider', async () => {
  const agent = startOpencode({ 'opencode.json': 'openrouter/x' }, []);

  const { exit, stdout, stderr } = await agent.ended;

  expect([exit, stdout]).toEqual([126, '']);
  expect(stderr).toContain(
    `opencode would not use the gateway: ${agent.home}/opencode.json sets model to openrouter/x`,
  );
});

test('Gemini CLI asks for the model at the gateway, with a key and no other login', async () => {
  const script =
    'echo "$GOOGLE_GEMINI_BASE_URL $GEMINI_API_KEY $GEMINI_MODEL"; cat "$GEMINI_CLI_SYSTEM_DEFAULTS_PATH"';

  const { exit, stdout } = await start({ script, argv: ['run', '-m', 'sandbox-mini', 'gemini'] }).ended;

  expect(exit).toBe(0);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+ \S+ sandbox-mini\n/);
  expect(stdout).toContain('{"security":{"auth":{"selectedType":"gemini-api-key"}}}');
});

const foreign = { 'opencode.json': 'openrouter/x' };

test.each([
  ['its own arguments name a model', foreign, ['opencode', 'run', '-m', 'openai/gpt-5', 'hello']],
  ['the command names a model', foreign, ['-m', 'sandbox-mini', 'opencode']],
])('it is if %s', async (_why, models, argv) => {
  expect(await startOpencode(models, argv).ended).toMatchObject({ exit: 0, stdout: 'started\n' });
});

test('codex is not started if a variable of its own has a proxy get the requests', async () => {
  const home = emptyDirectory();
  writeFileSync(join(home, 'codex'), '#!/bin/sh\necho started\n', { mode: 0o755 });
  mkdirSync(join(home, '.codex'));
  writeFileSync(join(home, '.codex/.env'), 'HTTP_PROXY=http://127.0.0.1:9\nNO_PROXY=intranet\n');

  const { exit, stdout, stderr } = await startProgram(['run', 'codex'], home, {
    PATH: `${home}:${process.env.PATH}`,
  }).ended;

  expect([exit, stdout]).toEqual([126, '']);
  expect(stderr).toContain(`codex would not use the gateway: ${home}/.codex/.env sets NO_PROXY`);
});

test("opencode is not started if the administrator's files set a model, even with -m", async () => {
  const managed = { model: 'openrouter/x' };
  const { exit, stdout, stderr } = await startOpencode({}, ['opencode', '-m', 'openai/gpt-5'], managed).ended;

  expect([exit, stdout]).toEqual([126, '']);
  expect(stderr).toContain('opencode.json sets model, and overrides what gateway run sets');
});

function startOpencode(
  models: Readonly<Record<string, string>>,
  argv: readonly string[],
  managed?: Readonly<Record<string, unknown>>,
) {
  const home = emptyDirectory();
  if (managed !== undefined) {
    mkdirSync(join(home, 'managed'));
    writeFileSync(join(home, 'managed/opencode.json'), JSON.stringify(managed));
  }
  writeFileSync(join(home, 'opencode'), '#!/bin/sh\necho started\n', { mode: 0o755 });
  for (const [file, model] of Object.entries(models)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), JSON.stringify({ model }));
  }
  const argument = argv.length === 0 ? ['opencode'] : argv;
  const child = startProgram(['run', ...argument], home, {
    PATH: `${home}:${process.env.PATH}`,
    OPENCODE_TEST_MANAGED_CONFIG_DIR: join(home, 'managed'),
  });
  return Object.assign(child, { home });
}

test('--mask keeps values from leaving, and the agent gets them back', async () => {
  const script = ask(
    'process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", headers: { authorization: `Bearer ${process.env.ANTHROPIC_AUTH_TOKEN}`, "content-type": "application/json" }, body: JSON.stringify({ model: "sandbox-mini", max_tokens: 64, messages: [{ role: "user", content: "ann@example.com" }] }) }',
  );
  const agent = start({ script, argv: ['run', 'claude', '--mask=secrets,email'] });

  const { exit, stdout, stderr } = await agent.ended;

  expect([exit, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^200 .*ann@example\.com/);
  const state = join(agent.home, '.local/state/gateway');
  expect(readFileSync(join(state, 'records.jsonl'), 'utf8')).toContain('"masked":{"EMAIL":1}');
  expect(statSync(join(state, 'mask-secret.json')).mode & 0o777).toBe(0o600);
});

test('--mask with what is no detector, or with a gateway that is elsewhere, says what to do', async () => {
  const unknown = start({ script: 'true', argv: ['run', '--mask', 'secret', 'claude'] });
  const elsewhere = start({
    script: 'true',
    argv: ['run', '--mask', 'email', 'claude'],
    env: { GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_KEY: 'k' },
  });

  expect((await unknown.ended).stderr).toContain('expected detectors such as secrets,email');
  expect((await elsewhere.ended).stderr).toContain('GATEWAY_URL names another one');
});
