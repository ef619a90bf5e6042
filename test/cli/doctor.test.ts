import { chmodSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Diagnosis } from '../../src/cli/doctor/finding.ts';
import { createWorkspace } from '../config/workspace.ts';
import { makeAuthority } from '../kit/certificate.ts';
import { presidio, startChecker } from '../kit/checker.ts';
import { command, homeWith, startServing, withoutStore } from '../kit/command.ts';
import { type Script, startHost } from '../kit/host.ts';
import { deadUrl, listening } from '../kit/listening.ts';
import type { Files } from '../kit/own-configuration.ts';

interface Machine {
  readonly yaml?: string;
  readonly files?: Files;
  readonly env?: Readonly<Record<string, string>>;
}

/** What the doctor says of a machine, and its exit code. */
async function examine({ yaml = ports, files = {}, env = {} }: Machine) {
  const cwd = createWorkspace({ 'gateway.yaml': yaml, ...files });
  const { exit, stdout, json } = await command('doctor -o json --timeout 3', { cwd, env });
  const { ok, findings } = json as { ok: boolean; findings: Diagnosis[] };
  // What it says of Node depends on the Node that runs the tests.
  const faults = findings.filter(({ status, subject }) => status !== 'ok' && subject !== 'node');
  for (const { remedy } of faults) expect(remedy).toMatch(/.{8}/);
  expect([ok, exit]).toEqual(findings.some(({ status }) => status === 'error') ? [false, 1] : [true, 0]);
  return { stdout, findings, faults: faults.map((one) => `${one.status} ${one.subject}: ${one.message}`) };
}

const ports = `server: { port: 0 }\n${withoutStore}`;

async function provider(script: Script, more = ''): Promise<string> {
  const host = await startHost(script);
  return `${ports}providers:\n  mine: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${MY_KEY}"${more} }\n`;
}

const lists: Script = (response) => response.end('{"object":"list","data":[]}');
const key = { MY_KEY: 'sk-mine-0123456789' };

test('on a machine where all is well: exit 0, nothing but ok', async () => {
  const { findings, faults } = await examine({ yaml: await provider(lists), env: key });

  expect(faults).toEqual([]);
  expect(findings.map(({ subject }) => subject)).toEqual([
    'configuration',
    'node',
    'state directory',
    'keys',
    'gateway',
    'provider mine',
    'prices',
    'ledger',
    'claude',
    'codex',
    'opencode',
  ]);
});

test('asks the provider with its key, and once', async () => {
  const host = await startHost(lists);
  const yaml = `${ports}providers: { mine: { dialect: anthropic, base_url: "${host.url}", api_key: "\${MY_KEY}" } }\n`;

  const { stdout } = await examine({ yaml, env: key });

  expect(host.requests.map(({ method, target }) => [method, target])).toEqual([['GET', '/v1/models']]);
  expect(Object.fromEntries(host.requests[0]?.headers ?? [])).toMatchObject({ 'x-api-key': key.MY_KEY });
  expect(stdout).not.toContain(key.MY_KEY);
});

test("a stranger on the configured port is a warning while this user's gateway runs elsewhere", async () => {
  const { port } = await listening(createServer());
  const { home: cwd } = await startServing({
    files: { 'gateway.yaml': `server: { port: ${port} }\n${withoutStore}` },
  });

  const { exit, json } = await command('doctor -o json', { cwd });

  expect(exit).toBe(0);
  expect(json.findings.filter(({ subject }: Diagnosis) => subject === `port ${port}`)).toEqual([
    expect.objectContaining({ status: 'warning', message: expect.stringContaining('taken by ') }),
  ]);
});

const expired =
  '{ id: old, hash: "sha256:3691d47c6155e62e3c0fc2c28dcbd87702fc08b466b5836d9041e2efa432a8cc", expires: 2020-01-01 }';
const elsewhere = {
  env: { ANTHROPIC_BASE_URL: 'https://elsewhere.example', ANTHROPIC_API_KEY: 'sk-ant-secret' },
};
const unread: Files = {
  '.claude/settings.json': '{ "env": { "ANTHROPIC_API_KEY": sk-ant-secret } }',
};
const stopped: Files = {
  'gateway/running.json': {
    url: 'http://127.0.0.1:9',
    pid: 2 ** 22 + 1,
    proof: { challenge: 'c', answer: 'a' },
  },
};

describe('names the fault', () => {
  test.each<[string, Machine, readonly (string | RegExp)[]]>([
    [
      'a configuration that is invalid, with line and column',
      { yaml: `${ports}polices: {}\n` },
      [/^error configuration: gateway\.yaml:3:1 .*polices/],
    ],
    [
      'a state directory that is none',
      { env: { XDG_STATE_HOME: '/dev/null' } },
      [/^error state directory: .*\/dev\/null\/gateway/],
    ],
    [
      'keys that have all expired, and one that is not of them',
      {
        yaml: `${ports}policies: { all: { apply: all, rules: [] } }\nprojects: { shop: { keys: [${expired}] } }\n`,
        env: { GATEWAY_KEY: 'some-other-key-0123' },
      },
      [
        /^warning configuration: .*policies\.all: has no rules$/,
        /^warning configuration: .*key old has expired$/,
        'error keys: every key has expired: nobody can call the gateway',
        'warning keys: GATEWAY_KEY is not a key of this configuration',
      ],
    ],
    [
      'a key in the environment that was cut',
      { env: { GATEWAY_KEY: 'gw_0Wsq1jQdK1VXEMZE9AxEh16JArh6UbLf0CrwjX' } },
      ['error keys: GATEWAY_KEY is truncated or mistyped: its checksum is wrong'],
    ],
    [
      'a provider where nothing listens',
      { yaml: `${ports}providers: { local: { dialect: openai, base_url: "http://127.0.0.1:9/v1" } }\n` },
      ['error provider local: http://127.0.0.1:9/v1: nothing listens there'],
    ],
    [
      'a proxy that is not there, and one that catches local calls',
      { env: { HTTP_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'intranet' } },
      [
        "error proxy: 127.0.0.1:9 can't be reached (ECONNREFUSED)",
        /^warning proxy: HTTP_PROXY catches calls to 127\.0\.0\.1/,
      ],
    ],
    [
      "Claude Code's settings that lead past the gateway",
      { files: { '.claude/settings.local.json': elsewhere } },
      [
        /^error claude: .*settings\.local\.json sets ANTHROPIC_BASE_URL/,
        /^error claude: .*settings\.local\.json sets ANTHROPIC_API_KEY/,
      ],
    ],
    [
      'settings that are not JSON, without quoting them',
      { files: unread },
      [/^error claude: .*settings\.json can't be read/],
    ],
    [
      'a proxy in a variable that the gateway does not use',
      { env: { ALL_PROXY: 'http://127.0.0.1:3128' } },
      ['warning proxy: ALL_PROXY is set, which the gateway does not use'],
    ],
    [
      "but not Claude Code's settings that lead to the gateway",
      {
        yaml: `server: { port: 4999 }\n${withoutStore}`,
        files: { '.claude/settings.json': { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4999' } } },
      },
      [],
    ],
    ['but not a gateway that ended unexpectedly elsewhere', { files: stopped }, []],
  ])('%s', async (_name, machine, expected) => {
    const { faults, stdout } = await examine(machine);

    expect(faults).toEqual(
      expected.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each))),
    );
    expect(stdout).not.toContain('sk-ant');
  });

  test('a state directory that is open to others', async () => {
    const cwd = homeWith({ 'gateway.yaml': ports, 'state/gateway/local-key.json': {} });
    chmodSync(join(cwd, 'state/gateway'), 0o755);
    chmodSync(join(cwd, 'state/gateway/local-key.json'), 0o644);

    const { exit, stdout } = await command('doctor', { cwd, env: { XDG_STATE_HOME: join(cwd, 'state') } });

    expect(exit).toBe(0);
    expect(stdout).toMatch(/^warning\tstate directory\t.*gateway is open to other users\tchmod 700/m);
    expect(stdout).toMatch(
      /^warning\tstate directory\t.*local-key\.json can be read by other users\tchmod 600/m,
    );
  });

  test('a gateway that ended unexpectedly', async () => {
    const cwd = homeWith({ 'gateway.yaml': ports, ...stopped });

    const { stdout } = await command('doctor', { cwd, env: { XDG_STATE_HOME: cwd } });

    expect(stdout).toMatch(/^warning\tgateway\tthe one at http:\/\/127\.0\.0\.1:9 ended unexpectedly/m);
  });

  const late = new Date(Date.now() - 3_600_000).toUTCString();
  const badKey = '{"error":{"message":"bad key sk-mine-0123456789"}}';
  const lacks = (scope: string) =>
    JSON.stringify({
      error: {
        message: `You have insufficient permissions for this operation. Missing scopes: ${scope}.`,
        code: 'missing_scope',
      },
    });
  test.each<[string, Script, RegExp]>(
    // biome-ignore format: a case a line
    [
      ['that rejects the key', (response) => response.writeHead(401).end(badKey), /^error provider mine: .*rejects the credentials \(401\): bad key \[secret\]$/],
      ['that the key may not ask models', (response) => response.writeHead(401).end(lacks('model.request')), /^error provider mine: .*accepts the key, which may not ask a model \(401\): You have insufficient permissions/],
      ['that is a page', (response) => response.end('<html>log in</html>'), /something other than a list of models/],
      ['with 404', (response) => response.writeHead(404).end(), /has no list of models \(404\)/],
      ['that never comes', () => undefined, /^error provider mine: .*no answer within 3000 ms/],
      ['of another hour: the clock is wrong', (response) => response.setHeader('date', late).end('{"data":[]}'), /^error clock: this machine's clock is 36\d\d s ahead of that of mine/],
    ],
  )("a provider's answer %s", async (_name, script, fault) => {
    const { faults, stdout } = await examine({ yaml: await provider(script), env: key });

    expect(faults).toEqual([expect.stringMatching(fault)]);
    expect(stdout).not.toContain(key.MY_KEY);
  });

  test.each([
    ['by what is missing in the request', 400],
    ['by the model that is missing', 404],
  ])('but not a key that may ask models, as is seen %s, and may not list them', async (_by, status) => {
    const script: Script = (response, { method }) =>
      method === 'GET'
        ? response.writeHead(403).end(lacks('api.model.read'))
        : response.writeHead(status).end('{"error":{"message":"you must provide a model parameter"}}');

    const { faults } = await examine({ yaml: await provider(script), env: key });

    expect(faults).toEqual([]);
  });

  test('one of several keys of a provider, by its name', async () => {
    const { url } = await startHost((response, { headers }) => {
      const isRefused = headers.some(([, value]) => value.includes('spare-key'));
      response.writeHead(isRefused ? 401 : 200).end('{"data":[]}');
    });
    const keys = `api_keys: { work: "\${MY_KEY}", spare: "\${SPARE_KEY}" }`;

    const { faults, stdout } = await examine({
      yaml: `${ports}providers: { mine: { dialect: openai, base_url: "${url}/v1", ${keys} } }\n`,
      env: { ...key, SPARE_KEY: 'spare-key-0123456789' },
    });

    expect(faults).toEqual([
      expect.stringMatching(/^error provider mine\/spare: .*rejects the credentials \(401\)/),
    ]);
    expect(stdout).not.toContain('spare-key-0123456789');
  });

  const asking = (url: string, more = '') =>
    `${ports}policies: { house: { apply: all, rules: [{ id: people, action: block, when: { check: { url: "${url}"${more} } } }] } }\n`;
  const ofService: readonly (readonly [string, Script | undefined, RegExp, timeout: string])[] = [
    ['with nobody there', undefined, /^error check http:.* could not be asked \(ECONNREFUSED\)$/, '10s'],
    ['that answers something else', lists, /answered something else than a list for each text$/, '10s'],
    ['that is late', () => undefined, /did not answer within 50 ms/, '50ms'],
    ['that fails', (response) => response.writeHead(500).end(), /answered with status 500$/, '10s'],
  ];
  test.each(ofService)('a service of a rule %s', async (_name, script, fault, timeout) => {
    const url = script === undefined ? await deadUrl() : (await startHost(script)).url;

    const { faults } = await examine({ yaml: asking(url, `, timeout: ${timeout}`) });

    expect(faults).toEqual([expect.stringMatching(fault)]);
  });

  test("but not services that answer; each is asked once, a route's too", async () => {
    const checker = await startChecker();
    const other = await startChecker(presidio);
    const route = `providers: { p: { dialect: openai, base_url: "${(await startHost(lists)).url}/v1" } }
models: [{ match: "*", provider: p, when: { check: { url: "${other.url}/analyze", api: presidio } } }, { match: "*", provider: p }]
`;
    const { faults, findings } = await examine({
      yaml: `${asking(checker.url).replace('}] } }', `}, { id: more, action: warn, when: { check: { url: "${checker.url}", timeout: 5s } } }] } }`)}${route}`,
    });

    expect(faults).toEqual([]);
    expect(findings.filter(({ subject }) => subject.startsWith('check'))).toMatchObject([
      {
        subject: `check ${checker.url}`,
        status: 'ok',
        message: expect.stringMatching(/^answers in \d+ ms$/),
      },
      { subject: `check ${other.url}/analyze`, status: 'ok' },
    ]);
    expect([checker.calls, other.calls]).toEqual([[['hello']], [['hello']]]);
  });

  test('a provider whose key is not set', async () => {
    const { faults } = await examine({ yaml: await provider(lists) });

    expect(faults.filter((fault) => fault.includes('provider'))).toEqual([
      expect.stringMatching(/^warning provider mine: not in use: .*MY_KEY/),
    ]);
  });

  test('a certificate that nobody vouches for', async () => {
    const identity = makeAuthority('Nobody').issue(['localhost']);
    const server = createTlsServer(identity, (_request, response) => response.end('{"data":[]}'));
    const url = `https://localhost:${(await listening(server)).port}/v1`;

    const { faults } = await examine({
      yaml: `${ports}providers: { safe: { dialect: openai, base_url: "${url}" } }\n`,
    });

    expect(faults).toEqual([
      expect.stringMatching(
        /^error provider safe: https:.* its certificate is signed by an unknown authority/,
      ),
    ]);
  });

  test('a port that somebody has, and who', async () => {
    const { port: taken } = await listening(createServer());

    const { faults } = await examine({ yaml: `server: { port: ${taken} }\n${withoutStore}` });

    expect(faults).toEqual([
      expect.stringMatching(new RegExp(`^error port ${taken}: taken by .*pid ${process.pid}`)),
    ]);
  });

  test.each([
    ['model_provider = "azure"', 'chooses the provider azure'],
    [
      '[model_providers.gateway]\nbase_url = "http://127.0.0.1:9/v1"\nwire_api = "responses"',
      'has the gateway at http://127.0.0.1:9/v1',
    ],
    ['model = "x', "can't be read, and Codex does not start: line 1"],
  ])("Codex's configuration %j", async (toml, words) => {
    const { faults } = await examine({ files: { '.codex/config.toml': toml } });

    expect(faults).toEqual([expect.stringContaining(words)]);
  });
});

describe('output', () => {
  test('on a terminal: a mark, and what to do below', async () => {
    const files = { 'gateway.yaml': 'nonsense: 1\n' };

    const { exit, stdout, stderr } = await command('doctor --no-color', { files, isTerminal: true });

    expect(exit).toBe(1);
    expect(stdout).toMatch(/^✗ configuration {4}gateway\.yaml:1:1 .*\n {19}→ /);
    expect(stdout).toMatch(/^✓ codex/m);
    expect(stderr).toContain('an error was found');
  });
});

describe("opencode's own settings", () => {
  const leading = (id: string) => ({
    provider: { [id]: { options: { baseURL: 'https://api.example.com' } } },
  });

  test.each(
    // biome-ignore format: a case a line
    [
      ['an address', '.config/opencode/opencode.json', leading('anthropic'), 'sets provider.anthropic.options.baseURL'],
      ['a key', '.opencode/opencode.json', { provider: { openai: { options: { apiKey: 'sk-secret' } } } }, 'apiKey'],
      ['a model of another provider', 'opencode.json', { model: 'openrouter/x' }, 'sets model to openrouter/x'],
      ['that of an agent', 'opencode.json', { agent: { build: { model: 'a/b' } } }, 'sets agent.build.model to a/b'],
      ['a provider that is off', 'opencode.json', { disabled_providers: ['openai', 'x'] }, 'has openai in disabled_'],
    ],
  )('%s is named', async (_what, file, settings, expected) => {
    const { faults, stdout } = await examine({ files: { [file]: settings } });

    const status = 'model' in settings ? 'error' : 'warning';
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^${status} opencode: `))]);
    expect(faults[0]).toContain(
      `${file} ${expected.startsWith('apiKey') ? 'sets provider.openai.options.apiKey' : expected}`,
    );
    expect(stdout).not.toContain('sk-secret');
  });

  test.each<[string, string[], Record<string, string>, string]>([
    ['nearer than another', ['opencode.json', 'sub/opencode.json'], {}, 'sub/opencode.json'],
    [
      'in OPENCODE_CONFIG_DIR, which beats all',
      ['opencode.json', 'other/opencode.json'],
      { OPENCODE_CONFIG_DIR: '../other' },
      'other/opencode.json',
    ],
  ])('the model that counts is the one %s', async (_where, files, env, expected) => {
    const workspace = createWorkspace({
      ...Object.fromEntries(files.map((file) => [`repo/${file}`, { model: `repo/${file}/x` }])),
      'opencode.json': { model: 'outside/x' },
      'repo/.git/HEAD': '',
      'repo/sub/gateway.yaml': ports,
    });

    const { stdout } = await command('doctor --timeout 3', { cwd: join(workspace, 'repo/sub'), env });

    expect(stdout).toMatch(new RegExp(`${expected} sets model to (?:repo/)?${expected}/x`));
    expect(stdout).not.toContain('outside/x');
  });

  const here = {
    provider: { anthropic: { options: { baseURL: 'http://127.0.0.1:4100/v1', apiKey: 'gw_x' } } },
  };
  test.each<[string, Machine]>([
    [
      'of the project with OPENCODE_DISABLE_PROJECT_CONFIG',
      {
        files: { 'opencode.json': { model: 'openrouter/x' } },
        env: { OPENCODE_DISABLE_PROJECT_CONFIG: '1' },
      },
    ],
    [
      'of other kinds, or for the gateway,',
      {
        yaml: withoutStore,
        files: { 'opencode.json': { ...here, theme: 'dark', model: 'anthropic/claude-sonnet-4-5' } },
      },
    ],
  ])('those %s are fine', async (_which, machine) => {
    const { faults } = await examine(machine);

    expect(faults.filter((fault) => fault.includes('opencode'))).toEqual([]);
  });

  test('a file with comments is not checked, and that is said', async () => {
    const { faults } = await examine({ files: { 'opencode.jsonc': '{ // mine\n}' } });

    expect(faults).toEqual([expect.stringMatching(/^warning opencode: .*opencode\.jsonc is not checked/)]);
  });
});
