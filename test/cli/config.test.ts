// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createWorkspace } from '../config/workspace.ts';
import { command, emptyDirectory, failure, printed } from '../kit/command.ts';

const good = `server: { port: "\${PORT}" }
providers:
  claude: { dialect: anthropic, api_key: "\${CLAUDE_KEY}" }
policies: { house: { apply: all, default: deny } }
projects: { shop: { keys: [{ id: web, value: "\${WEB_KEY}" }] } }
`;
const env = { PORT: '4999', CLAUDE_KEY: 'secret-of-the-provider', WEB_KEY: 'secret-of-the-project' };

/** `gateway config` where this is the configuration. */
const config = (line: string, yaml = good, more: Readonly<Record<string, string>> = env) =>
  command(`config ${line}`, { files: { 'gateway.yaml': yaml }, env: more });

test.each([
  ['set', { CLAUDE_KEY: 'secret-of-the-provider', WEB_KEY: 'secret-of-the-project' }],
  ['not set', {}],
])(
  'check: every kind of mistake in one go, though nobody has allowed the file, variables %s',
  async (_, variables) => {
    const yaml = `providers:
  claude: { dialect: anthropic, api_key: "\${CLAUDE_KEY}", bogus: 1, ca_file: none.pem }
policies:
  house:
    apply: all
    rules:
      - { id: a, action: block, when: { text: { regex: ["(unclosed"] } }, reason: content.x }
      - { id: a, action: block, when: { text: { phrases: [x] } }, reason: content.x }
projects: { shop: { keys: [{ id: web, value: "\${WEB_KEY}" }, { id: web, file: none.txt }] } }
`;
    const { json } = await command('config check -o json', {
      cwd: createWorkspace({ 'gateway.yaml': yaml }),
      env: { ...variables, XDG_CONFIG_HOME: '/nowhere' },
    });

    const problems: { severity: string; path: string }[] = json.problems;
    expect(problems.filter(({ severity }) => severity === 'error').map(({ path }) => path)).toEqual([
      'providers.claude.api_key',
      'providers.claude.bogus',
      'providers.claude.ca_file',
      'policies.house.rules[0].when.text.regex[0]',
      'policies.house.rules[1].id',
      'projects.shop.keys[0].value',
      'projects.shop.keys[1].id',
      'projects.shop.keys[1].file',
    ]);
  },
);

test.each([
  ['LiteLLM', 'model_list: [{ model_name: x }]\nlitellm_settings: { drop_params: true }\n'],
  [
    'claude-code-router',
    '{"Providers":[{"name":"a","api_key":"sk-x"}],"Router":{"default":"a,b"},"PORT":3456}',
  ],
])('check: a configuration of %s is named, once, with what to do', async (product, text) => {
  const { exit, stdout } = await config('check', text);

  expect(exit).toBe(2);
  expect(stdout.match(/^gateway\.yaml/gm)).toHaveLength(1);
  expect(stdout).toContain(`this is a configuration of ${product}`);
  expect(stdout).toContain('"gateway init" writes');
});

test('check: without a file it is sandbox mode', async () => {
  expect(await command('config check')).toEqual(printed('no gateway.yaml: sandbox mode\n'));
});

test('check: lists problems and exits 2', async () => {
  const files = { 'other.yaml': 'server:\n  prot: 1\n' };

  expect(await command('config check other.yaml', { files })).toEqual({
    exit: 2,
    stdout:
      'other.yaml:2:3  server.prot: unknown key\n   2 |   prot: 1\n     |   ^^^^  did you mean "port"?\n',
    stderr: 'gateway: a problem in other.yaml\n',
  });
});

test('check -o json: gives the list to programs, and the error as an object', async () => {
  const { exit, json, error, home } = await config(
    'check -o json',
    'server:\n  prot: 1\nprojects: { shop: {} }\n',
  );

  expect(exit).toBe(2);
  expect(json).toEqual({
    path: join(home, 'gateway.yaml'),
    valid: false,
    problems: [
      {
        severity: 'error',
        path: 'server.prot',
        message: 'unknown key',
        hint: 'did you mean "port"?',
        line: 2,
        column: 3,
      },
      {
        severity: 'warning',
        path: 'projects.shop',
        message: 'no policy applies: its keys may send anything',
        hint: null,
        line: 3,
        column: 13,
      },
    ],
  });
  expect(error.reason).toBe('config.invalid');
});

test('show: prints what holds, without secrets', async () => {
  const ended = await config('show');

  expect(ended).toEqual(printed(expect.not.stringContaining('secret-of')));
  expect(parse(ended.stdout)).toMatchObject({
    server: { port: 4999, limits: { head_timeout: '10s' } },
    providers: { claude: { base_url: 'https://api.anthropic.com', api_key: '***' } },
    projects: { shop: { keys: [{ id: 'web', value: '***' }] } },
  });
});

test('show --origin: says where each value comes from', async () => {
  const { stdout } = await config('show --origin', good, { ...env, PLANTS_URL: 'http://p/v3' });

  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining([
      '  host: 127.0.0.1 # default',
      '  port: 4999 # environment PORT (gateway.yaml:1)',
      '    dialect: anthropic # gateway.yaml:3',
      '      - id: web # gateway.yaml:5',
      '  base_url: http://p/v3 # environment PLANTS_URL',
    ]),
  );
  expect(parse(stdout)).toMatchObject({ server: { allowed_hosts: [] } });
});

test('show --origin -o json: gives origins by path', async () => {
  const { stdout, json } = await config('show --origin -o json');

  expect(stdout).not.toContain('secret-of');
  expect(json).toMatchObject({
    settings: { server: { port: 4999 } },
    origins: {
      'server.host': 'default',
      'projects.shop.keys[0].value': 'environment WEB_KEY (gateway.yaml:5)',
    },
  });
});

test('show: refuses an invalid file with all its problems', async () => {
  expect(await config('show', 'server: { prot: 1, port: nine }\n')).toEqual(
    failure(2, /yaml:1:11 {2}server\.prot: unknown key[\s\S]*yaml:1:26 {2}server\.port: expected a number/),
  );
});

test('path: names the file, or nothing', async () => {
  const files = { 'gateway.yaml': '', 'other.yaml': '' };

  const found = await command('config path', { files });
  const named = await command('config path -o json', { files, env: { GATEWAY_CONFIG: 'other.yaml' } });

  expect(found).toEqual(printed(`${join(found.home, 'gateway.yaml')}\n`));
  expect(named.json).toEqual({ path: join(named.home, 'other.yaml'), from: 'environment' });
  expect(await command('config path -q')).toEqual(printed());
});

test('path: without a file says where it looked', async () => {
  const ended = await command('config path');

  expect(ended).toEqual(failure(0, 'looked for gateway.yaml, gateway.yml, .gateway.yaml'));
  expect(ended.stderr).toContain(ended.home);
});

test('schema: accepts and rejects the same files as check', async () => {
  const { stdout } = await command('config schema');
  const validate = new Ajv2020.default({ strict: false }).compile(JSON.parse(stdout));

  expect(validate(parse(good))).toBe(true);
  expect(validate({})).toBe(true);
  expect(validate({ server: { port: '4999' } })).toBe(false);
  expect(validate({ server: { limits: { drain: '5x' } } })).toBe(false);
});

test.each(['config check', 'serve --dry-run'])(
  '%s: a named file that is missing is an error, never sandbox mode, by option and by variable',
  async (line) => {
    const cwd = emptyDirectory();
    const byOption = await command(`${line} -c nope.yaml`, { cwd });

    expect(await command(line, { cwd, env: { GATEWAY_CONFIG: 'nope.yaml' } })).toEqual(byOption);
    expect(byOption).toMatchObject({ exit: 2, stderr: expect.stringContaining('there is no such file') });
  },
);
