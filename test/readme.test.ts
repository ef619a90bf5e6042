import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { exitCodes } from '../src/errors.ts';
import { command, directoryWith, printed, startServing, withoutStore } from './kit/command.ts';
import { startTerminal } from './kit/terminal.ts';

const read = (page: string) => readFileSync(join(import.meta.dirname, '..', page), 'utf8');
const readme = read('README.md');
const gettingStarted = read('docs/getting-started.md');
const commandLine = read('docs/command-line.md');
const limits = read('docs/limits.md');

/** The content of the fenced block that follows a piece of text of a page. */
function blockAfter(text: string, language: string, page = readme): string {
  const from = page.indexOf(text);
  if (from < 0) throw new Error(`the page no longer says ${text}`);
  const block = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page.slice(from + text.length));
  if (block?.[1] === undefined) throw new Error(`no ${language} block follows ${text}`);
  return block[1];
}

describe('commands of README and guides', () => {
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
    const names = [...gettingStarted.matchAll(/^eval "\$\(npx gateway env (\w+)\)"$/gm)].map(
      ([, name = '']) => name,
    );

    for (const name of names) {
      expect(await command(['env', name], { cwd })).toEqual(printed(expect.stringMatching(/^export /)));
    }
    expect(names).toEqual(['claude', 'codex', 'opencode', 'gemini']);
  });

  test('--jq filters as the guide shows', async () => {
    const [, expression = ''] = /npx gateway models --jq '(.+)'/.exec(commandLine) ?? [];

    expect(await command(['models', '--jq', expression], { cwd })).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('sandbox-mini\n'),
    });
  });

  test('send -o json prints the fields the guide shows', async () => {
    const shown = JSON.parse(
      blockAfter('npx gateway send "summarise" -o json', 'json', commandLine),
    ) as object;

    const { json } = await command('send summarise -o json', { cwd, stdin: 'meeting at noon\n' });

    expect(Object.keys(json)).toEqual(Object.keys(shown));
    expect(json).toMatchObject({
      ...shown,
      latency_ms: expect.any(Number),
      request_id: expect.any(String),
    });
  });
});

test.each(['sandbox mode', 'the first file of the guide'])('%s blocks and redacts as shown', async (mode) => {
  const file = blockAfter('## Your first rules', 'yaml', gettingStarted);
  const files = mode === 'sandbox mode' ? {} : { 'gateway.yaml': file };
  const { home: cwd } = await startServing({ files }, '--plants-port', '0');
  const prompt = (command: string) => /send "(.+)"/.exec(command)?.[1] ?? '';
  const blocking = blockAfter('two sample rules', 'sh');
  const redacting = blockAfter(blocking, 'sh');

  const blocked = await command(['send', prompt(blocking)], { cwd });
  const redacted = await command(['send', prompt(redacting)], { cwd });

  expect(blocked).toEqual({ exit: 3, stdout: '', stderr: blockAfter(blocking, 'text') });
  expect([redacted.exit, redacted.stdout + redacted.stderr]).toEqual([0, blockAfter(redacting, 'text')]);
});

test('the configuration of the README is valid, and a slip in it is reported as the guide shows', async () => {
  const yaml = blockAfter('A whole `gateway.yaml`:', 'yaml');
  const env = { ANTHROPIC_API_KEY: 'sk-ant-0123456789' };
  const check = (text: string) => command('config check', { files: { 'gateway.yaml': text }, env });

  const good = await check(yaml);
  const bad = await check(yaml.replace('action: block', 'action: blok'));

  expect([good.exit, bad.exit]).toEqual([0, 2]);
  for (const words of ['expected allow, warn, mask, redact or block', 'did you mean "block"?']) {
    expect(bad.stdout).toContain(words);
    expect(gettingStarted).toContain(words);
  }
  expect(parse(yaml)).toHaveProperty('policies.house.rules[0].action', 'block');
});

test('the limits of the guide hold, and its table is what usage shows', async () => {
  const cwd = directoryWith(`providers:
  sandbox: { dialect: sandbox }
models:
  - { match: "sandbox-*", provider: sandbox, max_output_tokens: 256, pricing: { input: 3, output: 15 } }
${withoutStore}${blockAfter('# Limits', 'yaml', limits)}`);
  const env = { SHOP_KEY: 'shop-web-0123456789abcdef' };
  const { stop } = await startServing({ cwd, env });
  for (const prompt of ['hello 1', 'hello 2', 'hello 3']) {
    await command(['send', prompt, '-m', 'sandbox-mini'], { cwd, env: { GATEWAY_KEY: env.SHOP_KEY } });
  }
  await stop();

  const terminal = startTerminal(['usage', '--by', 'key', '--since', '7d'], { home: cwd });
  await terminal.ended;

  expect(`${terminal.screen().trimEnd()}\n`).toBe(blockAfter('gateway usage --by key', 'text', limits));
});

test('the exit codes of the guide are those of the code', () => {
  for (const code of Object.values(exitCodes))
    expect(commandLine).toMatch(new RegExp(`^\\| (?:\\d+, )?${code}(?:, \\d+)? \\|`, 'm'));
});
