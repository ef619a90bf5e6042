import { describe, expect, test } from 'vitest';
import { chatEvents, speakAll, stream } from '../../kit/answers.ts';
import { startProgram } from '../../kit/child.ts';
import { emptyDirectory } from '../../kit/command.ts';
import { twoHosts } from '../../kit/config.ts';
import type { Script } from '../../kit/host.ts';
import { useHosts } from '../../kit/lifecycle.ts';
import { startTerminal } from '../../kit/terminal.ts';

const hosts = useHosts(speakAll, (urls) => twoHosts({ ...urls, provider: 'retries: { attempts: 1 }' }));
function environment() {
  const { url, key } = hosts().gateway;
  return { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'gpt-test' };
}

const onTerminal = (argv: readonly string[], columns = 80, locale = {}) =>
  startTerminal(argv, { home: emptyDirectory(), env: { ...environment(), ...locale }, columns });

const inPipe = (argv: readonly string[]) =>
  startProgram([...argv, '--no-stdin'], emptyDirectory(), environment()).ended;

/** The usual answer, after a while. */
const late: Script = async (response, request) => {
  await new Promise((resolve) => setTimeout(resolve, 800));
  await speakAll(response, request);
};

/** A stream whose text comes in these pieces. */
function streamOf(pieces: readonly string[]) {
  const events = pieces.map((content) => {
    const choices = [{ index: 0, delta: { content }, finish_reason: null }];
    return `data: ${JSON.stringify({ id: 'c', model: 'gpt-test', choices })}\n\n`;
  });
  return stream([chatEvents[0] ?? '', ...events, ...chatEvents.slice(3)]);
}

describe('send on a terminal', () => {
  test('shows a spinner while it waits, and nothing of it afterwards', async () => {
    hosts().openai.script(late);

    const terminal = onTerminal(['send', 'hello']);
    await terminal.shows('waiting for gpt-test');
    const { exit } = await terminal.ended;

    expect(exit).toBe(0);
    expect(terminal.screen()).toBe('Grüße 👋 東京');
  });

  test('shows no spinner for an immediate answer', async () => {
    hosts().openai.script(speakAll);

    const terminal = onTerminal(['send', 'hello']);
    await terminal.ended;

    expect(terminal.raw()).toBe('Grüße 👋 東京\r\n');
  });

  test('a terminal without UTF-8 gets ASCII, also of the spinner', async () => {
    hosts().openai.script(late);

    const terminal = onTerminal(['send', 'hello'], 80, { LC_ALL: 'en_US.ISO-8859-1' });
    await terminal.shows('waiting for gpt-test');
    await terminal.ended;

    expect(terminal.screen()).toBe('Gr??e ? ??');
    expect(terminal.raw()).not.toMatch(/[^\u0000-\u007f]/);
  });

  test('an answer of 50 MB arrives whole, in a pipe', { timeout: 120_000 }, async () => {
    hosts().openai.script(streamOf(Array(50).fill('x'.repeat(1_000_000))));

    const { exit, stdout } = await inPipe(['send', 'hello']);

    expect([exit, stdout.length]).toEqual([0, 50_000_001]);
  });

  test('--render shows Markdown while it comes; a pipe gets the raw text', async () => {
    const markdown = '# Title\n\nSome **bold** text.\n\n- one\n- two\n';
    hosts().openai.script(streamOf([...markdown]));

    const terminal = onTerminal(['send', 'hello', '--render']);
    await terminal.ended;

    expect(terminal.screen()).toBe('Title\n\nSome bold text.\n\n• one\n• two');
    expect(terminal.cellAt(2, 5)).toEqual({ text: 'b', isBold: true });
    expect((await inPipe(['send', 'hello', '--render'])).stdout).toBe(markdown);
  });
});
