import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { directoryWith, emptyDirectory } from '../../kit/command.ts';
import { startTerminal } from '../../kit/terminal.ts';

const env = { PLANTS_URL: 'http://127.0.0.1:9/v3', NO_COLOR: '1' };

test.each([
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
])('%s at a question ends the command, and says that nothing was done', async (_name, key) => {
  const terminal = startTerminal(['login'], { home: emptyDirectory(), env });
  await terminal.shows('User');
  terminal.type(key);

  expect((await terminal.ended).exit).toBe(130);
  expect(terminal.screen()).toContain('nothing was done');
});

describe('init', () => {
  async function initIn(home: string, question: string, env: Readonly<Record<string, string>> = {}) {
    const terminal = startTerminal(['init'], { home, env: { OLLAMA_HOST: '127.0.0.1:9', ...env } });
    await terminal.shows(question);
    return terminal;
  }

  test('asks for the providers, those found being chosen', async () => {
    const home = emptyDirectory();
    const terminal = await initIn(home, 'Which providers?', { ANTHROPIC_API_KEY: 'x' });
    await terminal.shows(/◼ anthropic/);
    terminal.type('\r');

    expect((await terminal.ended).exit).toBe(0);
    expect(terminal.screen()).toContain('gateway serve');
    expect(readFileSync(join(home, 'gateway.yaml'), 'utf8')).toContain('\n  anthropic:\n');
  });

  test('Ctrl-C writes nothing', async () => {
    const home = emptyDirectory();
    const terminal = await initIn(home, 'Which providers?');
    terminal.type('\x03');

    expect((await terminal.ended).exit).toBe(130);
    expect(existsSync(join(home, 'gateway.yaml'))).toBe(false);
  });

  test('asks before it replaces a file, and no is the default', async () => {
    const home = directoryWith('mine: 1\n');
    const terminal = await initIn(home, 'Replace it?');
    terminal.type('\r');

    expect((await terminal.ended).exit).toBe(130);
    expect(readFileSync(join(home, 'gateway.yaml'), 'utf8')).toBe('mine: 1\n');
  });
});
