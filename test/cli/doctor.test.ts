import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { createWorkspace } from '../config/workspace.ts';
import { makeAuthority } from '../kit/certificate.ts';
import { command } from '../kit/command.ts';
import { type Script, startHost } from '../kit/host.ts';

interface Machine {
  readonly yaml?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** What the doctor says of a machine, and its exit code. */
async function examine({ yaml, files = {}, env = {} }: Machine) {
  const cwd = createWorkspace({ ...files, ...(yaml === undefined ? {} : { 'gateway.yaml': yaml }) });
  const { exit, stdout, stderr } = await command(['doctor', '-o', 'json', '--timeout', '3'], { cwd, env });
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  // What it says of Node depends on the Node that runs the tests.
  const faults = findings.filter(({ status, subject }) => status !== 'ok' && subject !== 'node');
  for (const { remedy } of faults) expect(remedy).toMatch(/.{8}/);
  expect([ok, exit]).toEqual(findings.some(({ status }) => status === 'error') ? [false, 1] : [true, 0]);
  return {
    cwd,
    exit,
    stdout,
    stderr,
    findings,
    faults: faults.map((one) => `${one.status} ${one.subject}: ${one.message}`),
  };
}

const ports = 'server: { port: 0 }\nplants: { store: { enabled: false } }\n';

async function provider(script: Script, more = ''): Promise<string> {
  const host = await startHost(script);
  return `${ports}providers:\n  mine: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${MY_KEY}"${more} }\n`;
}

const lists: Script = (response) => response.end('{"object":"list","data":[]}');
const key = { MY_KEY: 'sk-mine-0123456789' };

/** A port that a program of this test listens on, or did. */
async function port({ isOpen }: { readonly isOpen: boolean }): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port: number } = server.address() as AddressInfo;
  if (isOpen) onTestFinished(() => void server.close());
  else await new Promise((resolve) => server.close(resolve));
  return number;
}

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

describe('names the fault', () => {
  test('1: a configuration that is invalid, with line and column', async () => {
    const { faults } = await examine({ yaml: `${ports}polices: {}\n` });

    expect(faults[0]).toMatch(/^error configuration: gateway\.yaml:3:1 .*polices/);
  });

  test('2: one that everybody can change', async () => {
    const cwd = createWorkspace({ 'gateway.yaml': ports });
    chmodSync(join(cwd, 'gateway.yaml'), 0o666);

    expect(await command(['doctor'], { cwd })).toMatchObject({
      exit: 1,
      stdout: expect.stringMatching(/^error\tconfiguration\t.*can be changed by everybody.*chmod o-w/m),
    });
  });

  test('3: a state directory that is none', async () => {
    const { faults } = await examine({
      yaml: ports,
      files: { state: 'a file' },
      env: { XDG_STATE_HOME: '/dev/null' },
    });

    expect(faults).toEqual([expect.stringMatching(/^error state directory: .*\/dev\/null\/gateway/)]);
  });

  test('3b: one that is open to others', async () => {
    const cwd = createWorkspace({ 'gateway.yaml': ports });
    mkdirSync(join(cwd, 'state', 'gateway'), { recursive: true, mode: 0o755 });
    writeFileSync(join(cwd, 'state', 'gateway', 'local-key.json'), '{}', { mode: 0o644 });

    const { exit, stdout } = await command(['doctor'], { cwd, env: { XDG_STATE_HOME: join(cwd, 'state') } });

    expect(exit).toBe(0);
    expect(stdout).toMatch(/^warning\tstate directory\t.*gateway is open to other users\tchmod 700/m);
    expect(stdout).toMatch(
      /^warning\tstate directory\t.*local-key\.json can be read by other users\tchmod 600/m,
    );
  });

  test('4: keys that have all expired', async () => {
    const hash = 'sha256:3691d47c6155e62e3c0fc2c28dcbd87702fc08b466b5836d9041e2efa432a8cc';
    const yaml = `${ports}policies: { all: { apply: all, rules: [] } }\nprojects: { shop: { keys: [{ id: old, hash: "${hash}", expires: 2020-01-01 }] } }\n`;

    const { faults } = await examine({ yaml, env: { GATEWAY_KEY: 'some-other-key-0123' } });

    expect(faults).toContain('error keys: every key has expired: nobody can call the gateway');
    expect(faults).toContain('warning keys: GATEWAY_KEY is not a key of this configuration');
  });

  test('4b: a key in the environment that was cut', async () => {
    const { faults } = await examine({
      yaml: ports,
      env: { GATEWAY_KEY: 'gw_0Wsq1jQdK1VXEMZE9AxEh16JArh6UbLf0CrwjX' },
    });

    expect(faults).toEqual(['error keys: GATEWAY_KEY is truncated or mistyped: its checksum is wrong']);
  });

  test('5: a provider where nothing listens', async () => {
    const closed = await port({ isOpen: false });
    const yaml = `${ports}providers: { local: { dialect: openai, base_url: "http://127.0.0.1:${closed}/v1" } }\n`;

    const { faults } = await examine({ yaml });

    expect(faults).toEqual([`error provider local: http://127.0.0.1:${closed}/v1: nothing listens there`]);
  });

  test('6: a provider that rejects the key', async () => {
    const rejects: Script = (response) =>
      response.writeHead(401).end('{"error":{"message":"bad key sk-mine-0123456789"}}');

    const { faults, stdout } = await examine({ yaml: await provider(rejects), env: key });

    expect(faults).toEqual([
      expect.stringMatching(/^error provider mine: .*rejects the credentials \(401\): bad key \[secret\]$/),
    ]);
    expect(stdout).not.toContain(key.MY_KEY);
  });

  test('6b: one whose key is not set', async () => {
    const { faults } = await examine({ yaml: await provider(lists) });

    expect(faults.filter((fault) => fault.includes('provider'))).toEqual([
      expect.stringMatching(/^warning provider mine: not in use: .*MY_KEY/),
    ]);
  });

  test('7: one whose certificate nobody vouches for', async () => {
    const identity = makeAuthority('Nobody').issue(['localhost']);
    const server = createTlsServer(identity, (_request, response) => response.end('{"data":[]}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `https://localhost:${(server.address() as AddressInfo).port}/v1`;

    const { faults } = await examine({
      yaml: `${ports}providers: { safe: { dialect: openai, base_url: "${url}" } }\n`,
    });

    expect(faults).toEqual([
      expect.stringMatching(
        /^error provider safe: https:.* its certificate is signed by an unknown authority/,
      ),
    ]);
  });

  test.each([
    ['a page', (response) => response.end('<html>log in</html>'), 'something other than a list of models'],
    ['404', (response) => response.writeHead(404).end(), 'has no list of models (404)'],
    ['503', (response) => response.writeHead(503).end(), 'answers 503'],
  ] as const satisfies readonly (readonly [string, Script, string])[])(
    '8: an address that is none of a provider: %s',
    async (_name, script, words) => {
      const { faults } = await examine({ yaml: await provider(script), env: key });

      expect(faults).toEqual([expect.stringContaining(words)]);
    },
  );

  test('8b: one that never answers', async () => {
    const { faults } = await examine({ yaml: await provider(() => undefined), env: key });

    expect(faults).toEqual([expect.stringMatching(/^error provider mine: .*no answer within 3000 ms/)]);
  });

  test('9: a port that somebody has, and who', async () => {
    const taken = await port({ isOpen: true });

    const { faults } = await examine({
      yaml: `server: { port: ${taken} }\nplants: { store: { enabled: false } }\n`,
    });

    expect(faults).toEqual([
      expect.stringMatching(new RegExp(`^error port ${taken}: taken by .*pid ${process.pid}`)),
    ]);
  });

  test('a proxy in a variable that the gateway does not use', async () => {
    const env = { ...key, ALL_PROXY: 'http://127.0.0.1:3128' };

    const { faults } = await examine({ yaml: await provider(lists), env });

    expect(faults).toEqual(['warning proxy: ALL_PROXY is set, which the gateway does not use']);
  });

  test('10: a proxy that is not there, and one that catches local calls', async () => {
    const closed = await port({ isOpen: false });

    const { faults } = await examine({
      yaml: ports,
      env: { HTTP_PROXY: `http://127.0.0.1:${closed}`, NO_PROXY: 'intranet' },
    });

    expect(faults).toEqual([
      `error proxy: 127.0.0.1:${closed} can't be reached (ECONNREFUSED)`,
      expect.stringMatching(/^warning proxy: HTTP_PROXY catches calls to 127\.0\.0\.1/),
    ]);
  });

  test('11: a clock that is wrong', async () => {
    const late = new Date(Date.now() - 3_600_000).toUTCString();
    const script: Script = (response) => response.setHeader('date', late).end('{"data":[]}');

    const { faults } = await examine({ yaml: await provider(script), env: key });

    expect(faults).toEqual([
      expect.stringMatching(/^error clock: this machine's clock is 36\d\d s ahead of that of mine/),
    ]);
  });

  test("12: Claude Code's settings that lead past the gateway", async () => {
    const settings = {
      env: { ANTHROPIC_BASE_URL: 'https://elsewhere.example', ANTHROPIC_API_KEY: 'sk-ant-secret' },
    };

    const { faults, stdout } = await examine({
      yaml: ports,
      files: { '.claude/settings.local.json': JSON.stringify(settings) },
    });

    expect(faults).toEqual([
      expect.stringMatching(/^error claude: .*settings\.local\.json sets ANTHROPIC_BASE_URL/),
      expect.stringMatching(/^error claude: .*settings\.local\.json sets ANTHROPIC_API_KEY/),
    ]);
    expect(stdout).not.toContain('sk-ant-secret');
  });

  test('12b: but not those that lead to it', async () => {
    const settings = { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:4999', ANTHROPIC_AUTH_TOKEN: 'gw_key' } };
    const yaml = 'server: { port: 4999 }\nplants: { store: { enabled: false } }\n';

    const { faults } = await examine({ yaml, files: { '.claude/settings.json': JSON.stringify(settings) } });

    expect(faults.filter((fault) => fault.includes('claude'))).toEqual([]);
  });

  test.each([
    ['profile = "work"', 'chooses the profile work'],
    ['model_provider = "azure"', 'chooses the provider azure'],
    [
      '[model_providers.gateway]\nbase_url = "http://127.0.0.1:9/v1"\nwire_api = "responses"',
      'has the gateway at http://127.0.0.1:9/v1',
    ],
    ['model = "x', "can't be read, and Codex does not start: line 1"],
  ])("13: Codex's configuration %j", async (toml, words) => {
    const { faults } = await examine({ yaml: ports, files: { '.codex/config.toml': toml } });

    expect(faults).toEqual([expect.stringContaining(words)]);
  });

  test('14: settings that are not JSON, without quoting them', async () => {
    const { faults, stdout } = await examine({
      yaml: ports,
      files: { '.claude/settings.json': '{ "env": { "ANTHROPIC_API_KEY": sk-ant-secret } }' },
    });

    expect(faults).toEqual([expect.stringMatching(/^error claude: .*settings\.json can't be read/)]);
    expect(stdout).not.toContain('sk-ant');
  });

  test('15: a gateway that ended unexpectedly', async () => {
    const proof = { challenge: 'c', answer: 'a' };
    const running = JSON.stringify({ url: 'http://127.0.0.1:9', pid: 2 ** 22 + 1, proof });

    const { faults } = await examine({
      yaml: ports,
      files: { 'gateway/running.json': running },
      env: {},
    });

    expect(faults).toEqual([]); // the state directory is another one
    const cwd = createWorkspace({ 'gateway.yaml': ports, 'gateway/running.json': running });
    chmodSync(join(cwd, 'gateway'), 0o700);
    expect(await command(['doctor'], { cwd, env: { XDG_STATE_HOME: cwd } })).toMatchObject({
      stdout: expect.stringMatching(
        /^warning\tgateway\tthe one at http:\/\/127\.0\.0\.1:9 ended unexpectedly/m,
      ),
    });
  });
});

describe('output', () => {
  test('on a terminal: a mark, and what to do below', async () => {
    const cwd = createWorkspace({ 'gateway.yaml': 'nonsense: 1\n' });

    const { exit, stdout, stderr } = await command(['doctor', '--no-color'], { cwd, isTerminal: true });

    expect(exit).toBe(1);
    expect(stdout).toMatch(/^✗ configuration {4}gateway\.yaml:1:1 .*\n {19}→ /);
    expect(stdout).toMatch(/^✓ codex/m);
    expect(stderr).toContain('an error was found');
  });

  test('-o ndjson has a line a finding', async () => {
    const { stdout } = await command(['doctor', '-o', 'ndjson'], {
      cwd: createWorkspace({ 'gateway.yaml': ports }),
    });

    for (const line of stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('subject');
  });
});

describe("opencode's own settings", () => {
  const yaml = ports;
  const elsewhere = (id: string) => ({
    provider: { [id]: { options: { baseURL: 'https://api.example.com' } } },
  });

  test.each(
    // biome-ignore format: a case a line
    [
      ['an address', '.config/opencode/opencode.json', elsewhere('anthropic'), 'sets provider.anthropic.options.baseURL'],
      ['one of the project', 'opencode.json', elsewhere('mine'), 'sets provider.mine.options.baseURL'],
      ['a key', '.opencode/opencode.json', { provider: { openai: { options: { apiKey: 'sk-secret' } } } }, 'apiKey'],
      ['a model of another provider', 'opencode.json', { model: 'openrouter/x' }, 'sets model to openrouter/x'],
      ['that of an agent', 'opencode.json', { agent: { build: { model: 'a/b' } } }, 'sets agent.build.model to a/b'],
      ['a provider that is off', 'opencode.json', { disabled_providers: ['openai', 'x'] }, 'has openai in disabled_'],
    ],
  )('%s is named', async (_what, file, settings, expected) => {
    const { faults, stdout } = await examine({ yaml, files: { [file]: JSON.stringify(settings) } });

    const status = 'model' in settings ? 'error' : 'warning';
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^${status} opencode: `))]);
    expect(faults[0]).toContain(
      `${file} ${expected.startsWith('apiKey') ? 'sets provider.openai.options.apiKey' : expected}`,
    );
    expect(stdout).not.toContain('sk-secret');
  });

  const model = (name: string) => JSON.stringify({ model: `${name}/x` });

  test.each<[string, Record<string, string>, Record<string, string>, string]>([
    ['above the directory', { 'opencode.json': model('above') }, {}, 'opencode.json sets model to above/x'],
    [
      'nearer than another',
      { 'opencode.json': model('above'), 'sub/opencode.json': model('near') },
      {},
      'sub/opencode.json sets model to near/x',
    ],
    [
      "in the repository's .opencode, which beats one nearer",
      { '.opencode/opencode.json': model('above'), 'sub/.opencode/opencode.json': model('near') },
      {},
      'repo/.opencode/opencode.json sets model to above/x',
    ],
    [
      'in OPENCODE_CONFIG_DIR, which beats all',
      { 'opencode.json': model('above'), 'other/opencode.json': model('other') },
      { OPENCODE_CONFIG_DIR: '../other' },
      'other/opencode.json sets model to other/x',
    ],
  ])('the model that counts is the one %s', async (_where, files, env, expected) => {
    const inRepository = Object.entries(files).map(([file, text]) => [`repo/${file}`, text] as const);
    const workspace = createWorkspace({
      ...Object.fromEntries(inRepository),
      'opencode.json': model('outside'),
      'repo/.git/HEAD': '',
      'repo/sub/gateway.yaml': yaml,
    });

    const { stdout } = await command(['doctor', '--timeout', '3'], { cwd: join(workspace, 'repo/sub'), env });

    expect(stdout).toContain(expected);
    expect(stdout).not.toContain('outside/x');
  });

  test('none of the project counts with OPENCODE_DISABLE_PROJECT_CONFIG', async () => {
    const { faults } = await examine({
      yaml,
      files: { 'opencode.json': model('openrouter') },
      env: { OPENCODE_DISABLE_PROJECT_CONFIG: '1' },
    });

    expect(faults.filter((fault) => fault.includes('opencode'))).toEqual([]);
  });

  test('a file with comments is not checked, and that is said', async () => {
    const { faults } = await examine({ yaml, files: { 'opencode.jsonc': '{ // mine\n}' } });

    expect(faults).toEqual([expect.stringMatching(/^warning opencode: .*opencode\.jsonc is not checked/)]);
  });

  test('of other kinds, or for the gateway, are fine', async () => {
    const here = {
      provider: { anthropic: { options: { baseURL: 'http://127.0.0.1:4100/v1', apiKey: 'gw_x' } } },
    };
    const fine = { ...here, theme: 'dark', model: 'anthropic/claude-sonnet-4-5' };
    const { faults } = await examine({
      yaml: 'plants: { store: { enabled: false } }\n',
      files: { 'opencode.json': JSON.stringify(fine) },
    });

    expect(faults.filter((fault) => fault.includes('opencode'))).toEqual([]);
  });
});
