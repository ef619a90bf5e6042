import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startServing, withoutStore } from '../kit/command.ts';
import { startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';
import { scale } from '../kit/scale.ts';
import { run, startRun } from './run-agent.ts';

test('an agent gets a private gateway, which nothing else finds and which ends with it', async () => {
  const script = `curl -s "$ANTHROPIC_BASE_URL/v1/models" -H "authorization: Bearer $ANTHROPIC_AUTH_TOKEN"
echo; echo "$ANTHROPIC_BASE_URL"`;
  const agent = startRun({ script });

  const { exit, stdout, stderr } = await agent.ended;

  expect([exit, stderr]).toEqual([0, expect.stringMatching(/^gateway: no request of this run[^\n]*\n$/)]);
  expect(stdout).toContain('sandbox-mini');
  const url = stdout.trim().split('\n').at(-1) ?? '';
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  expect(readdirSync(join(agent.home, '.local/state/gateway')).sort()).toEqual([
    'local-key.json',
    'records.jsonl',
    'run.log',
  ]);
  // The agent's own request, and none of the command's look-ups.
  const records = readFileSync(join(agent.home, '.local/state/gateway/records.jsonl'), 'utf8');
  expect(records.trimEnd().split('\n')).toEqual([expect.stringContaining('"path":"/v1/models"')]);
});

test('an agent with its own model starts without a word from any host', async () => {
  const host = await startHost((response) => response.end('{"data":[]}'));
  const yaml = `providers: { o: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${K}" } }
models: [{ match: "*", provider: o }]`;

  expect(await run({ yaml, env: { K: 'sk-0123456789abcdef' } })).toMatchObject({
    exit: 0,
    stdout: 'started\n',
  });
  expect(host.requests).toEqual([]);
});

const own = ['-p', 'a  b', '--help', '-o', 'json', '-c', 'x', '--', '--version', 'help', ''];
test.each([
  ["everything after the agent's name is the agent's", own, own],
  ["-- behind the agent's name is not one of its arguments", ['--', '-p', '--', 'a'], ['-p', '--', 'a']],
])('%s', async (_what, given, passed) => {
  const argv = ['run', '-q', 'claude', ...given];

  expect(await run({ script: 'printf "[%s]" "$@"', argv })).toMatchObject({
    exit: 0,
    stdout: passed.map((word) => `[${word}]`).join(''),
  });
});

test.each([
  ['exit 3', 3],
  ['kill -TERM $$', 143],
])('"%s" ends the command with %i', async (script, code) => {
  expect((await run({ script, argv: ['run', 'codex'] })).exit).toBe(code);
});

test.each(scale<readonly NodeJS.Signals[]>(['SIGINT'], ['SIGINT', 'SIGHUP']))(
  '%s is for the agent to decide',
  async (signal) => {
    const name = signal.slice(3);
    const script = `trap 'echo got ${name}; exit 7' ${name}; echo ready; while :; do sleep 0.05; done`;
    const agent = startRun({ script, argv: ['run', 'opencode'] });
    await agent.wrote('ready');

    agent.process.kill(signal);

    expect(await agent.ended).toMatchObject({ exit: 7, stdout: `ready\ngot ${name}\n` });
  },
);

test('what is not installed is 127, and how to get it', async () => {
  expect(await run({ env: { PATH: '/nowhere' } })).toMatchObject({
    exit: 127,
    stdout: '',
    stderr:
      'gateway: claude is not installed, or not on PATH; to get it: npm install -g @anthropic-ai/claude-code\n',
  });
});

describe('the environment', () => {
  test('is left without what would lead the agent elsewhere, the rest stays', async () => {
    const script = 'echo "${ANTHROPIC_API_KEY-unset} $OTHER $ANTHROPIC_MODEL"; env | grep -c CLAUDE_CODE_USE';
    const clouds = [
      'BEDROCK',
      'VERTEX',
      'FOUNDRY',
      'MANTLE',
      'ANTHROPIC_AWS',
      'ANTHROPIC_GOOGLE_CLOUD',
      'NEW',
    ];
    const env = {
      ANTHROPIC_API_KEY: 'sk-ant-1',
      OTHER: 'kept',
      GATEWAY_MODEL: 'claude-9',
      ...Object.fromEntries(clouds.map((cloud) => [`CLAUDE_CODE_USE_${cloud}`, '1'])),
    };

    expect((await run({ script, env })).stdout).toBe('unset kept claude-9\n0\n');
  });

  test('another cloud that is switched off is named', async () => {
    const env = { CLAUDE_CODE_USE_BEDROCK: '1', CLAUDE_CODE_USE_VERTEX: '0' };

    expect((await run({ env })).stderr).toBe(
      'gateway: CLAUDE_CODE_USE_BEDROCK is off for claude, whose requests go through the gateway\n',
    );
  });

  test("the agent's calls of the gateway don't go to its proxy", async () => {
    const proxy = await startHost((response) => response.writeHead(502).end());
    const env = { http_proxy: proxy.url, HTTP_PROXY: proxy.url, NO_PROXY: 'intranet' };
    const script = 'curl -s -o /dev/null -w "%{http_code} $NO_PROXY" "$ANTHROPIC_BASE_URL/healthz"';

    expect((await run({ script, env })).stdout).toBe('200 intranet,127.0.0.1,localhost,::1');
    expect(proxy.requests).toEqual([]);
  });
});

describe("an agent's own files", () => {
  const elsewhere = { '.claude/settings.json': { env: { ANTHROPIC_BASE_URL: 'https://api.example.com' } } };
  const codex = { '.codex/.env': 'HTTP_PROXY=http://127.0.0.1:9\nNO_PROXY=intranet\n' };
  const opencode = { 'opencode.json': { model: 'openrouter/x' } };
  const managed = { 'managed/opencode.json': { model: 'openrouter/x' } };
  const overrides = 'opencode.json sets model, and overrides what gateway run sets';

  test.each<[string, Record<string, object | string>, string[], string]>([
    ['an address', elsewhere, ['claude'], '/.claude/settings.json sets ANTHROPIC_BASE_URL'],
    ['a proxy', codex, ['codex'], '/.codex/.env sets NO_PROXY'],
    ['what -m cannot override', managed, ['opencode', '-m', 'openai/gpt-5'], overrides],
  ])('with %s: %j is not started', async (_what, files, argv, problem) => {
    const OPENCODE_TEST_MANAGED_CONFIG_DIR = 'managed';

    const ended = await run({ files, argv: ['run', ...argv], env: { OPENCODE_TEST_MANAGED_CONFIG_DIR } });

    expect([ended.exit, ended.stdout]).toEqual([126, '']);
    expect(ended.stderr).toContain(`${argv[0]} would not use the gateway: `);
    expect(ended.stderr).toContain(problem);
  });

  test('another key, which would take the limits of the run off: codex is not started', async () => {
    const files = { '.codex/.env': 'GATEWAY_KEY=gw_own\n' };
    const limited = await run({ files, argv: ['run', '--budget', '1', 'codex'] });

    expect([limited.exit, limited.stdout]).toEqual([126, '']);
    expect(limited.stderr).toContain('/.codex/.env sets GATEWAY_KEY, without the limits of this run');
    expect(await run({ files, argv: ['run', 'codex'] })).toMatchObject({ exit: 0, stdout: 'started\n' });
  });

  test('another key for the same gateway: claude is not started with limits', async () => {
    const gateway = await startGateway(withoutStore);
    const own = { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: gateway.key };
    const files = { '.claude/settings.json': { env: own } };
    const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key };
    const limited = await run({ files, env, argv: ['run', '--requests', '1', 'claude'] });

    expect([limited.exit, limited.stdout]).toEqual([126, '']);
    expect(limited.stderr).toContain('sets ANTHROPIC_AUTH_TOKEN, without the limits of this run');
    expect(await run({ files, env })).toMatchObject({ exit: 0, stdout: 'started\n' });
  });

  test.each([
    ['of another kind', { '.claude/settings.json': { model: 'opus' } }, ['claude']],
    ['and arguments that name a model', opencode, ['opencode', 'run', '-m', 'openai/gpt-5', 'hello']],
    ['and a command that names a model', opencode, ['-m', 'sandbox-mini', 'opencode']],
  ])('%s do not matter', async (_what, files, argv) => {
    expect(await run({ files, argv: ['run', ...argv] })).toMatchObject({ exit: 0, stdout: 'started\n' });
  });
});

describe('GATEWAY_URL', () => {
  test('is used as it is, also with a path, and nothing is started', async () => {
    const gateway = await startGateway(withoutStore);
    const proxy = await startHost(async (response, { target }) => {
      const headers = { authorization: `Bearer ${gateway.key}` };
      const answer = await fetch(gateway.url + target.replace(/^\/llm\//, '/'), { headers });
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    });
    const env = { GATEWAY_URL: `${proxy.url}/llm/`, GATEWAY_KEY: gateway.key };

    const script = 'echo "$ANTHROPIC_BASE_URL $ANTHROPIC_AUTH_TOKEN"';

    const agent = await run({ script, env });

    expect([agent.stderr, agent.stdout]).toEqual([
      '',
      expect.stringMatching(new RegExp(`^${proxy.url}/llm ${gateway.key}~run-\\w{12}\\n$`)),
    ]);
    expect(existsSync(join(agent.home, '.local'))).toBe(false);
    expect(proxy.requests.map(({ target }) => target)).toEqual([
      '/llm/v1/models/claude-sonnet-4-5',
      '/llm/v1/models/claude-sonnet-4-5',
    ]);
  });

  test('that leads to no gateway, or to one that does not take the key: no agent is started', async () => {
    const gateway = await startGateway(withoutStore);
    const host = await startHost((response) => response.writeHead(404).end('not found'));
    const runWith = async (url: string) => {
      const env = { GATEWAY_URL: url, GATEWAY_KEY: 'gw_other' };
      const { exit, stdout, stderr } = await run({ env });
      return [exit, stdout, stderr.split('\n')[0]];
    };

    expect(await runWith('http://127.0.0.1:1')).toEqual([8, '', expect.stringContaining('127.0.0.1:1')]);
    expect(await runWith(host.url)).toEqual([8, '', expect.stringContaining('is not a gateway')]);
    expect(await runWith(gateway.url)).toEqual([4, '', expect.stringContaining('key')]);
  });
});

test('a configuration with projects needs a key of one', async () => {
  const yaml = 'projects: { me: { keys: [{ id: me, value: "${ME}" }] } }\n';
  const ME = 'gw_0123456789abcdef';
  const script = 'echo "$ANTHROPIC_AUTH_TOKEN"';
  const without = await run({ script, yaml, env: { ME } });
  const withKey = await run({ script, yaml, env: { ME, GATEWAY_KEY: ME } });

  expect([without.exit, without.stdout]).toEqual([4, '']);
  expect(without.stderr).toContain('set GATEWAY_KEY to the key of one');
  expect([withKey.exit, withKey.stdout]).toEqual([0, expect.stringMatching(`^${ME}~run-\\w{12}\\n$`)]);
});

test('the running gateway is used, and keeps running; one that left only its state is not', async () => {
  const { home: HOME, url, stop } = await startServing();
  const script = 'echo "$ANTHROPIC_BASE_URL"';
  const state = join(HOME, '.local/state/gateway/running.json');
  const left = readFileSync(state, 'utf8');

  expect(await run({ script, env: { HOME } })).toMatchObject({
    exit: 0,
    stdout: `${url}\n`,
  });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);

  await stop();
  writeFileSync(state, left);
  const later = await run({ script, env: { HOME } });
  expect([later.exit, later.stdout]).toEqual([0, expect.not.stringContaining(url)]);
});

test('Claude Code is told to say what each request is for, unless the user has set otherwise', async () => {
  const script = 'echo "$CLAUDE_CODE_GATEWAY_HINT_HEADERS"';

  expect((await run({ script })).stdout).toBe('1\n');
  expect((await run({ script, env: { CLAUDE_CODE_GATEWAY_HINT_HEADERS: '0' } })).stdout).toBe('0\n');
});

describe("a model's limits", () => {
  const yaml = `
models:
  - { match: tiny, provider: sandbox, model: sandbox-mini, context_window: 32768, max_output_tokens: 2048 }`;
  const variables = 'echo "$CLAUDE_CODE_MAX_CONTEXT_TOKENS $CLAUDE_CODE_MAX_OUTPUT_TOKENS"';

  test.each<[string, string[], Record<string, string>, string]>([
    ['are told to Claude Code', ['-m', 'tiny'], {}, '32768 2048'],
    ['unless the user has set others', ['-m', 'tiny'], { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '9' }, '32768 9'],
    ['are left to it where no model is named', [], {}, ' '],
  ])('%s', async (_what, options, env, written) => {
    expect(await run({ script: variables, argv: ['run', ...options, 'claude'], env, yaml })).toMatchObject({
      stdout: `${written}\n`,
    });
  });

  test('are told to Codex and opencode', async () => {
    const script = 'echo "$@$OPENCODE_CONFIG_CONTENT"';
    const codex = await run({ script, argv: ['run', '-m', 'tiny', 'codex'], yaml });
    const opencode = await run({ script, argv: ['run', '-m', 'tiny', 'opencode'], yaml });

    expect(codex.stdout).toContain('model_context_window=32768');
    expect(JSON.parse(opencode.stdout)).toMatchObject({
      provider: { gateway: { models: { tiny: { limit: { context: 32_768, output: 2_048 } } } } },
    });
  });
});

describe("Codex's catalogue of models", () => {
  const yaml =
    'models: [{ match: "plain", provider: sandbox }, { match: tiny, provider: sandbox, model: sandbox-mini, context_window: 32768 }]\n';
  const plain = {
    slug: 'plain',
    tool_mode: null,
    base_instructions: 'You are an agent based on GPT-5. Work.',
    upgrade: {},
  };
  const models = [{ slug: 'newest', tool_mode: 'code_mode_only', use_responses_lite: true }, plain];
  const started = async (model: string, printed: string) => {
    const codex =
      '#!/bin/sh\n[ "$1" = debug ] && exec cat "$(dirname "$0")/models.json"\nexec >"$(dirname "$0")/written"\necho "$@"\n';
    const files = { codex, 'models.json': printed };
    const { stdout } = await run({ argv: ['run', '-m', model, 'codex'], files, yaml });
    return /model_catalog_json="([^"]+)"/.exec(stdout)?.[1];
  };

  test('has a model that it does not know, made of its plainest, besides its own', async () => {
    const path = await started('tiny', JSON.stringify({ models }));

    const catalogue = JSON.parse(readFileSync(path ?? '', 'utf8')) as { models: object[] };
    expect(catalogue.models.slice(0, 2)).toEqual(models);
    expect(catalogue.models[2]).toMatchObject({
      slug: 'tiny',
      display_name: 'tiny',
      base_instructions: 'You are an agent. Work.',
      context_window: 32_768,
      upgrade: null,
    });
  });

  test.each([
    ['of a model that it knows', 'plain', JSON.stringify({ models })],
    ['that it does not print', 'tiny', 'error: unrecognized subcommand'],
    [
      'in which every model needs more than others take',
      'tiny',
      JSON.stringify({ models: models.slice(0, 1) }),
    ],
  ])('%s is left alone', async (_what, model, printed) => {
    expect(await started(model, printed)).toBe(undefined);
  });
});

describe('a model that nothing serves', () => {
  const local = 'models: [{ match: tiny, provider: sandbox, model: sandbox-mini }]\n';

  test.each([
    ['claude', 'echo "$ANTHROPIC_MODEL"', 'claude-sonnet-4-5'],
    ['codex', 'echo "$@"', 'gpt-5'],
    ['opencode', 'echo "$OPENCODE_CONFIG_CONTENT"', 'claude-sonnet-4-5'],
  ])('%s uses default_model, and says so', async (name, script, asked) => {
    const yaml = `${local}default_model: tiny\n`;

    expect(await run({ script, argv: ['run', name], yaml })).toMatchObject({
      stdout: expect.stringContaining('tiny'),
      stderr: `gateway: nothing serves ${asked}, so ${name} is to use default_model: tiny\n`,
    });
  });

  const own = 'nothing serves claude-sonnet-4-5, which claude asks for: gateway run -m MODEL claude, or';
  test.each([
    ['run claude', own],
    ['run -m big claude', 'nothing serves big;'],
  ])('%s: one line before it starts', async (line, words) => {
    expect(await run({ argv: line.split(' '), yaml: local })).toMatchObject({
      stdout: 'started\n',
      stderr: `gateway: ${words} "gateway models" lists what is served\n`,
    });
  });

  test('a provider without a key is named', async () => {
    const yaml = `providers: { anthropic: { dialect: anthropic, api_key: "\${ANTHROPIC_API_KEY}" } }
models: [{ match: "claude-*", provider: anthropic }]
`;

    expect((await run({ yaml })).stderr).toContain(
      'provider anthropic, which serves claude-sonnet-4-5, lacks its key ("gateway doctor")',
    );
  });

  test('the model that Codex is set to counts', async () => {
    const files = { '.codex/config.toml': 'model = "tiny"\n' };
    const yaml = `${local}default_model: tiny\n`;

    const ended = await run({ script: 'echo "$@"', argv: ['run', 'codex'], files, yaml });

    expect(ended.stderr).toBe('');
    expect(ended.stdout).not.toContain('model="tiny"');
  });
});

describe('--model-small', () => {
  const all =
    'echo "$ANTHROPIC_MODEL $ANTHROPIC_DEFAULT_HAIKU_MODEL $ANTHROPIC_DEFAULT_OPUS_MODEL $ANTHROPIC_DEFAULT_SONNET_MODEL"';
  const opencode = async (...argv: string[]) => {
    const script = 'echo "$OPENCODE_CONFIG_CONTENT"';
    return JSON.parse((await run({ script, argv: ['run', '-m', 'big', ...argv, 'opencode'] })).stdout);
  };

  test('is for small tasks of opencode, and --model-thinking for planning', async () => {
    expect(await opencode('--model-small', 'tiny')).toMatchObject({
      enabled_providers: ['gateway'],
      provider: { gateway: { models: { big: {}, tiny: {} } } },
      model: 'gateway/big',
      small_model: 'gateway/tiny',
    });
    expect(await opencode('--model-thinking', 'deep')).toMatchObject({
      provider: { gateway: { models: { big: {}, deep: {} } } },
      agent: { plan: { model: 'gateway/deep' } },
    });
  });

  const yaml = `providers: { sandbox: { dialect: sandbox } }
models: [{ match: "*", provider: sandbox }]
agent_models: { main: big, small: tiny, thinking: deep }
`;
  test.each([
    ['claude', ['-m', 'big', '--model-small', 'tiny'], '', 'big tiny  \n'],
    ['claude', ['-m', 'big', '--model-thinking', 'deep'], '', 'opusplan big deep big\n'],
    ['claude', [], yaml, 'opusplan tiny deep big\n'],
    ['codex', [], yaml, 'model="big"'],
  ])('%s %j with the configuration %j: %j', async (name, options, text, models) => {
    const script = name === 'codex' ? 'echo "$@"' : all;
    expect((await run({ script, argv: ['run', ...options, name], yaml: text })).stdout).toContain(models);
  });

  test('a model of the configuration that nothing serves is an error of it', async () => {
    const unserved = 'providers: { sandbox: { dialect: sandbox } }\nagent_models: { small: tiny }\n';

    expect((await run({ yaml: unserved })).stderr).toContain(
      'agent_models.small: no entry of models serves "tiny"',
    );
  });

  test.each([
    ['--model-small', 'small tasks'],
    ['--model-thinking', 'planning'],
  ])('%s is refused for Codex, which has none', async (option, task) => {
    expect(await run({ argv: ['run', option, 'x', 'codex'] })).toMatchObject({
      exit: 2,
      stderr: `gateway: ${option}: codex has no other model for ${task}\n`,
    });
  });
});

test('Gemini CLI asks for the model at the gateway, with a key and no other login', async () => {
  const script =
    'echo "$GOOGLE_GEMINI_BASE_URL $GEMINI_API_KEY $GEMINI_MODEL"; cat "$GEMINI_CLI_SYSTEM_DEFAULTS_PATH"';

  const { exit, stdout } = await run({ script, argv: ['run', '-m', 'sandbox-mini', 'gemini'] });

  expect(exit).toBe(0);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+ \S+ sandbox-mini\n/);
  expect(stdout).toContain('{"security":{"auth":{"selectedType":"gemini-api-key"}}}');
});

describe('--mask', () => {
  test('keeps values from leaving, and the agent gets them back', async () => {
    const text = 'ann@example.com has API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs';
    const body = `{"model":"sandbox-mini","max_tokens":64,"messages":[{"role":"user","content":"${text}"}]}`;
    const script = `curl -s -w " %{http_code}" "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_AUTH_TOKEN" -H content-type:application/json -d '${body}'`;

    const ended = await run({ script, argv: ['run', 'claude', '--mask=secrets,email'] });

    expect([ended.exit, ended.stderr]).toEqual([0, '']);
    expect(ended.stdout).toContain(text);
    expect(ended.stdout).toMatch(/ 200$/);
    const state = join(ended.home, '.local/state/gateway');
    expect(readFileSync(join(state, 'records.jsonl'), 'utf8')).toContain('"masked":{"EMAIL":1,"HIDDEN":1}');
    expect(statSync(join(state, 'mask-secret.json')).mode & 0o777).toBe(0o600);
  });

  test("leaves the sandbox's own rule for secrets in force where secrets aren't masked", async () => {
    const body =
      '{"model":"sandbox-mini","max_tokens":64,"messages":[{"role":"user","content":"API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs"}]}';
    const script = `curl -s "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_AUTH_TOKEN" -H content-type:application/json -d '${body}'`;

    const { stdout } = await run({ script, argv: ['run', 'claude', '--mask=email'] });

    expect(stdout).toContain('API_KEY=[REDACTED:content.secret]');
  });

  const elsewhere = { GATEWAY_URL: 'http://127.0.0.1:9', GATEWAY_KEY: 'k' };
  test.each([
    ['secret', {}, 'expected detectors such as secrets,email'],
    ['email', elsewhere, 'GATEWAY_URL names another one'],
  ])('%s with %j says what to do', async (mask, env, problem) => {
    expect((await run({ argv: ['run', '--mask', mask, 'claude'], env })).stderr).toContain(problem);
  });
});
