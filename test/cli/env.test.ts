import { expect, test } from 'vitest';
import { command, type Environment, failure, printed, startServing, withoutStore } from '../kit/command.ts';
import { startGateway } from '../kit/gateway.ts';

const { home: cwd } = await startServing();
const key = (await command('key show', { cwd })).stdout.trim();

test('prints lines for the running gateway, the key on stdout alone', async () => {
  const { exit, stdout, stderr } = await command('env claude', { cwd });

  expect([exit, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^export ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:\d+\n/);
  expect(stdout).toContain(`\nexport ANTHROPIC_AUTH_TOKEN=${key}\n`);
  expect(stdout).not.toContain('unset');
});

test('says how to read the lines with the command that was called', async () => {
  const { stdout } = await command('env claude', { cwd, env: { npm_command: 'exec' } });

  expect(stdout).toContain('# eval "$(npx gateway env claude)"; then try: claude');
});

test('warns on a terminal that the lines contain a key', async () => {
  const { stderr } = await command('env claude', { cwd, isTerminal: true });

  expect(stderr).toContain('contain a key');
  expect(stderr).not.toContain(key);
});

test('-o json has the same as data', async () => {
  const exempt = '127.0.0.1,localhost,::1';

  expect((await command('env codex -o json -m o9', { cwd })).json).toEqual({
    variables: { GATEWAY_KEY: key, NO_PROXY: exempt, no_proxy: exempt },
    unset: [],
    arguments: expect.arrayContaining(['-c', 'model="o9"']),
  });
});

test("a model's limits are among the lines, and are taken back", async () => {
  const models = '{ match: tiny, provider: sandbox, model: sandbox-mini, context_window: 32768 }';
  const gateway = await startGateway(`models: [${models}]\n${withoutStore}`);
  const line = 'CLAUDE_CODE_MAX_CONTEXT_TOKENS';

  expect((await command('env claude -m tiny', { gateway })).stdout).toContain(`export ${line}=32768\n`);
  expect((await command('env claude', { gateway })).stdout).not.toContain(line);
  expect((await command('env claude --unset')).stdout).toContain(`unset ${line}\n`);
});

const away = { url: 'http://127.0.0.1:1', key: 'gw_key' };
const other = { url: 'https://gateway.example/', key: 'gw_other' };
test.each<[string, string, Environment, RegExp]>(
  // biome-ignore format: a case a line
  [
    ['what would lead the client elsewhere is unset, where it is set', 'env claude', { gateway: away, env: { ANTHROPIC_API_KEY: 'sk-ant-1' } }, /^unset ANTHROPIC_API_KEY\n/],
    ['lines for a model can be printed before the gateway is up', 'env claude -m tiny', { gateway: away }, /^export ANTHROPIC_MODEL=tiny$/m],
    ['--unset needs no gateway', 'env codex --unset', {}, /^unset GATEWAY_KEY\nunset -f codex\n$/],
    ['GATEWAY_URL and GATEWAY_KEY name another gateway', 'env openai', { gateway: other }, /^export OPENAI_BASE_URL=https:\/\/gateway\.example\/v1\nexport OPENAI_API_KEY=gw_other\n/m],
  ],
)('%s', async (_name, line, environment, lines) => {
  expect(await command(line, environment)).toEqual(printed(expect.stringMatching(lines)));
});

test.each([
  ['env claude', 8, 'no gateway is running'],
  ['env clod', 2, 'Allowed choices are claude'],
  ['env', 2, 'missing required argument'],
  ['env claude -o yaml', 2, 'prints text or json'],
])('%s without a gateway is exit %i', async (line, exit, words) => {
  expect(await command(line)).toEqual(failure(exit, words));
});
