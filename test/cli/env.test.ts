import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command, emptyDirectory, type RunningCommand, startCommand } from '../kit/command.ts';
import { startGateway } from '../kit/gateway.ts';

const cwd = emptyDirectory();
let server: RunningCommand;
let key: string;
beforeAll(async () => {
  writeFileSync(join(cwd, 'gateway.yaml'), 'plants: { store: { enabled: false } }\n', { mode: 0o600 });
  server = startCommand(['serve', '-p', '0', '--log', 'json'], { cwd });
  await server.wrote('stderr', 'listening');
  key = (await command(['key', 'show', '--yes'], { cwd })).stdout.trim();
});
afterAll(async () => {
  server.signal('SIGTERM');
  await server.ended;
});

test('prints lines for the running gateway, the key on stdout alone', async () => {
  const { exit, stdout, stderr } = await command(['env', 'claude'], { cwd });

  expect([exit, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^export ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:\d+\n/);
  expect(stdout).toContain(`\nexport ANTHROPIC_AUTH_TOKEN=${key}\n`);
  expect(stdout).not.toContain('unset');
});

test('warns on a terminal that the lines contain a key', async () => {
  const { stderr } = await command(['env', 'claude'], { cwd, isTerminal: true });

  expect(stderr).toContain('contain a key');
  expect(stderr).not.toContain(key);
});

test('unsets what would lead the client elsewhere, where it is set', async () => {
  const env = { ANTHROPIC_API_KEY: 'sk-ant-1' };

  expect((await command(['env', 'claude'], { cwd, env })).stdout).toMatch(/^unset ANTHROPIC_API_KEY\n/);
});

test('-o json has the same as data', async () => {
  const exempt = '127.0.0.1,localhost,::1';
  const { stdout } = await command(['env', 'codex', '-o', 'json', '-m', 'o9'], { cwd });

  expect(JSON.parse(stdout)).toEqual({
    variables: { GATEWAY_KEY: key, NO_PROXY: exempt, no_proxy: exempt },
    unset: [],
    arguments: expect.arrayContaining(['-c', 'model="o9"']),
  });
});

test("a model's limits are among the lines, and are taken back", async () => {
  const models = '{ match: tiny, provider: sandbox, model: sandbox-mini, context_window: 32768 }';
  const gateway = await startGateway(`models: [${models}]\nplants: { store: { enabled: false } }\n`);
  const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: gateway.key };
  const line = 'CLAUDE_CODE_MAX_CONTEXT_TOKENS';

  expect((await command(['env', 'claude', '-m', 'tiny'], { env })).stdout).toContain(
    `export ${line}=32768\n`,
  );
  expect((await command(['env', 'claude'], { env })).stdout).not.toContain(line);
  expect((await command(['env', 'claude', '--unset'])).stdout).toContain(`unset ${line}\n`);
});

test('lines for a model can be printed before the gateway is up', async () => {
  const env = { GATEWAY_URL: 'http://127.0.0.1:1', GATEWAY_KEY: 'gw_key' };

  expect((await command(['env', 'claude', '-m', 'tiny'], { env })).stdout).toContain(
    'export ANTHROPIC_MODEL=tiny\n',
  );
});

test('--unset needs no gateway', async () => {
  const { exit, stdout } = await command(['env', 'codex', '--unset']);

  expect([exit, stdout]).toEqual([0, 'unset GATEWAY_KEY\nunset -f codex\n']);
});

test('--unset takes a model back too', async () => {
  expect((await command(['env', 'claude', '--unset'])).stdout).toContain('unset ANTHROPIC_MODEL\n');
});

test('GATEWAY_URL and GATEWAY_KEY name another gateway', async () => {
  const env = { GATEWAY_URL: 'https://gateway.example/', GATEWAY_KEY: 'gw_other' };

  const { stdout } = await command(['env', 'openai'], { cwd, env });

  expect(stdout).toContain(
    'export OPENAI_BASE_URL=https://gateway.example/v1\nexport OPENAI_API_KEY=gw_other\n',
  );
});

test.each([
  [['env', 'claude'], 8, 'no gateway is running'],
  [['env', 'clod'], 2, 'Allowed choices are claude'],
  [['env'], 2, 'missing required argument'],
  [['env', 'claude', '-o', 'yaml'], 2, 'prints text or json'],
])('%j without a gateway is exit %i', async (argv, exit, words) => {
  const ended = await command(argv);

  expect([ended.exit, ended.stdout]).toEqual([exit, '']);
  expect(ended.stderr).toContain(words);
});
