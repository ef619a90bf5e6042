import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { exitCodes } from '../src/errors.ts';
import { command, emptyDirectory, type RunningCommand, startCommand } from './kit/command.ts';
import { startTerminal } from './kit/terminal.ts';

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');

/** The content of the fenced block that follows a piece of text. */
function blockAfter(text: string, language: string): string {
  const from = readme.indexOf(text);
  if (from < 0) throw new Error(`the README no longer says ${text}`);
  const block = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme.slice(from + text.length));
  if (block?.[1] === undefined) throw new Error(`no ${language} block follows ${text}`);
  return block[1];
}

describe('commands of the README', () => {
  const cwd = emptyDirectory();
  let server: RunningCommand;
  beforeAll(async () => {
    server = startCommand(['serve', '-p', '0', '--log', 'json'], { cwd });
    await server.wrote('stderr', 'listening');
  });
  afterAll(async () => {
    server.signal('SIGTERM');
    await server.ended;
  });

  test('send prints what the README shows', async () => {
    const ended = await command(['send', 'hello'], { cwd });

    expect(ended).toEqual({ exit: 0, stdout: blockAfter('npx gateway send "hello"', 'text'), stderr: '' });
  });

  test('the shell gets the settings of each agent', async () => {
    const names = [...readme.matchAll(/^eval "\$\(npx gateway env (\w+)\)"$/gm)].map(([, name = '']) => name);

    for (const name of names) {
      const { exit, stdout, stderr } = await command(['env', name], { cwd });
      expect([exit, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^export /);
    }
    expect(names).toEqual(['claude', 'codex', 'opencode', 'gemini']);
  });

  test('--jq filters as the README shows', async () => {
    const [, expression = ''] = /npx gateway models --jq '(.+)'/.exec(readme) ?? [];

    const { exit, stdout } = await command(['models', '--jq', expression], { cwd });

    expect(exit).toBe(0);
    expect(stdout).toContain('sandbox-mini\n');
  });

  test('send -o json prints the fields the README shows', async () => {
    const shown = JSON.parse(blockAfter('npx gateway send "summarise" -o json', 'json')) as object;

    const ended = await command(['send', 'summarise', '-o', 'json'], { cwd, stdin: 'meeting at noon\n' });

    const printed = JSON.parse(ended.stdout) as Record<string, unknown>;
    expect(Object.keys(printed)).toEqual(Object.keys(shown));
    expect(printed).toMatchObject({
      ...shown,
      latency_ms: expect.any(Number),
      request_id: expect.any(String),
    });
  });
});

test.each(['sandbox mode', 'the file of the README'])('%s blocks and redacts as shown', async (mode) => {
  const cwd = emptyDirectory();
  const section = '## See a policy at work';
  if (mode !== 'sandbox mode')
    writeFileSync(join(cwd, 'gateway.yaml'), blockAfter(section, 'yaml'), { mode: 0o600 });
  const server = startCommand(['serve', '-p', '0', '--plants-port', '0', '--log', 'json'], { cwd });
  await server.wrote('stderr', 'listening');
  const prompt = (command: string) => /send "(.+)"/.exec(command)?.[1] ?? '';
  const blocking = blockAfter(section, 'sh');
  const redacting = blockAfter(blocking, 'sh');

  const blocked = await command(['send', prompt(blocking)], { cwd });
  const redacted = await command(['send', prompt(redacting)], { cwd });
  server.signal('SIGTERM');
  await server.ended;

  expect(blocked).toEqual({ exit: 3, stdout: '', stderr: blockAfter(blocking, 'text') });
  expect([redacted.exit, redacted.stdout + redacted.stderr]).toEqual([0, blockAfter(redacting, 'text')]);
});

test('the configuration of the README is valid, and its error is what a slip in it gives', async () => {
  const cwd = emptyDirectory();
  const yaml = blockAfter('This is a whole one:', 'yaml');
  const env = { ANTHROPIC_API_KEY: 'sk-ant-0123456789' };
  const file = join(cwd, 'gateway.yaml');
  writeFileSync(file, yaml, { mode: 0o600 });
  const good = await command(['config', 'check'], { cwd, env });
  writeFileSync(file, yaml.replace('action: block', 'action: blok'), { mode: 0o600 });

  const bad = await command(['config', 'check'], { cwd, env });

  expect(good.exit).toBe(0);
  expect(bad.exit).toBe(2);
  expect(bad.stdout).toContain('policies.house.rules[0].action: expected allow, warn, mask, redact or block');
  expect(bad.stdout).toContain('did you mean "block"?');
  expect(parse(yaml)).toHaveProperty('policies.house.rules[0].action', 'block');
});

test('the limits of the README hold, and its table is what usage shows', async () => {
  const cwd = emptyDirectory();
  const yaml = `providers:
  sandbox: { dialect: sandbox }
models:
  - { match: "sandbox-*", provider: sandbox, max_output_tokens: 256, pricing: { input: 3, output: 15 } }
plants: { store: { enabled: false } }
${blockAfter('## For a team', 'yaml')}`;
  writeFileSync(join(cwd, 'gateway.yaml'), yaml, { mode: 0o600 });
  const env = { SHOP_KEY: 'shop-web-0123456789abcdef' };
  const server = startCommand(['serve', '-p', '0', '--log', 'json'], { cwd, env });
  await server.wrote('stderr', 'listening');
  for (const prompt of ['hello 1', 'hello 2', 'hello 3']) {
    await command(['send', prompt, '-m', 'sandbox-mini'], { cwd, env: { GATEWAY_KEY: env.SHOP_KEY } });
  }
  server.signal('SIGTERM');
  await server.ended;

  const terminal = startTerminal(['usage', '--by', 'key', '--since', '7d'], { home: cwd });
  await terminal.ended;

  expect(`${terminal.screen().trimEnd()}\n`).toBe(blockAfter('gateway usage --by key', 'text'));
});

test('the exit codes of the README are those of the code', () => {
  for (const code of Object.values(exitCodes))
    expect(readme).toMatch(new RegExp(`^\\| (?:\\d+, )?${code}(?:, \\d+)? \\|`, 'm'));
});
