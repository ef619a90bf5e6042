import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { homeWith } from '../../kit/command.ts';
import { startTerminal } from '../../kit/terminal.ts';

describe('run, where answers would be made up although a key is at hand', () => {
  function runAgent() {
    const home = homeWith({ claude: '#!/bin/sh\necho "the agent runs"\n' });
    chmodSync(join(home, 'claude'), 0o755);
    const env = {
      PATH: `${home}:${process.env.PATH}`,
      ANTHROPIC_API_KEY: 'sk-ant-1',
      OLLAMA_HOST: '127.0.0.1:9',
      NO_COLOR: '1',
    };
    const terminal = startTerminal(['run', 'claude'], { home, env });
    return { terminal, file: join(home, 'gateway.yaml') };
  }

  test('offers to write a file that uses it, and the agent gets that one', async () => {
    const { terminal, file } = runAgent();

    await terminal.shows(/answers are made up\. Write one that uses\s+│?\s*ANTHROPIC_API_KEY\?/);
    terminal.type('y');
    await terminal.shows('Which providers?');
    terminal.type('\r');
    const { exit } = await terminal.ended;

    expect(exit).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(/\{ANTHROPIC_API_KEY}/);
    expect(terminal.screen()).toMatch(/for claude:\s+\S+gateway\.yaml;[\s\S]*the agent runs\n/);
  });

  test('takes no for the sandbox, and Ctrl-C for neither', async () => {
    const [refused, left] = [runAgent(), runAgent()];

    for (const { terminal } of [refused, left]) await terminal.shows('answers are made up');
    refused.terminal.type('n');
    left.terminal.type('\x03');
    const [no, interrupted] = [await refused.terminal.ended, await left.terminal.ended];

    expect([no.exit, interrupted.exit]).toEqual([0, 130]);
    expect(refused.terminal.screen()).toMatch(/sandbox mode[\s\S]*the agent runs\n/);
    expect(left.terminal.screen()).not.toContain('the agent runs');
    expect([refused, left].map(({ file }) => existsSync(file))).toEqual([false, false]);
  });
});

test('run with a login at hand and no file asks nothing, and says whose answers they are', async () => {
  const home = homeWith({
    claude: '#!/bin/sh\necho "the agent runs"\n',
    '.claude/.credentials.json': { claudeAiOauth: { accessToken: 'x' } },
  });
  chmodSync(join(home, 'claude'), 0o755);
  const env = { PATH: `${home}:${process.env.PATH}`, NO_COLOR: '1' };

  const terminal = startTerminal(['run', 'claude'], { home, env });
  await terminal.ended;

  expect(terminal.screen()).toMatch(/no gateway\.yaml: the agent's\s+own\s+login[\s\S]*the agent runs\n/);
});
