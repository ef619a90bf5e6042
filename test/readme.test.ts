import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { exitCodes } from '../src/errors.ts';
import { command, directoryWith, printed, startServing, withoutStore } from './kit/command.ts';
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
  let cwd: string;
  beforeAll(async () => {
    ({ home: cwd } = await startServing());
  });

  test('send prints what the README shows', async () => {
    expect(await command('send hello', { cwd })).toEqual(
      printed(blockAfter('npx gateway send "hello"', 'text')),
    );
  });

  test('the shell gets the settings of each agent', async () => {
    const names = [...readme.matchAll(/^eval "\$\(npx gateway env (\w+)\)"$/gm)].map(([, name = '']) => name);

    for (const name of names) {
      expect(await command(['env', name], { cwd })).toEqual(printed(expect.stringMatching(/^export /)));
    }
    expect(names).toEqual(['claude', 'codex', 'opencode', 'gemini']);
  });

  test('--jq filters as the README shows', async () => {
    const [, expression = ''] = /npx gateway models --jq '(.+)'/.exec(readme) ?? [];

    expect(await command(['models', '--jq', expression], { cwd })).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('sandbox-mini\n'),
    });
  });

  test('send -o json prints the fields the README shows', async () => {
    const shown = JSON.parse(blockAfter('npx gateway send "summarise" -o json', 'json')) as object;

    const { json } = await command('send summarise -o json', { cwd, stdin: 'meeting at noon\n' });

    expect(Object.keys(json)).toEqual(Object.keys(shown));
    expect(json).toMatchObject({
      ...shown,
      latency_ms: expect.any(Number),
      request_id: expect.any(String),
    });
  });
});

test.each(['sandbox mode', 'the file of the README'])('%s blocks and redacts as shown', async (mode) => {
  const section = '## See a policy at work';
  const files = mode === 'sandbox mode' ? {} : { 'gateway.yaml': blockAfter(section, 'yaml') };
  const { home: cwd } = await startServing({ files }, '--plants-port', '0');
  const prompt = (command: string) => /send "(.+)"/.exec(command)?.[1] ?? '';
  const blocking = blockAfter(section, 'sh');
  const redacting = blockAfter(blocking, 'sh');

  const blocked = await command(['send', prompt(blocking)], { cwd });
  const redacted = await command(['send', prompt(redacting)], { cwd });

  expect(blocked).toEqual({ exit: 3, stdout: '', stderr: blockAfter(blocking, 'text') });
  expect([redacted.exit, redacted.stdout + redacted.stderr]).toEqual([0, blockAfter(redacting, 'text')]);
});

test('the configuration of the README is valid, and its error is what a slip in it gives', async () => {
  const yaml = blockAfter('This is a whole one:', 'yaml');
  const env = { ANTHROPIC_API_KEY: 'sk-ant-0123456789' };
  const check = (text: string) => command('config check', { files: { 'gateway.yaml': text }, env });

  const good = await check(yaml);
  const bad = await check(yaml.replace('action: block', 'action: blok'));

  expect([good.exit, bad.exit]).toEqual([0, 2]);
  expect(bad.stdout).toContain('policies.house.rules[0].action: expected allow, warn, mask, redact or block');
  expect(bad.stdout).toContain('did you mean "block"?');
  expect(parse(yaml)).toHaveProperty('policies.house.rules[0].action', 'block');
});

test('the limits of the README hold, and its table is what usage shows', async () => {
  const cwd = directoryWith(`providers:
  sandbox: { dialect: sandbox }
models:
  - { match: "sandbox-*", provider: sandbox, max_output_tokens: 256, pricing: { input: 3, output: 15 } }
${withoutStore}${blockAfter('## For a team', 'yaml')}`);
  const env = { SHOP_KEY: 'shop-web-0123456789abcdef' };
  const { stop } = await startServing({ cwd, env });
  for (const prompt of ['hello 1', 'hello 2', 'hello 3']) {
    await command(['send', prompt, '-m', 'sandbox-mini'], { cwd, env: { GATEWAY_KEY: env.SHOP_KEY } });
  }
  await stop();

  const terminal = startTerminal(['usage', '--by', 'key', '--since', '7d'], { home: cwd });
  await terminal.ended;

  expect(`${terminal.screen().trimEnd()}\n`).toBe(blockAfter('gateway usage --by key', 'text'));
});

test('the exit codes of the README are those of the code', () => {
  for (const code of Object.values(exitCodes))
    expect(readme).toMatch(new RegExp(`^\\| (?:\\d+, )?${code}(?:, \\d+)? \\|`, 'm'));
});
